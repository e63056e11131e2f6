"""Settings of the sample project, from the environment or from a file `.env` beside manage.py.

DATABASE_URL          where jobu and Django keep their tables (default: a SQLite file here)
SQLITE_2_URL          the second SQLite database of the handlers (default: another file here)
POSTGRES_1_URL        PostgreSQL for handlers, such as postgres://user:password@localhost:5432/shop
MYSQL_1_URL           MySQL or MariaDB for handlers, such as mysql://user:password@localhost:3306/shop
JOBU_*                every setting of jobu under its own name, such as JOBU_WORKER_POOL_SIZE=10
DEBUG, SECRET_KEY, ALLOWED_HOSTS, EMAIL_BACKEND
"""

from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import django
import environ
from django.core.exceptions import ImproperlyConfigured

from config.databases import VARIABLES, database
from jobu.conf import PREFIX, setting_types

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

DATABASES = {
    alias: database(env.str(variable, default="") or default)
    for alias, variable, default in (
        ("default", "DATABASE_URL", f"sqlite:///{BASE_DIR / 'db.sqlite3'}"),
        ("sqlite_2", VARIABLES["sqlite_2"], f"sqlite:///{BASE_DIR / 'second.sqlite3'}"),
        ("postgres_1", VARIABLES["postgres_1"], ""),
        ("mysql_1", VARIABLES["mysql_1"], ""),
    )
    if env.str(variable, default="") or default
}
DATABASE_ROUTERS = ["jobu.router.JobuRouter", "config.routers.HandlerTablesRouter"]


def _cast(name: str, expected: Any) -> Any:
    """Read a variable as the type jobu asks for; empty means None where None is allowed.

    A dict is written as JSON.
    """
    options = get_args(expected) if isinstance(expected, UnionType) else (expected,)
    kinds = [get_origin(option) or option for option in options]
    if NoneType in kinds and env.str(name) == "":
        return None
    if dict in kinds:
        return env.json(name)
    if list in kinds and "," in env.str(name):
        return env.list(name)
    return env(name, cast=kinds[0])


for _name, _expected in setting_types.items():
    if PREFIX + _name in env.ENVIRON:
        globals()[PREFIX + _name] = _cast(PREFIX + _name, _expected)

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
