"""Check the handlers that were found, and those that could not be imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core import checks

from jobu.handlers.discovery import problems
from jobu.handlers.registry import handlers
from jobu.masking import is_one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.core.checks import CheckMessage


def check_handlers(**_kwargs: Any) -> list[CheckMessage]:
    found = [checks.Warning(problem, hint=hint, id="jobu.W002") for problem, hint in problems()]
    return [*found, *_misspelt_sensitive_names()]


def _misspelt_sensitive_names() -> Iterator[CheckMessage]:
    for spec in handlers:
        fields = spec.fields
        # What is inside an object is not described, so any name may stand there.
        if fields is None or any(field.kind == "json" for field in fields):
            continue
        for name in spec.options.sensitive:
            if not any(is_one_of(field.name, [name]) for field in fields):
                yield checks.Warning(
                    f"The handler {spec.name!r} calls {name!r} sensitive, but takes no such param.",
                    hint=f"It takes {', '.join(field.name for field in fields) or 'nothing'}.",
                    id="jobu.W005",
                )
