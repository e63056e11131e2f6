"""Settings of the project the tests run in, on the database that JOBU_TEST_DATABASE names.

Worker processes started by a test read the same file; `JOBU_TEST_PROCESS` points them at the
test database instead of the one it is made from.
"""

from __future__ import annotations

import json
import os
import select
import tempfile
import time
from pathlib import Path
from typing import Any

import django

from tests.addresses import address

SERVICE = os.environ.get("JOBU_TEST_DATABASE", "sqlite")
# Part of every database's name, so that two runs on one machine do not meet.
RUN = os.environ.get("JOBU_TEST_RUN", "local")
IN_PROCESS = "JOBU_TEST_PROCESS" in os.environ

if "FAKETIME" in os.environ:

    def _sleep(seconds: Any) -> None:
        select.select([], [], [], seconds)

    # libfaketime breaks the one that Python has.
    time.sleep = _sleep


def _sqlite(name: str) -> dict[str, Any]:
    folder = Path(tempfile.gettempdir())
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": folder / f"{name}.sqlite3",
        "TEST": {"NAME": folder / f"{name}.sqlite3"},
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            "timeout": 20,
        },
    }


def _postgres(name: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name if IN_PROCESS else "postgres",
        **_server(),
        "TEST": {"NAME": name},
    }


def _mysql(name: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.mysql",
        "NAME": name if IN_PROCESS else "",
        **_server(),
        "OPTIONS": {"charset": "utf8mb4"},
        "TEST": {"NAME": name, "CHARSET": "utf8mb4"},
    }


def _server() -> dict[str, str]:
    return {part.upper(): value for part, value in address(SERVICE).items()}


_database = {"sqlite": _sqlite, "postgres": _postgres, "mariadb": _mysql, "mysql": _mysql}[SERVICE]

DATABASES = {
    "default": _database(f"jobu_test_{RUN}"),
    "other": _database(f"jobu_test_{RUN}_other"),
}
DATABASE_ROUTERS = ["jobu.router.JobuRouter"]
for _settings in DATABASES.values():
    _settings["CONN_MAX_AGE"] = int(os.environ.get("JOBU_TEST_CONN_MAX_AGE", "0"))
    _settings.update(json.loads(os.environ.get("JOBU_TEST_DATABASE_SETTINGS", "{}")))
JOBU_DATABASE = os.environ.get("JOBU_DATABASE", "default")
# Short, so that a test of a lost worker does not wait for half a minute.
JOBU_HEARTBEAT_INTERVAL_SECONDS = 0.5
JOBU_LEASE_SECONDS = float(os.environ.get("JOBU_LEASE_SECONDS", "2"))
JOBU_BACKOFF_BASE_SECONDS = 0.05
for _name in (
    "QUEUE_DISPATCHER_ADAPTER",
    "KAFKA_BOOTSTRAP_SERVERS",
    "KAFKA_GROUP_ID",
    "KAFKA_TOPIC",
    "REDIS_URL",
    "REDIS_GROUP",
    "REDIS_STREAM",
):
    if f"JOBU_{_name}" in os.environ:
        globals()[f"JOBU_{_name}"] = os.environ[f"JOBU_{_name}"]
JOBU_REDIS_CLAIM_IDLE_SECONDS = float(os.environ.get("JOBU_REDIS_CLAIM_IDLE_SECONDS", "60"))
JOBU_ALERTS = json.loads(os.environ.get("JOBU_ALERTS", "{}"))
JOBU_KAFKA_OPTIONS = json.loads(os.environ.get("JOBU_KAFKA_OPTIONS", "{}"))

INSTALLED_APPS = [
    *os.environ.get("JOBU_TEST_FIRST_APPS", "").split(),
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "jobu",
    "tests.project.shop",
]
MIDDLEWARE = [
    "tests.project.content_security.strict_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
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
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = os.environ.get("JOBU_TEST_URLS", "tests.project.urls")
STATIC_URL = "static/"
SECRET_KEY = "only for tests"
# The real ones are slow on purpose.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Django 6.1 refuses the older settings beside MAILERS, and has no mailer without it. The tests
# replace it by one that keeps what is sent.
_smtp = {"host": "127.0.0.1", "port": int(os.environ.get("JOBU_TEST_SMTP_PORT", "25"))}
if django.VERSION < (6, 1):
    EMAIL_HOST, EMAIL_PORT = _smtp["host"], _smtp["port"]
else:
    MAILERS = {
        "default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": _smtp}
    }
