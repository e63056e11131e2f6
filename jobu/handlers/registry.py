"""The handlers of this project by name."""

from __future__ import annotations

import difflib
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobu.conf import settings
from jobu.exceptions import DuplicateHandlerError, HandlerNotFoundError, ParamsError
from jobu.handlers.fields import describe_param
from jobu.handlers.options import HandlerOptions
from jobu.masking import mask_quotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jobu.handlers.base import BaseHandler
    from jobu.handlers.fields import ParamField
    from jobu.handlers.params import Signature
    from jobu.handlers.schedule import Schedule

OWN_PREFIX = "jobu."
"""The beginning of the names of jobu's own handlers, which no message may start."""
MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True, eq=False)
class HandlerSpec:
    """One registered handler."""

    name: str
    options: HandlerOptions
    module: str
    qualname: str
    place: str
    doc: str
    aliases: tuple[str, ...]
    is_async: bool
    schedules: tuple[Schedule, ...]
    _signature: Signature
    _handler_class: type[BaseHandler] | None
    _function: Callable[..., Any]

    @property
    def takes_events(self) -> bool:
        """Tell whether queue messages may start it."""
        is_own = self.name.startswith(OWN_PREFIX)
        return self.options.events or (settings.EVENT_HANDLERS == "all" and not is_own)

    @property
    def fields(self) -> list[ParamField] | None:
        """Return the params to ask a person for; None if the handler takes any object."""
        described = self._signature.described()
        if described is None:
            return None
        return [describe_param(*each, names=self.options.sensitive) for each in described]

    def check(self, params: dict[str, Any]) -> None:
        """Raise ParamsError if the params, which are JSON values, do not fit."""
        if not self._signature.fits_as_it_is(params):
            self._arguments(params)

    def surely_takes(self, params: Any) -> bool:
        """Tell quickly that the params fit, before they are JSON; False says nothing."""
        return type(params) is dict and self._signature.fits_as_it_is(params)

    def bind(self, params: dict[str, Any]) -> Callable[[], Any]:
        """Return the call of the handler with these params, or raise ParamsError."""
        arguments = self._arguments(params)
        if self._handler_class is None:
            return functools.partial(self._function, **arguments)
        return functools.partial(self._handler_class().execute, **arguments)

    def _arguments(self, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._signature.arguments(params)
        except ParamsError as error:
            # The __post_init__ of a record may quote the value that it refuses.
            text = mask_quotes(str(error), params, self.options.sensitive)
            raise ParamsError(text) from None


class Registry:
    """Handlers by name and alias; no two handlers have the same one."""

    def __init__(self) -> None:
        self._specs: dict[str, HandlerSpec] = {}

    def __iter__(self) -> Iterator[HandlerSpec]:
        return iter(sorted(set(self._specs.values()), key=lambda spec: spec.name))

    def __contains__(self, name: str) -> bool:
        return name in self._specs

    def __getitem__(self, name: str) -> HandlerSpec:
        spec = self.get(name)
        if spec is None:
            raise HandlerNotFoundError(self._not_found(name))
        return spec

    def get(self, name: object) -> HandlerSpec | None:
        return self._specs.get(name) if isinstance(name, str) else None

    def name_of(self, name: str) -> str:
        """Return the present name of the handler: another one for an alias."""
        spec = self.get(name)
        return spec.name if spec else name

    def options_of(self, name: str) -> HandlerOptions:
        """Return the handler's options; the defaults if no such handler is registered."""
        spec = self.get(name)
        return spec.options if spec else HandlerOptions()

    def sensitive_of(self, name: str | None) -> tuple[str, ...]:
        """Return the names of the handler's sensitive params; with None, those of all handlers."""
        if name is not None:
            return self.options_of(name).sensitive
        return tuple(each for spec in self for each in spec.options.sensitive)

    def register(self, spec: HandlerSpec) -> None:
        names = (spec.name, *spec.aliases)
        for name in names:
            other = self._specs.get(name)
            # The same definition again means that its module was imported twice, which is harmless.
            if other and other.place != spec.place:
                raise DuplicateHandlerError(
                    f"Two handlers are named {name!r}: {other.place} and {spec.place}. "
                    "Rename one of them."
                )
        for other in self._specs.values():
            if other.name != spec.name:
                _refuse_equal_schedules(other, spec)
        if before := self._specs.get(spec.name):
            for alias in before.aliases:
                self._specs.pop(alias, None)
        self._specs.update(dict.fromkeys(names, spec))

    def _not_found(self, name: object) -> str:
        if not isinstance(name, str):
            return f"A handler is named by a text such as 'email', not by {name!r}."
        # Long names are not compared: somebody may have sent a megabyte.
        is_possible = len(name) <= MAX_NAME_LENGTH
        close = difflib.get_close_matches(name, self._specs, n=1) if is_possible else []
        hint = f"Did you mean {close[0]!r}?" if close else "Is its app in INSTALLED_APPS?"
        return f"No handler is named {name!r} in any installed app's jobs.py. {hint}"


def _refuse_equal_schedules(one: HandlerSpec, other: HandlerSpec) -> None:
    for name in {each.name for each in one.schedules} & {each.name for each in other.schedules}:
        raise DuplicateHandlerError(
            f"Two handlers declare a schedule named {name!r}: {one.place} and {other.place}. "
            "Give one of them another name, as in Schedule(…, name=…)."
        )


handlers = Registry()
