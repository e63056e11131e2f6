"""`@handler`, which makes a handler of a class or a function."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Generic, Never, ParamSpec, TypeVar, overload

from asgiref.sync import markcoroutinefunction

from jobu.door import door
from jobu.exceptions import HandlerError, OptionError
from jobu.handlers.base import BaseHandler
from jobu.handlers.misnamed import refuse_options
from jobu.handlers.options import HandlerOptions
from jobu.handlers.params import Signature
from jobu.handlers.registry import MAX_NAME_LENGTH, HandlerSpec, handlers
from jobu.handlers.schedule import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jobu.handlers.options import Backoff, Errors
    from jobu.handlers.schedule import Schedule
    from jobu.models import JobExecution

_P = ParamSpec("_P")
_R = TypeVar("_R")
_H = TypeVar("_H", bound=BaseHandler)


class HandlerFunction(Generic[_P, _R]):
    """A function that is a handler: it can be called as before, and it can be enqueued."""

    def __init__(self, function: Callable[_P, _R], handler_name: str) -> None:
        functools.update_wrapper(self, function)
        if inspect.iscoroutinefunction(function):
            markcoroutinefunction(self)
        self.handler_name = handler_name
        self._function = function

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return self._function(*args, **kwargs)

    def enqueue(self, params: Any = None, **options: Any) -> JobExecution:
        """Enqueue one execution; `options` are those of `jobu.enqueue`."""
        return door.enqueue(self.handler_name, params, **options)

    def enqueue_many(self, params: Iterable[Any], **options: Any) -> int:
        """Enqueue one execution for each params; `options` are those of `jobu.enqueue_many`."""
        return door.enqueue_many(self.handler_name, params, **options)

    async def aenqueue(self, params: Any = None, **options: Any) -> JobExecution:
        return await door.aenqueue(self.handler_name, params, **options)

    async def aenqueue_many(self, params: Iterable[Any], **options: Any) -> int:
        return await door.aenqueue_many(self.handler_name, params, **options)


def handler(
    name: str,
    *,
    max_retry: int | None = None,
    timeout_seconds: int | None = None,
    queue: str = "default",
    priority: int = 0,
    retry_on: Errors | type[BaseException] | None = None,
    no_retry_on: Errors | type[BaseException] = (),
    backoff: Backoff | None = None,
    atomic: bool = False,
    events: bool = False,
    sensitive: tuple[str, ...] | str = (),
    aliases: tuple[str, ...] | str = (),
    cron: str | None = None,
    timezone: str | None = None,
    schedules: Sequence[Schedule] = (),
    **unknown: Never,
) -> _Decorator:
    """Register a `BaseHandler` subclass or a function under `name`.

    `max_retry` is the maximum number of runs of an execution (0 and 1: one run); it and
    `timeout_seconds` are JOBU_MAX_RETRY and JOBU_TIMEOUT_SECONDS if not given. `retry_on` and
    `no_retry_on` say after which exceptions it is retried. `backoff` is the maximum of the first
    delay in seconds, or a function from the number of failures to seconds. `atomic=True` runs the
    handler in a transaction on `JOBU_DATABASE` that also stores its outcome. `events=True` lets
    queue messages start it. `sensitive` names params to mask, besides `JOBU_SENSITIVE_PARAMS`.
    `aliases` are names that it had before: executions, cron jobs and messages may still name them.
    `cron` and `timezone` declare a schedule, `schedules` several; `manage.py jobu_sync` makes a
    cron job of each.
    """
    if unknown:
        refuse_options("@handler", unknown)
    _check_name(name)
    options = HandlerOptions(
        max_retry=max_retry,
        timeout_seconds=timeout_seconds,
        queue=queue,
        priority=priority,
        retry_on=retry_on,  # type: ignore[arg-type] # __post_init__ makes a tuple of it
        no_retry_on=no_retry_on,  # type: ignore[arg-type]
        backoff=backoff,
        atomic=atomic,
        events=events,
        sensitive=sensitive,  # type: ignore[arg-type]
    )
    found = declared(name, cron, timezone, schedules)
    return _Decorator(name, options, _checked_aliases(name, aliases), found)


class _Decorator:
    """What `handler(...)` returns; a class, so that mypy knows the type of its result."""

    def __init__(
        self,
        name: str,
        options: HandlerOptions,
        aliases: tuple[str, ...],
        schedules: tuple[Schedule, ...],
    ) -> None:
        self._name = name
        self._options = options
        self._aliases = aliases
        self._schedules = schedules

    @overload
    def __call__(  # type: ignore[overload-overlap] # a class is callable, too; this one wins
        self, target: type[_H]
    ) -> type[_H]: ...
    @overload
    def __call__(self, target: Callable[_P, _R]) -> HandlerFunction[_P, _R]: ...
    def __call__(self, target: Any) -> Any:
        if isinstance(target, type):
            if not issubclass(target, BaseHandler):
                raise HandlerError(f"{target.__qualname__} must be a subclass of jobu.BaseHandler")
            handlers.register(self._spec(target.execute, target))
            target.handler_name = self._name
            return target
        if not inspect.isfunction(target):
            raise HandlerError(f"@handler decorates a class or a function, not {target!r}")
        handlers.register(self._spec(target, None))
        return HandlerFunction(target, self._name)

    def _spec(
        self, function: Callable[..., Any], handler_class: type[BaseHandler] | None
    ) -> HandlerSpec:
        owner = handler_class or function
        is_async = inspect.iscoroutinefunction(function)
        if is_async and self._options.atomic:
            raise HandlerError(
                f"{owner.__qualname__}: atomic=True needs a synchronous handler, because Django's "
                "transactions are synchronous. Write 'def' instead of 'async def'."
            )
        return HandlerSpec(
            name=self._name,
            options=self._options,
            module=owner.__module__,
            qualname=owner.__qualname__,
            place=_place(owner),
            doc=inspect.cleandoc(owner.__doc__ or ""),
            aliases=self._aliases,
            is_async=is_async,
            schedules=self._schedules,
            _signature=Signature(
                function,
                is_method=handler_class is not None,
                sensitive=self._options.sensitive,
            ),
            _handler_class=handler_class,
            _function=function,
        )


def _check_name(name: object) -> None:
    if not (isinstance(name, str) and 1 <= len(name) <= MAX_NAME_LENGTH and name.isprintable()):
        raise HandlerError(
            f'@handler needs a name of 1 to {MAX_NAME_LENGTH} characters, as in @handler("email"), '
            f"not {name!r}"
        )


def _checked_aliases(name: str, aliases: Any) -> tuple[str, ...]:
    names = (aliases,) if isinstance(aliases, str) else tuple(aliases)
    for alias in names:
        _check_name(alias)
        if alias == name:
            raise OptionError(f"aliases of @handler({name!r}) are its earlier names, not {name!r}")
    return names


def _place(owner: Any) -> str:
    code = getattr(inspect.unwrap(owner), "__code__", None)
    # To read a function's source would be most of what it costs to register it.
    if code is not None and not code.co_filename.startswith("<"):
        return f"{owner.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
    try:
        line = inspect.getsourcelines(owner)[1]
        return f"{owner.__qualname__} ({inspect.getsourcefile(owner)}:{line})"
    except (OSError, TypeError):
        return f"{owner.__module__}.{owner.__qualname__}"
