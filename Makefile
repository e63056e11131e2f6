# make demo    the sample project: worker, dispatcher and admin on SQLite (PORT=8000)
# make test    the tests on every database that answers (ARGS="-k settle")
# make coverage  the same, and which lines and branches of jobu no test ran
# make chaos   servers that are killed, fail over, fill up (ARGS="mariadb-killed --seed 7", ARGS=--list)
# make lint    what CI checks besides the tests
# make docs    the documentation, into site/
# make package build the distributions, install them in empty environments, with each extra
# make bench   jobu beside its peers, half an hour (ARGS=--quick, PEERS=celery,pgqueuer, PEERS=none)
# make clean   remove what these made, .venv included

PYTHON ?= python3
PORT ?= 8000
ARGS ?=
PEERS ?=
# Three of the peers need Python 3.12; all are measured with the same one.
BENCH_PYTHON ?= $(or $(shell for python in python3.14 python3.13 python3.12 \
	$$(ls -rd $$HOME/.pyenv/versions/3.1[2-9]*/bin/python 2>/dev/null); do \
	"$$python" --version >/dev/null 2>&1 && echo "$$python" && break; done),$(PYTHON))

VENV ?= .venv
PY := $(VENV)/bin/python
# Not abspath, which would take a folder with a space in its name apart.
MANAGE := "$(if $(filter /%,$(VENV)),,$(CURDIR)/)$(PY)" manage.py
PIP := $(PY) -m pip --disable-pip-version-check install --quiet
# Each stamp is as new as the pyproject.toml that it was installed from.
SAMPLE := $(VENV)/.stamp-sample
TEST := $(VENV)/.stamp-test
MYSQL := $(VENV)/.stamp-mysql
LINT := $(VENV)/.stamp-lint
BENCH := $(VENV)/.stamp-bench
DOCS := $(VENV)/.stamp-docs
OLD_PYTHON := import sys; sys.version_info < (3, 11) and sys.exit(f'jobu needs Python 3.11 or newer, but \
	$(PYTHON) is {sys.version.split()[0]}. Name another one: make PYTHON=python3.13 ...')
NO_MYSQL := mysqlclient was not built, so MariaDB and MySQL are left out. On Debian install libmariadb-dev \
	(or default-libmysqlclient-dev) and pkg-config; the reason is in $(VENV)/mysqlclient.log

.PHONY: help demo test coverage chaos lint docs package bench measure clean mysql

help:
	@sed -n 's/^# make/make/p' Makefile

demo: $(SAMPLE)
	@cd sample_project && $(MANAGE) migrate_all && $(MANAGE) seed_demo
	@echo "Admin: http://127.0.0.1:$(PORT)/admin/ user admin, password admin. Ctrl-C stops all."
	@cd sample_project && exec $(MANAGE) runjobu --bind 127.0.0.1:$(PORT)

test: $(TEST) mysql
	$(PY) -m tests $(ARGS)

coverage: $(TEST) mysql
	rm -rf .coverage*
	mkdir .coverage-data
	JOBU_TEST_COVERAGE=.coverage-data $(PY) -m tests $(ARGS)
	$(PY) -m coverage combine --quiet .coverage-data
	$(PY) -m coverage report --show-missing

chaos: $(TEST) mysql
	$(PY) -m tests.chaos $(ARGS)

lint: $(LINT)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(PY) tests/project/manage.py makemigrations --check --dry-run
	DATABASE_URL=sqlite://:memory: SQLITE_2_URL=sqlite://:memory: $(PY) sample_project/manage.py makemigrations --check --dry-run

docs: $(DOCS)
	$(PY) -m mkdocs build --strict

package: $(TEST)
	$(PY) -m tests.packaging

bench:
	@$(MAKE) --no-print-directory measure VENV=.venv-bench PYTHON="$(BENCH_PYTHON)"

measure: $(BENCH) mysql
	$(PY) -m benchmarks $(if $(PEERS),--peers $(PEERS)) $(ARGS)

clean:
	rm -rf $(VENV) .venv-* build dist site *.egg-info .coverage* .*_cache sample_project/*.sqlite3*
	find . -name __pycache__ -prune -exec rm -rf {} +

$(PY):
	@"$(PYTHON)" -c "$(OLD_PYTHON)"
	"$(PYTHON)" -m venv $(VENV)

$(SAMPLE): pyproject.toml | $(PY)
	$(PIP) --editable ".[sample]"
	@touch $@

# pip reads dependency groups since 25.1.
$(TEST): pyproject.toml $(SAMPLE)
	$(PIP) "pip>=25.1"
	$(PIP) --group test
	@touch $@

$(LINT): pyproject.toml $(TEST)
	$(PIP) --group lint
	@touch $@

$(DOCS): pyproject.toml $(TEST)
	$(PIP) --group docs
	@touch $@

$(BENCH): pyproject.toml $(TEST)
	$(PIP) --group bench
	@touch $@

# Built from source, which not every machine can do; tried again each time until it works.
mysql: $(TEST)
	@test $(MYSQL) -nt pyproject.toml \
		|| { $(PIP) --group test-mysql > $(VENV)/mysqlclient.log 2>&1 && touch $(MYSQL); } \
		|| echo "$(NO_MYSQL)"
