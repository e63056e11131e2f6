"""The Django project that dj-queue is measured in."""

from benchmarks.django_databases import databases

DATABASES = databases(CONN_MAX_AGE=600)
INSTALLED_APPS = ["dj_queue"]
SECRET_KEY = "only for benchmarks"
USE_TZ = True
TASKS = {
    "default": {
        "BACKEND": "dj_queue.backend.DjQueueBackend",
        "QUEUES": [],
        "OPTIONS": {"workers": [{"queues": "*", "threads": 4, "prefetch_multiplier": 25}]},
    }
}
