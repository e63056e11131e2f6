"""A limit on the names of queues and handlers in a result: each execution may bring a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

OTHER = "(other)"
"""The name for all beyond the limit."""
MAX_NAMES = 100


def told_apart(name: str, known: Collection[str]) -> str:
    """Return the name, or OTHER if the name is new and there are too many already."""
    return name if name in known or len(known) < MAX_NAMES else OTHER
