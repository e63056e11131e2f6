"""The base classes of handlers, their params and their results."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform

from jobu.door import door
from jobu.exceptions import HandlerError, ResultError
from jobu.masking import mask
from jobu.plain import Open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jobu.models import JobExecution

_Init = TypeVar("_Init", bound="Callable[..., None]")


class BaseHandler:
    """Subclass it, write `execute` (or `async def execute`), decorate with `@handler("name")`.

    Each run gets a fresh instance.
    """

    handler_name: ClassVar[str] = ""

    def execute(self, params: Any) -> Any:
        """Do the work; the returned value is stored as the execution's result."""
        raise NotImplementedError(f"{type(self).__qualname__} has no execute(self, params)")

    @classmethod
    def enqueue(cls, params: Any = None, **options: Any) -> JobExecution:
        """Enqueue one execution; `options` are those of `jobu.enqueue`."""
        return door.enqueue(cls._registered_name(), params, **options)

    @classmethod
    def enqueue_many(cls, params: Iterable[Any], **options: Any) -> int:
        """Enqueue one execution for each params; `options` are those of `jobu.enqueue_many`."""
        return door.enqueue_many(cls._registered_name(), params, **options)

    @classmethod
    async def aenqueue(cls, params: Any = None, **options: Any) -> JobExecution:
        return await door.aenqueue(cls._registered_name(), params, **options)

    @classmethod
    async def aenqueue_many(cls, params: Iterable[Any], **options: Any) -> int:
        return await door.aenqueue_many(cls._registered_name(), params, **options)

    @classmethod
    def _registered_name(cls) -> str:
        # Only the class's own name counts: a subclass of a handler is not that handler.
        name: str = cls.__dict__.get("handler_name", "")
        if not name:
            raise HandlerError(f'{cls.__qualname__} is not registered: add @handler("its-name")')
        return name


@dataclass_transform(kw_only_default=True)
class _Record(Open):
    """Makes every subclass a dataclass with keyword-only fields, whose repr masks secrets.

    `HandlerParams` and `HandlerResult` themselves have no fields: they hold what they are given.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if _Record not in cls.__bases__:
            dataclasses.dataclass(kw_only=True, repr=False)(cls)

    def __repr__(self) -> str:
        from jobu.handlers.registry import handlers

        shown = vars(self)
        if dataclasses.is_dataclass(self):
            shown = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.repr}
        # The handler is not known here, so the sensitive names of all handlers count.
        masked = mask(shown, handlers.sensitive_of(None))
        values = ", ".join(f"{name}={value!r}" for name, value in masked.items())
        return f"{type(self).__qualname__}({values})"


class HandlerParams(_Record):
    """Typed params: annotate `params` with a subclass and they are checked before the run.

    Annotated with this class itself, they are what came, as attributes.
    """

    def __init__(self, /, **values: Any) -> None:
        vars(self).update(values)

    if not TYPE_CHECKING:
        # Hidden from type checkers, which know what a subclass has.
        def __getattr__(self, name: str) -> Any:
            names = ", ".join(vars(self)) or "none"
            raise AttributeError(f"There is no param {name!r}; there are: {names}")


def _refusing_in_words(init: _Init) -> _Init:
    @functools.wraps(init)
    def refusing(self: Any, /, *args: Any, **values: Any) -> None:
        try:
            init(self, *args, **values)
        except TypeError as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(f"The result cannot be made: {error}") from error

    return cast("_Init", refusing)


class HandlerResult(_Record):
    """A typed result: return an instance of a subclass and its fields are stored.

    An instance of this class itself has whatever it was made with. A mistake in making a result is
    a ResultError, after which an execution is not retried.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = _refusing_in_words(cls.__init__)  # type: ignore[method-assign]

    @_refusing_in_words
    def __init__(self, /, **values: Any) -> None:
        vars(self).update(values)
