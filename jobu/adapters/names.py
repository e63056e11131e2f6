"""Names of topics and streams as settings give them."""

from __future__ import annotations


def names_in(value: str | list[str]) -> list[str]:
    """Return the names in a list, or in a text that separates them by commas."""
    names = value.split(",") if isinstance(value, str) else value
    return [name.strip() for name in names if name.strip()]
