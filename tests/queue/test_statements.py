"""The statements of each verb, as they are sent: a change of one shows in the diff of its file.

JOBU_TEST_WRITE_STATEMENTS=1 writes the files in the folder `statements`, for the database in use.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from jobu import enqueue, outcomes
from jobu.attempts import Attempt
from jobu.dialects import dialect_for
from jobu.models import Status
from jobu.queue.claim import claim, claim_in_one_statement
from jobu.queue.lanes import MAX_LANES, Lane, find_lanes
from jobu.queue.rescue import rescue
from jobu.queue.settle import settle
from jobu.transactions import write_transaction
from tests.builders import process
from tests.plans import Statement, caught

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = Path(__file__).parent / "statements"
IS_TO_WRITE = "JOBU_TEST_WRITE_STATEMENTS" in os.environ
QUEUE, PRIORITY, LIMIT, KEY = "mail", 7007, 37, "invoice-7"
# Each of them begins a line, unless it is part of another.
WORDS = (
    *("SELECT", "(?<!DISTINCT )FROM", "WHERE", "ORDER BY", "LIMIT", "OFFSET", "UNION ALL", "WITH"),
    *(
        "FOR UPDATE",
        "SET",
        "VALUES",
        "RETURNING",
        "(?<!FOR )UPDATE",
        "(?<!CROSS )JOIN",
        "CROSS JOIN",
    ),
)
PARTS = {"SET": r"(?<=,) (?=\w+ = )", "WHERE": r" (?=AND )"}
"""What begins a further line after some of them."""
NAMES = {
    "": "after_queue",
    "-40000": "after_priority",
    str(MAX_LANES): "max_lanes",
    QUEUE: "queue",
    str(PRIORITY): "priority",
    KEY: "dedupe_key",
}
VERSIONS = {r"[`\"](U\d)[`\"]": r"\1", r"\) = True\)": "))"}
"""What Django 6.1 writes in another way than those before it."""
KINDS = {
    "in_lane": r"1970-01-01",
    "time": r"\d{4}-\d\d-\d\d",
    "process_id": r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}",
    "params": r"\{",
    "outcomes": r"\[\[",
    "id": r"\d+$",
}


def test_enqueue(vendor: str) -> None:
    with caught() as statements:
        enqueue("echo", {"text": "hello"})
        enqueue("echo", {"text": "hello"}, dedupe_key=KEY)
    compare(vendor, "enqueue", statements)


def test_find_lanes(vendor: str) -> None:
    enqueue("echo", queue=QUEUE, priority=PRIORITY)
    with caught() as statements:
        find_lanes()
        find_lanes([QUEUE])
    compare(vendor, "find_lanes", statements)


def test_claim(vendor: str) -> None:
    lane, worker = a_lane(), process()
    with caught() as statements, write_transaction("default"):
        assert claim([lane], LIMIT, worker.pk)
    compare(vendor, "claim", statements)


@pytest.mark.skipif(
    not dialect_for("default").claims_in_one_statement, reason="one statement cannot claim here"
)
def test_claim_in_one_statement(vendor: str) -> None:
    lane, worker = a_lane(), process()
    with caught() as statements:
        assert claim_in_one_statement(lane, LIMIT, worker.pk)
    compare(vendor, "claim_in_one_statement", statements)


def test_settle(vendor: str) -> None:
    success, failure = an_attempt(), an_attempt()
    with caught() as statements:
        settle([outcomes.succeeded(success, '"ok"', started=0.0, finished=1.0)])
        settle([outcomes.failed(failure, "why", "where", retry_delay=lambda _failures: 5.0)])
    compare(vendor, "settle", statements)


def test_rescue(vendor: str) -> None:
    lost = process(beat_seconds_ago=3600)
    an_attempt(lost.pk)
    judge = process()
    with caught() as statements:
        assert len(rescue(judge.pk)) == 1
    compare(vendor, "rescue", statements)


def a_lane() -> Lane:
    enqueue("echo", queue=QUEUE, priority=PRIORITY)
    [lane] = find_lanes().due
    return lane


def an_attempt(process_id: UUID | None = None) -> Attempt:
    with write_transaction("default"):
        [attempt] = claim([a_lane()], 1, process_id or process().pk)
    return attempt


def compare(vendor: str, verb: str, statements: list[Statement]) -> None:
    ours = [each for each in statements if "jobu_" in each.sql]
    found = "\n\n".join(f"{readable(each)};" for each in ours) + "\n"
    file = FOLDER / vendor / f"{verb}.sql"
    if IS_TO_WRITE:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found)
    assert found == file.read_text()


def readable(statement: Statement) -> str:
    """Return the SQL with its parameters named, and a line for each of its parts."""
    parameters = iter(statement.params or ())
    sql = re.sub("%s", lambda _match: name_of(next(parameters)), statement.sql).replace("%%", "%")
    # Django's EXISTS selects a one.
    sql = re.sub("SELECT :id AS", "SELECT 1 AS", " ".join(sql.split()))
    sql = re.sub(r"\bIN \(\d+(?:, ?\d+)*\)", "IN (:ids)", sql)
    for pattern, replacement in VERSIONS.items():
        sql = re.sub(pattern, replacement, sql)
    lines, depth = [], 0
    for clause in re.split(rf" (?=(?:{'|'.join(WORDS)})\b)", sql):
        word = clause.partition(" ")[0]
        for number, line in enumerate(re.split(PARTS.get(word, "$^"), clause)):
            lines.append("    " * (depth + bool(number)) + line)
            depth += line.count("(") - line.count(")")
    return "\n".join(lines)


def name_of(value: Any) -> str:
    """Name a parameter by its value; a status is written as it is."""
    text = str(value)
    if value in list(Status):
        return f"'{Status(value).value}'"
    if isinstance(value, bool):
        return text
    if text in NAMES:
        return f":{NAMES[text]}"
    for kind, pattern in KINDS.items():
        if re.match(pattern, text):
            return f":{kind}"
    raise AssertionError(f"Which parameter is {value!r}? Give it a name.")
