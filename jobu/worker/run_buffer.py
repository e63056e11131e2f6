"""The log lines that are kept of one run: the first ones and the last ones."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from typing import NamedTuple

from jobu.jsonable import storable_text
from jobu.models.log_line import MAX_LOGGER_LENGTH

MAX_LINES = 1_000
MAX_CHARACTERS = 256 * 1024
MAX_MESSAGE_LENGTH = 4_000
_HALF_LINES = MAX_LINES // 2
_HALF_CHARACTERS = MAX_CHARACTERS // 2
_MAX_LEVEL = 32_767


class Line(NamedTuple):
    """`logged` is in microseconds since 1970."""

    logged: int
    level: int
    logger: str
    message: str


class RunBuffer:
    """Keeps the first lines, which can be written while the run goes on, and the last ones.

    To understand a failure one needs the beginning of the run and its end. An interrupt may strike
    between any two statements: then a count is off by one, and nothing worse happens.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self.unwritten: deque[Line] = deque()
        self._first_lines = 0
        self._first_characters = 0
        self._first_end = 0
        self._last: deque[Line] = deque()
        self._last_characters = 0
        self._left_out = 0
        self._logged = 0

    def add(self, record: logging.LogRecord, *, may_grow: bool) -> bool:
        """Keep the record; tell whether it now waits to be written.

        Without `may_grow` it is kept among the last lines only, whose number is bounded.
        """
        # No two lines share a time, and a clock that is set back does not shuffle them.
        self._logged = max(int(record.created * 1_000_000), self._logged + 1)
        line = Line(
            self._logged,
            min(max(record.levelno, 0), _MAX_LEVEL),
            storable_text(record.name, MAX_LOGGER_LENGTH),
            _text(record),
        )
        if may_grow and self._fits(line):
            self._first_lines += 1
            self._first_characters += len(line.message)
            self._first_end = line.logged
            self.unwritten.append(line)
            return True
        self._keep_last(line)
        return False

    def close(self) -> None:
        """End the run: add a note about the lines left out, and let the last lines be written."""
        if self.is_closed:
            return
        self.is_closed = True
        if self._left_out:
            what = "line is" if self._left_out == 1 else "lines are"
            note = f"… {self._left_out:,} {what} left out here: too much was logged …"
            self.unwritten.append(Line(self._first_end + 1, logging.WARNING, "jobu", note))
        self.unwritten.extend(self._last)
        self._last.clear()

    def _fits(self, line: Line) -> bool:
        return (
            not self._last
            and not self._left_out
            and self._first_lines < _HALF_LINES
            and self._first_characters + len(line.message) <= _HALF_CHARACTERS
        )

    def _keep_last(self, line: Line) -> None:
        self._last.append(line)
        self._last_characters += len(line.message)
        while len(self._last) > _HALF_LINES or self._last_characters > _HALF_CHARACTERS:
            self._last_characters -= len(self._last.popleft().message)
            self._left_out += 1


def _text(record: logging.LogRecord) -> str:
    """Format the record; never raises, because a job must not fail because it logged."""
    try:
        text = record.getMessage()
    except Exception as error:  # noqa: BLE001 - it runs the __str__ of anything
        text = f"{_template(record)} (its arguments cannot be formatted: {type(error).__name__})"
    if record.exc_info and record.exc_info[0] is not None:
        text = f"{text}\n{''.join(traceback.format_exception(*record.exc_info)).rstrip()}"
    if record.stack_info:
        text = f"{text}\n{record.stack_info}"
    return storable_text(text, MAX_MESSAGE_LENGTH)


def _template(record: logging.LogRecord) -> str:
    return record.msg if isinstance(record.msg, str) else f"A {type(record.msg).__name__}"
