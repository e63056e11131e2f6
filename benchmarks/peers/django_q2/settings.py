"""The Django project that django-q2 is measured in; the broker is Redis where there is one."""

import os

from benchmarks import stores
from benchmarks.django_databases import databases

DATABASES = databases(CONN_MAX_AGE=600)
INSTALLED_APPS = ["django_q"]
SECRET_KEY = "only for benchmarks"
USE_TZ = True
Q_CLUSTER = {
    "name": "benchmarks",
    "workers": 2,
    "bulk": 100,
    "queue_limit": 1000,
    "recycle": 1_000_000,
    "save_limit": 0,
    "timeout": 60,
    "retry": 120,
    "scheduler": False,
    "log_level": "WARNING",
}
if "JOBU_BENCH_REDIS" in os.environ:
    Q_CLUSTER["redis"] = stores.current("redis").url
else:
    Q_CLUSTER["orm"] = "default"
