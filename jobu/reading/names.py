"""A bound on how many queues and handlers are told apart: each execution may name a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

OTHER = "(other)"
"""All those beyond the bound."""
MAX_NAMES = 100


def told_apart(name: str, known: Collection[str]) -> str:
    """Return the name, or OTHER if it would be one too many beside those that are known."""
    return name if name in known or len(known) < MAX_NAMES else OTHER
