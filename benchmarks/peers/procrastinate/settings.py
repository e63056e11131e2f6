"""The Django project that procrastinate is measured in."""

from benchmarks.django_databases import databases

DATABASES = databases(CONN_MAX_AGE=600)
INSTALLED_APPS = ["procrastinate.contrib.django"]
PROCRASTINATE_IMPORT_PATHS = ["benchmarks.peers.procrastinate.tasks"]
SECRET_KEY = "only for benchmarks"
USE_TZ = True
LOGGING = {"version": 1, "root": {"level": "WARNING"}}
