"""Check the settings: each by itself, then what makes sense only together."""

from __future__ import annotations

import difflib
import logging
import math
import types
from typing import TYPE_CHECKING, Any, get_args, get_origin

from django.conf import settings as django_settings
from django.core import checks
from django.core.checks import CheckMessage, Error
from django.db import connections, router
from django.utils.module_loading import import_string

from jobu.alerts.config import find_mistakes
from jobu.conf import PREFIX, SUPERVISOR_VARIABLE, Settings, setting_types, settings
from jobu.exceptions import OptionError
from jobu.handlers.options import check_execution_options
from jobu.models import JobExecution

if TYPE_CHECKING:
    from collections.abc import Iterator


READY_PARTS = ("worker", "dispatcher", "queue", "cron")


def check_settings(**_kwargs: Any) -> list[CheckMessage]:
    mistyped = list(_mistyped_settings())
    # Combinations of values make sense only once each value does.
    return [*mistyped, *_unknown_settings(), *([] if mistyped else _combinations())]


def _mistyped_settings() -> Iterator[CheckMessage]:
    for name, expected in setting_types.items():
        value = getattr(settings, name)
        if not _fits(value, expected) or (isinstance(value, float) and not math.isfinite(value)):
            yield Error(
                f"{PREFIX}{name} is {value!r}, but it must be {_describe(expected)}.",
                hint=f"Its default is {getattr(Settings, name)!r}.",
                id="jobu.E001",
            )
        elif expected is bool:
            continue
        elif name == "RUN_LOG_LEVEL":
            yield from _unknown_level(value)
        elif name.startswith("EVENT_"):
            yield from _impossible_for_events(name, value)
        elif name == "READY_FAILS_ON":
            yield from _unknown_parts(value)
        elif name in ("MAX_RETRY", "TIMEOUT_SECONDS"):
            yield from _impossible_for_executions(name, value)
        elif name == "SENSITIVE_PARAMS" and "" in value:
            yield Error(
                f"{PREFIX}{name} has an empty name.",
                hint="A name may have * in it; an empty list masks what handlers call sensitive.",
                id="jobu.E001",
            )
        elif isinstance(value, int | float) and value <= 0 and name != "RETENTION_DAYS":
            yield Error(
                f"{PREFIX}{name} is {value!r}, but it must be greater than zero.",
                hint=f"Its default is {getattr(Settings, name)!r}.",
                id="jobu.E001",
            )
        elif name == "RETENTION_DAYS" and value is not None and value < 0:
            yield Error(
                f"{PREFIX}{name} is {value!r}, but it must not be negative.",
                hint="Use None to keep history for ever.",
                id="jobu.E001",
            )


def _unknown_level(value: str | None) -> Iterator[CheckMessage]:
    known = logging.getLevelNamesMapping()
    if value is not None and value not in known:
        yield Error(
            f"{PREFIX}RUN_LOG_LEVEL is {value!r}, but logging has no such level.",
            hint=f"It has {', '.join(known)}. None keeps no log lines.",
            id="jobu.E001",
        )


def _unknown_parts(value: list[str]) -> Iterator[CheckMessage]:
    for each in value:
        if each not in READY_PARTS:
            yield Error(
                f"{PREFIX}READY_FAILS_ON has {each!r}, which /ready does not look at.",
                hint=f"It looks at {', '.join(READY_PARTS)}; database and migrations always count.",
                id="jobu.E001",
            )


def _impossible_for_executions(name: str, value: int) -> Iterator[CheckMessage]:
    try:
        check_execution_options(**{name.lower(): value})
    except OptionError as error:
        yield Error(
            f"{PREFIX}{name} is {value!r}, but {error}.",
            hint=f"Its default is {getattr(Settings, name)!r}.",
            id="jobu.E001",
        )


def _impossible_for_events(name: str, value: Any) -> Iterator[CheckMessage]:
    if name == "EVENT_HANDLERS":
        if value not in {"declared", "all"}:
            yield Error(
                f"JOBU_EVENT_HANDLERS is {value!r}, but it must be 'declared' or 'all'.",
                hint="With 'declared', messages may start handlers that have events=True.",
                id="jobu.E001",
            )
        return
    option = "queue" if name == "EVENT_QUEUES" else "priority"
    for each in value:
        try:
            check_execution_options(**{option: each})
        except OptionError as error:
            yield Error(
                f"{PREFIX}{name} has {each!r}, but {error}.",
                hint=f"No execution can have this {option}.",
                id="jobu.E001",
            )


def _unknown_settings() -> Iterator[CheckMessage]:
    for name in dir(django_settings):
        # A project may take every JOBU_… variable of the environment, that of a supervisor as well.
        if name == SUPERVISOR_VARIABLE:
            continue
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in setting_types:
            known = [PREFIX + each for each in setting_types]
            close = difflib.get_close_matches(name, known, n=1)
            yield checks.Warning(
                f"jobu has no setting {name}.",
                hint=f"Did you mean {close[0]}?" if close else f"It has {', '.join(known)}.",
                id="jobu.W001",
            )


