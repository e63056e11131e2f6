"""Answer an option that does not exist with the one that was probably meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from jobu.exceptions import UnknownOptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MEANINGS = {
    "params": "the second argument: a dict, a dataclass or a pydantic model",
    "delay": "seconds or a timedelta",
    "available_at": "a datetime with a time zone",
    "max_retry": "how often it runs at most",
    "timeout_seconds": "how long one run may take",
    "queue": "a name",
    "priority": "a whole number; higher goes first",
    "dedupe_key": "a text that only one execution has",
    "retry_on": "exception classes after which it is retried",
    "no_retry_on": "exception classes after which it is not retried",
    "backoff": "seconds, or a function from the number of failures to seconds",
    "atomic": "True or False",
    "events": "True or False",
    "sensitive": "names of params",
    "aliases": "names that it had before",
    "cron": "a cron expression",
    "timezone": "the name of a time zone, for cron",
}
_OF_EXECUTIONS = ("queue", "priority", "available_at", "delay", "max_retry", "timeout_seconds")
_OPTIONS = {
    "enqueue()": ("params", *_OF_EXECUTIONS, "dedupe_key"),
    "enqueue_many()": ("params", *_OF_EXECUTIONS),
    "@handler": tuple(
        name for name in _MEANINGS if name not in ("params", "delay", "available_at", "dedupe_key")
    ),
}
_ELSEWHERE = {
    "params": ("args", "kwargs", "payload", "data"),
    "delay": ("countdown", "delay_seconds", "run_in", "schedule_in", "wait"),
    "available_at": ("eta", "run_at", "run_after", "schedule_at", "scheduled_at", "scheduled_time"),
    "max_retry": ("max_retries", "max_tries", "retry", "retries", "attempts", "max_attempts"),
    "timeout_seconds": ("timeout", "job_timeout", "time_limit", "soft_time_limit"),
    "queue": ("queue_name",),
    "dedupe_key": ("idempotency_key", "job_id", "key", "queueing_lock", "task_id", "unique_key"),
    "retry_on": ("autoretry_for", "retry_for"),
    "no_retry_on": ("dont_autoretry_for", "throws"),
    "backoff": ("retry_backoff", "retry_delay", "retry_wait"),
    "sensitive": ("secret", "secrets"),
    "cron": ("crontab", "schedule"),
    "timezone": ("tz",),
}
"""Our options, and what they are called in other queues."""
_RIGHT_NAMES = {name: ours for ours, names in _ELSEWHERE.items() for name in names}


def refuse_options(function: str, given: Iterable[str]) -> None:
    """Raise UnknownOptionError for the options `given`, which `function` does not have."""
    raise UnknownOptionError(" ".join(_answer(function, name) for name in given))


def _answer(function: str, name: str) -> str:
    options = _OPTIONS[function]
    meant = _RIGHT_NAMES.get(name, name)
    if meant == "timezone" and meant not in options:
        meant = "available_at"
    if meant not in options and meant not in _MEANINGS:
        meant = next(iter(difflib.get_close_matches(name, options, n=1)), "")
    answer = f"{function} has no option {name!r}"
    if not meant:
        return f"{answer}. It has {', '.join(options)}."
    if meant in options:
        return f"{answer}. Use {meant}= ({_MEANINGS[meant]})."
    owner = next(owner for owner, names in _OPTIONS.items() if meant in names)
    return f"{answer}. It is one of {owner}: {meant}= ({_MEANINGS[meant]})."
