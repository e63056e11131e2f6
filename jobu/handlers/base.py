"""The base classes of handlers, their params and their results."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

from jobu.door import door
from jobu.exceptions import HandlerError
from jobu.masking import mask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jobu.models import JobExecution


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
class _Record:
    """Makes every subclass a dataclass with keyword-only fields, whose repr masks secrets."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(kw_only=True, repr=False)(cls)

    def __repr__(self) -> str:
        from jobu.handlers.registry import handlers

        fields = dataclasses.fields(cast("Any", self))
        shown = {field.name: getattr(self, field.name) for field in fields if field.repr}
        # The handler is not known here, so the sensitive names of all handlers count.
        masked = mask(shown, handlers.sensitive_of(None))
        values = ", ".join(f"{name}={value!r}" for name, value in masked.items())
        return f"{type(self).__qualname__}({values})"


class HandlerParams(_Record):
    """Typed params: annotate `params` with a subclass and they are checked before the run."""


class HandlerResult(_Record):
    """A typed result: return an instance of a subclass and its fields are stored."""