def _combinations() -> Iterator[CheckMessage]:
    if settings.LEASE_SECONDS <= 2 * settings.HEARTBEAT_INTERVAL_SECONDS:
        yield Error(
            f"JOBU_LEASE_SECONDS ({settings.LEASE_SECONDS}) must be longer than two heartbeats "
            f"(JOBU_HEARTBEAT_INTERVAL_SECONDS is {settings.HEARTBEAT_INTERVAL_SECONDS}).",
            hint="Otherwise one late heartbeat makes others run a living worker's jobs again.",
            id="jobu.E002",
        )
    if settings.WORKER_MAX_POLL_INTERVAL_SECONDS < settings.WORKER_POLL_INTERVAL_SECONDS:
        yield Error(
            "JOBU_WORKER_MAX_POLL_INTERVAL_SECONDS is less than JOBU_WORKER_POLL_INTERVAL_SECONDS.",
            hint="An idle worker doubles its wait from the second to the first.",
            id="jobu.E002",
        )
    if settings.DISPATCHER_MAX_SLEEP_SECONDS < settings.DISPATCHER_POLL_INTERVAL_SECONDS:
        yield Error(
            "JOBU_DISPATCHER_MAX_SLEEP_SECONDS is less than JOBU_DISPATCHER_POLL_INTERVAL_SECONDS.",
            hint="The first is the longest that a dispatcher sleeps.",
            id="jobu.E002",
        )
    if settings.BACKOFF_MAX_SECONDS < settings.BACKOFF_BASE_SECONDS:
        yield Error(
            "JOBU_BACKOFF_MAX_SECONDS is less than JOBU_BACKOFF_BASE_SECONDS.",
            hint="The delay before a retry grows from the second to the first.",
            id="jobu.E002",
        )
    if not django_settings.USE_TZ:
        yield Error(
            "jobu needs USE_TZ = True.",
            hint="Times that decide when a job runs must not depend on a server's local time.",
            id="jobu.E003",
        )
    for mistake in find_mistakes():
        yield Error(
            f"JOBU_ALERTS {mistake}.",
            hint="See docs/howto/alerts.md; manage.py jobu_alerts --test sends a message.",
            id="jobu.E009",
        )
    yield from _adapter_setting()
    yield from _database_setting()


def _adapter_setting() -> Iterator[CheckMessage]:
    try:
        import_string(settings.QUEUE_DISPATCHER_ADAPTER)
    except Exception as error:  # noqa: BLE001 - a module may fail in any way when it is imported
        yield Error(
            f"JOBU_QUEUE_DISPATCHER_ADAPTER is {settings.QUEUE_DISPATCHER_ADAPTER!r}, which cannot "
            f"be imported: {error}",
            hint="It is the dotted path of an adapter, such as jobu.adapters.kafka.KafkaAdapter.",
            id="jobu.E008",
        )


def _database_setting() -> Iterator[CheckMessage]:
    alias = settings.DATABASE
    if alias not in connections:
        yield Error(
            f"JOBU_DATABASE is {alias!r}, but DATABASES has no such alias.",
            hint=f"DATABASES has {', '.join(sorted(connections))}.",
            id="jobu.E004",
        )
    elif router.db_for_write(JobExecution) != alias or router.db_for_read(JobExecution) != alias:
        yield Error(
            f"JOBU_DATABASE is {alias!r}, but Django's routers send jobu's models elsewhere.",
            hint='Put "jobu.router.JobuRouter" first in DATABASE_ROUTERS.',
            id="jobu.E005",
        )
    elif _has_local_time(alias):
        yield Error(
            f"DATABASES[{alias!r}] sets a TIME_ZONE, but jobu's times in it are UTC.",
            hint="Remove TIME_ZONE from it, or keep jobu's tables in another database.",
            id="jobu.E007",
        )


def _has_local_time(alias: str) -> bool:
    """Tell whether Django reads this database's times as those of another zone than UTC."""
    connection = connections[alias]
    zone = connection.settings_dict.get("TIME_ZONE")
    return bool(zone) and zone != "UTC" and not connection.features.supports_timezones


def _fits(value: Any, expected: Any) -> bool:
    if isinstance(expected, types.UnionType):
        return any(_fits(value, each) for each in get_args(expected))
    # A bool is an int to Python, but JOBU_WORKER_POOL_SIZE = True is a mistake.
    if isinstance(value, bool):
        return expected is bool
    if get_origin(expected) is list:
        return isinstance(value, list) and all(_fits(each, *get_args(expected)) for each in value)
    if get_origin(expected) is dict:
        return isinstance(value, dict)
    return isinstance(value, (int, float) if expected is float else expected)


def _describe(expected: Any) -> str:
    if isinstance(expected, types.UnionType):
        return " or ".join(_describe(each) for each in get_args(expected))
    names = {
        str: "a text",
        int: "a whole number",
        float: "a number",
        bool: "True or False",
        types.NoneType: "None",
        list[str]: "a list of texts",
        list[int]: "a list of whole numbers",
        dict: "a dict",
    }
    return names[expected] if expected in names else names[get_origin(expected)]
