"""Text from elsewhere, made safe for terminals and logs."""

from __future__ import annotations

import logging
import traceback
from typing import Any

_INDENT = "    "


class Lines(str):
    """An argument of a log record that may keep its lines, such as a traceback."""

    __slots__ = ()


class EscapeFilter(logging.Filter):
    """Escapes the arguments and the traceback of each record; keeps them all."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(map(_escaped, record.args))
        if record.exc_info and not record.exc_text:
            text = "".join(traceback.format_exception(*record.exc_info))
            # Where every formatter looks before it writes the traceback itself.
            record.exc_text = printable_lines(text, _INDENT)
        return True


def printable(text: object) -> str:
    """Return one line: what would end it, move the cursor or turn the text around is escaped."""
    line = str(text)
    if line.isprintable():
        return line
    return "".join(
        each if each.isprintable() or each == "\t" else ascii(each)[1:-1] for each in line
    )


def printable_lines(text: object, indent: str = "") -> str:
    """Keep the lines; with an indent none of them can pass for another line of a log."""
    return "\n".join(indent + printable(line) for line in str(text).splitlines())


def first_line(error: object) -> str:
    """Return the summary of a database's error: its details quote the row, with its params."""
    return str(error).partition("\n")[0]


def _escaped(arg: Any) -> Any:
    if isinstance(arg, Lines):
        return printable_lines(arg, _INDENT)
    return printable(arg) if isinstance(arg, str | BaseException) else arg
