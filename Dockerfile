# The sample project, with the drivers of every database. For docker-compose.yml.
FROM python:3.13-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libmariadb-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY jobu jobu
RUN pip install --no-cache-dir --prefix /install ".[postgres,mysql,kafka,sample]"

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libmariadb3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home app \
    && install --directory --owner app /data
COPY --from=build /install /usr/local
COPY --chown=app sample_project /app
USER app
WORKDIR /app
ENV PYTHONUNBUFFERED=1
# As a list, so that the signals arrive: a shell in between would keep them.
CMD ["python", "manage.py", "runworker"]
