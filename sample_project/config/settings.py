"""Settings of the sample project, from the environment or from a file `.env` beside manage.py.

DATABASE_URL          where jobu and Django keep their tables (default: a SQLite file here)
SQLITE_2_URL          the second SQLite database of the handlers (default: another file here)
POSTGRES_1_URL        PostgreSQL for handlers, such as postgres://user:password@localhost:5432/shop
MYSQL_1_URL           MySQL or MariaDB for handlers, such as mysql://user:password@localhost:3306/shop
JOBU_*                every setting of jobu under its own name, such as JOBU_WORKER_POOL_SIZE=10
DEBUG, SECRET_KEY, ALLOWED_HOSTS, EMAIL_BACKEND
"""

from pathlib import Path

import django
import environ
from django.core.exceptions import ImproperlyConfigured

from config.databases import databases
from jobu.environment import settings_from_environment

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
if (BASE_DIR / ".env").exists():
    env.read_env(BASE_DIR / ".env")

DEBUG = env.bool("DEBUG", default=True)
_DEVELOPMENT_KEY = "only for the sample project"
SECRET_KEY = env.str("SECRET_KEY", default=_DEVELOPMENT_KEY)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
if SECRET_KEY == _DEVELOPMENT_KEY and not DEBUG:
    raise ImproperlyConfigured(
        "DEBUG is off, so set SECRET_KEY: everybody can read the one in the settings."
    )

DATABASES = databases(env, BASE_DIR)
DATABASE_ROUTERS = ["jobu.router.JobuRouter", "config.routers.HandlerTablesRouter"]
globals().update(settings_from_environment())

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "jobu",
    "basic",
    "multi_db",
    "patterns",
    "async_patterns",
    "shop",
    "demo",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
STATIC_URL = "static/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

_mail = env.str("EMAIL_BACKEND", default="shop.mail.UnreliableBackend")
if django.VERSION >= (6, 1):
    MAILERS = {"default": {"BACKEND": _mail}}
else:
    EMAIL_BACKEND = _mail
