"""The Django project that django-ox is measured in."""

from benchmarks.django_databases import databases

DATABASES = databases(CONN_MAX_AGE=600)
INSTALLED_APPS = ["django_ox"]
SECRET_KEY = "only for benchmarks"
USE_TZ = True
TASKS = {"default": {"BACKEND": "django_ox.backend.OxBackend"}}
