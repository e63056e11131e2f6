"""Fit JSON params to a handler's signature, or say why they do not fit."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from jobu.exceptions import HandlerError
from jobu.handlers.conversion import (
    convert,
    described_record,
    is_record,
    plain_types,
    refuse_missing,
    refuse_unknown,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Signature:
    """How one callable takes its params: as one object, or as keyword arguments."""

    def __init__(
        self, function: Callable[..., Any], *, is_method: bool, sensitive: tuple[str, ...] = ()
    ) -> None:
        self._function = function
        self._sensitive = sensitive
        parameters = list(inspect.signature(function).parameters.values())
        self._parameters = parameters[1:] if is_method else parameters
        for parameter in self._parameters:
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                raise HandlerError(
                    f"{function.__qualname__}: the parameter {parameter.name!r} is "
                    "positional-only, but params are passed by name; remove the '/'."
                )
        if is_method and not self._takes_one_object():
            raise HandlerError(
                f"{function.__qualname__} must take exactly one argument besides self: params"
            )
        self._is_method = is_method
        self._by_name = {p.name: p for p in self._parameters if p.kind not in _VARIADIC}
        self._required = [
            name for name, p in self._by_name.items() if p.default is inspect.Parameter.empty
        ]
        self._takes_any_name = any(
            p.kind is inspect.Parameter.VAR_KEYWORD for p in self._parameters
        )

    def arguments(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments to call the handler with."""
        hints = self._hints
        if self._takes_whole:
            name = self._parameters[0].name
            return {name: convert(params, hints.get(name, Any), (self._sensitive, "params"))}
        if not self._takes_any_name:
            refuse_unknown(params, self._by_name)
        refuse_missing(params, self._required)
        return {
            key: convert(value, hints.get(key, Any), (self._sensitive, key))
            for key, value in params.items()
        }

    def fits_as_it_is(self, params: dict[str, Any]) -> bool:
        """Tell quickly whether params that are plain JSON values fit; False: ask `arguments`."""
        plain = self._plain_types
        if isinstance(plain, bool):
            return plain
        for name, value in params.items():
            if type(value) not in plain.get(name, self._types_of_others):
                return False
        # As many as there are, and all of them known: none is missing.
        has_all = len(params) == len(plain) and not self._takes_any_name
        return has_all or all(name in params for name in self._required)

    def described(self) -> list[tuple[str, Any, Any]] | None:
        """Return (name, type, default) of each param; None if the handler takes any object.

        The default of a required param is `REQUIRED`.
        """
        hints = self._hints
        if self._takes_whole:
            record = hints.get(self._parameters[0].name)
            return described_record(record) if is_record(record) else None
        if self._takes_any_name:
            return None
        return [(name, hints.get(name, Any), p.default) for name, p in self._by_name.items()]

    def _takes_one_object(self) -> bool:
        return len(self._parameters) == 1 and self._parameters[0].kind not in _VARIADIC

    @functools.cached_property
    def _takes_whole(self) -> bool:
        if self._is_method or not self._takes_one_object():
            return self._is_method
        name = self._parameters[0].name
        return name == "params" or is_record(self._hints.get(name))

    @functools.cached_property
    def _plain_types(self) -> dict[str, frozenset[type]] | bool:
        """The types of each param that need no closer look; or whether no object needs one."""
        if self._takes_whole:
            return dict in plain_types(self._hints.get(self._parameters[0].name, Any))
        return {name: plain_types(self._hints.get(name, Any)) for name in self._by_name}

    @functools.cached_property
    def _types_of_others(self) -> frozenset[type]:
        return plain_types(Any) if self._takes_any_name else frozenset()

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        # Resolved at the first run: at import the annotated classes may not exist yet.
        # A decorated function has the names of its own module, not of its decorator's.
        namespace = getattr(inspect.unwrap(self._function), "__globals__", {})
        return {p.name: resolve(p.annotation, namespace) for p in self._by_name.values()}
