"""What comes from elsewhere can neither forge a line of a log nor command a terminal."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from jobu import logs
from jobu.printable import first_line, printable, printable_lines

pytestmark = pytest.mark.pure


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logs.logger.addHandler(handler)
    yield stream
    logs.logger.removeHandler(handler)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a job, 작업, ジョブ, 🙂", "a job, 작업, ジョブ, 🙂"),
        ("a\tb", "a\tb"),
        ("one\ntwo\r\n", "one\\ntwo\\r\\n"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("zero\u200bwidth\u2028line", "zero\\u200bwidth\\u2028line"),
        ("\ud800", "\\ud800"),
        ("", ""),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(ValueError(text)) == shown


def test_lines_can_be_kept_and_indented() -> None:
    assert printable_lines("a\x1b\nb\r\nc\u2028d", "> ") == "> a\\x1b\n> b\n> c\n> d"


def test_the_first_line_of_an_error_is_its_summary() -> None:
    assert first_line(ValueError("refused\nDETAIL: everything")) == "refused"


def test_a_message_cannot_forge_a_line_of_the_log(written: io.StringIO) -> None:
    logs.message_is_dead("kafka", "events:0:1", "No handler\nERROR all is lost\x1b[31m")
    assert written.getvalue() == (
        "WARNING message events:0:1 of kafka became a dead letter: "
        "No handler\\nERROR all is lost\\x1b[31m\n"
    )


def test_an_error_cannot_forge_a_line_of_the_log_either(written: io.StringIO) -> None:
    logs.crashed("worker", ValueError("a\nCRITICAL b\x1b[31m"))
    first, *rest = written.getvalue().splitlines()
    assert first == "CRITICAL worker ends because of: a\\nCRITICAL b\\x1b[31m"
    assert rest == ["    ValueError: a", "    CRITICAL b\\x1b[31m"]


def test_numbers_in_the_log_stay_numbers(written: io.StringIO) -> None:
    logs.child_died("worker 1", 17, -9, 1.0)
    assert written.getvalue() == "ERROR worker 1, pid 17, ended with signal 9; restart in 1.0 s\n"
