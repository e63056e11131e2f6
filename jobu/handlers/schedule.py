"""Schedules that handlers declare in code."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jobu.cron import problem_with_expression, problem_with_timezone
from jobu.exceptions import NotJSONError, OptionError
from jobu.jsonable import encode_object

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_NAME_LENGTH = 200
_MISFIRES = ("skip", "latest", "all")


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a handler runs, and with which params; `manage.py jobu_sync` makes a cron job of it.

    Without a `name`, the cron job is named like the handler; of several schedules of one handler,
    only one can be. Without a `timezone`, it is that of `@handler`, or else `TIME_ZONE`.
    """

    expression: str
    _: KW_ONLY
    timezone: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    allow_overlap: bool = True
    misfire: str = "latest"

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise OptionError(f"Schedule({self.expression!r}): {problem}")
        object.__setattr__(self, "params", json.loads(encode_object(self.params, "params")))
        object.__setattr__(self, "misfire", str(self.misfire))

    def _problem(self) -> str | None:
        name: Any = self.name
        expression: Any = self.expression
        if not isinstance(name, str) or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
            return f"name is a text of at most {_MAX_NAME_LENGTH} characters, not {name!r}"
        if not isinstance(expression, str):
            return 'the first argument is a cron expression, such as "0 9 * * mon"'
        if problem := problem_with_expression(self.expression, seed=self.name):
            return problem
        if self.timezone is not None and (problem := problem_with_timezone(self.timezone)):
            return problem
        if not isinstance(self.allow_overlap, bool):
            return f"allow_overlap is True or False, not {self.allow_overlap!r}"
        if self.misfire not in _MISFIRES:
            return f"misfire is one of {', '.join(map(repr, _MISFIRES))}, not {self.misfire!r}"
        try:
            encode_object(self.params, "params")
        except NotJSONError as error:
            return str(error)
        return None


def declared(
    handler_name: str, cron: str | None, timezone: str | None, schedules: Iterable[Schedule]
) -> tuple[Schedule, ...]:
    """Return the schedules of a handler with all names given, or refuse what cannot be meant."""
    of = f"@handler({handler_name!r})"
    if timezone is not None and (problem := problem_with_timezone(timezone)):
        raise OptionError(f"timezone of {of}: {problem}")
    if cron is not None:
        if schedules:
            raise OptionError(
                f"{of} has both cron= and schedules=. cron= is short for a single schedule: write "
                f"schedules=[Schedule({cron!r}), …]."
            )
        if not isinstance(cron, str):
            raise OptionError(
                f"cron of {of} is a cron expression, not {cron!r}. "
                "A Schedule goes into schedules=[…]."
            )
        if problem := problem_with_expression(cron, seed=handler_name):
            raise OptionError(f"cron of {of}: {problem}")
        schedules = [Schedule(cron)]
    if not isinstance(schedules, list | tuple) or not all(
        isinstance(each, Schedule) for each in schedules
    ):
        raise OptionError(
            f"schedules of {of} is a list of jobu.Schedule, such as "
            f'[Schedule("0 9 * * mon")], not {schedules!r}'
        )
    named = tuple(
        replace(each, name=each.name or handler_name, timezone=each.timezone or timezone)
        for each in schedules
    )
    _refuse_equal_names(of, [each.name for each in named])
    return named


def _refuse_equal_names(of: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise OptionError(
                f"{names.count(name)} schedules of {of} would make a cron job named {name!r}. Give "
                "each another name, as in Schedule(…, name=…)."
            )
