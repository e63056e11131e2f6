"""The options of a handler, and its retry rule."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, overload

from django.utils.timezone import is_naive

from jobu import backoff, logs
from jobu.conf import settings
from jobu.exceptions import JobTimeout, OptionError, ResultError, RetryLater
from jobu.jsonable import storable_text

if TYPE_CHECKING:
    from jobu.attempts import Attempt

Errors = tuple[type[BaseException], ...]
Backoff = float | Callable[[int], float]

MAX_PRIORITY = 32_767
MAX_COUNT = 2_147_483_647
MAX_DELAY_SECONDS = 10 * 365 * 86_400.0


class _OfProject:
    """An option that is the project's, from the setting of its name, where a handler says nothing.

    The setting is asked each time, so the options follow it.
    """

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name
        self._setting = name.upper()

    @overload
    def __get__(self, options: None, _owner: type) -> None: ...
    @overload
    def __get__(self, options: HandlerOptions, _owner: type) -> int: ...
    def __get__(self, options: HandlerOptions | None, _owner: type) -> int | None:
        # The dataclass asks the class for its default: None.
        given: int | None = None if options is None else options.__dict__[self._name]
        return getattr(settings, self._setting) if options and given is None else given

    def __set__(self, options: HandlerOptions, given: int | None) -> None:
        options.__dict__[self._name] = given


@dataclass(frozen=True, kw_only=True)
class HandlerOptions:
    """Four defaults for the handler's executions, and the rules for its runs."""

    max_retry: _OfProject = _OfProject()
    timeout_seconds: _OfProject = _OfProject()
    queue: str = "default"
    priority: int = 0
    retry_on: Errors | None = None
    no_retry_on: Errors = ()
    backoff: Backoff | None = None
    atomic: bool = False
    events: bool = False
    sensitive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # What is the project's is checked with the settings, which may not be there yet.
        own = {name: vars(self)[name] for name in ("max_retry", "timeout_seconds")}
        given = {name: value for name, value in own.items() if value is not None}
        check_execution_options(**given, queue=self.queue, priority=self.priority)
        for name in ("retry_on", "no_retry_on"):
            object.__setattr__(self, name, _error_types(name, getattr(self, name)))
        if not (self.backoff is None or callable(self.backoff) or _is_delay(self.backoff)):
            raise OptionError(f"backoff must be zero or more seconds, not {self.backoff!r}")
        object.__setattr__(self, "sensitive", _param_names(self.sensitive))

    def retries(self, error: BaseException) -> bool:
        """Tell whether an execution may be retried after this error."""
        # The work is done; another run would make the same mistake.
        if isinstance(error, ResultError):
            return False
        if isinstance(error, RetryLater):
            return True
        if isinstance(error, self.no_retry_on):
            return False
        # The handler did not raise a timeout itself: only no_retry_on can exclude it.
        if self.retry_on is None or isinstance(error, JobTimeout):
            return True
        return isinstance(error, self.retry_on)

    def retry_delay(self, attempt: Attempt, failures: int) -> float:
        """Return the seconds to wait; never raises, even if the backoff function does."""
        if callable(self.backoff):
            try:
                seconds = self.backoff(failures)
            except Exception as error:  # noqa: BLE001 - logged, and the default takes over
                logs.backoff_broken(attempt, error)
            else:
                if _is_delay(seconds):
                    return min(float(seconds), MAX_DELAY_SECONDS)
                logs.backoff_broken(attempt, ValueError(f"it returned {seconds!r}"))
            base = settings.BACKOFF_BASE_SECONDS
        else:
            base = settings.BACKOFF_BASE_SECONDS if self.backoff is None else self.backoff
        maximum, jitter = settings.BACKOFF_MAX_SECONDS, settings.BACKOFF_JITTER
        return backoff.delay(failures, base=base, maximum=maximum, jitter=jitter)


def check_execution_options(
    *, max_retry: Any = 0, timeout_seconds: Any = 1, queue: Any = "default", priority: Any = 0
) -> None:
    """Refuse values that the table cannot hold, with a better message than the database's."""
    if not _is_int(max_retry) or not 0 <= max_retry <= MAX_COUNT:
        raise OptionError(f"max_retry must be a whole number of 0 or more, not {max_retry!r}")
    if not _is_int(timeout_seconds) or not 1 <= timeout_seconds <= MAX_COUNT:
        raise OptionError(
            f"timeout_seconds must be a whole number of 1 or more, not {timeout_seconds!r}"
        )
    if not _is_int(priority) or abs(priority) > MAX_PRIORITY:
        raise OptionError(
            f"priority must be a whole number from -{MAX_PRIORITY} to {MAX_PRIORITY}, "
            f"not {priority!r}"
        )
    if not isinstance(queue, str) or not 1 <= len(queue) <= 100 or not queue.isprintable():
        raise OptionError(f"queue must be a name of 1 to 100 characters, not {queue!r}")


def checked_time(value: Any) -> datetime:
    """Return the time, or refuse what is not an instant."""
    if not isinstance(value, datetime):
        raise OptionError(f"available_at must be a datetime, not {value!r}")
    if is_naive(value):
        raise OptionError(
            f"available_at must have a time zone, but {value!r} has none. "
            "Use django.utils.timezone.now() plus a timedelta, or make_aware()."
        )
    return value


def checked_delay(value: Any) -> float:
    """Return the delay in seconds, or refuse what is none."""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if not _is_delay(seconds) or seconds > MAX_DELAY_SECONDS:
        raise OptionError(
            "delay must be zero or more seconds or a timedelta, and ten years at most, "
            f"not {value!r}"
        )
    # No database keeps less than a millisecond.
    return round(float(seconds), 3)


def checked_dedupe_key(key: Any) -> str:
    """Return the key, or refuse what its column could not hold."""
    if not isinstance(key, str) or not 1 <= len(key) <= 255 or storable_text(key, 255) != key:
        raise OptionError(f"dedupe_key must be a text of 1 to 255 characters, not {key!r}")
    return key


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_delay(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Not converted to a float: a whole number may be too large for one.
    return 0 <= value <= sys.float_info.max


def _error_types(name: str, value: Any) -> Errors | None:
    if value is None:
        return () if name == "no_retry_on" else None
    types = value if isinstance(value, tuple | list) else (value,)
    for each in types:
        if not (isinstance(each, type) and issubclass(each, BaseException)):
            raise OptionError(f"{name} takes exception classes, not {each!r}")
    return tuple(types)


def _param_names(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, tuple | list) else (value,)
    for each in names:
        if not isinstance(each, str) or not each:
            raise OptionError(f"sensitive takes names of params, not {each!r}")
    return tuple(names)
