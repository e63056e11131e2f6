"""What a database session keeps from one statement to the next, as far as a client can see it."""

from __future__ import annotations

import select

_PLAIN_STATEMENTS = (
    "select",
    "insert",
    "update",
    "delete",
    "with",
    "values",
    "merge",
    "replace",
    "truncate",
    "copy",
    "explain",
    "show",
    "savepoint",
    "release",
    "rollback to",
)
"""How statements begin that leave nothing behind in their session, but for some functions."""


def may_change_session(sql: object, plain: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Tell whether later statements of the session may do something else after this one.

    `plain` are further beginnings of statements that leave nothing behind, `words` are what does.
    What is not known counts as a change.
    """
    if not isinstance(sql, str):
        return True
    text = sql.lstrip("( \n\t").lower()
    return not text.startswith((*_PLAIN_STATEMENTS, *plain)) or any(word in text for word in words)


def is_readable(descriptor: int) -> bool:
    """Tell whether something has arrived on the socket, or its end."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([descriptor], [], [], 0)[0])
