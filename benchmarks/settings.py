"""Settings of the Django project that jobu is measured in: jobu and Django with their defaults.

The database is the one made for the subject; without one, that of the tests.
"""

from benchmarks.django_databases import databases
from tests.project import settings as tests

DATABASES = databases() or {"default": tests.DATABASES["default"]}
INSTALLED_APPS = ["jobu", "benchmarks"]
SECRET_KEY = "only for benchmarks"
USE_TZ = True
