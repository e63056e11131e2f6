"""Look at dead letters, requeue and discard them, from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from jobu import QueueMessage
from jobu.handlers.registry import Registry
from jobu.messages.store import store
from jobu.models import DeadLetter, JobExecution
from tests.management.commands import letters, run

pytestmark = pytest.mark.django_db


def test_open_dead_letters_are_listed_with_their_reason() -> None:
    assert run("jobu_deadletters", "list") == "There are no dead letters.\n"
    first, second = letters(b"oops", b'{"handler": "nobody"}')
    run("jobu_deadletters", "discard", str(first))
    output = run("jobu_deadletters", "list")
    assert output.startswith(f"{second}  ")
    assert "open  kafka t:1  21 bytes  No handler is named 'nobody'" in output
    both = run("jobu_deadletters", "list", "--all").splitlines()
    assert [line.split()[0] for line in both] == [str(second), str(first)]
    assert "discarded" in both[1]
    assert len(run("jobu_deadletters", "list", "--all", "--limit", "1").splitlines()) == 1


def test_listing_does_not_read_the_bodies(django_assert_num_queries: Any) -> None:
    letters(b"oops", b"oops")
    with django_assert_num_queries(1) as queries:
        run("jobu_deadletters", "list")
    assert '"body",' not in queries[0]["sql"].replace("`", '"').split("FROM")[0]


def test_a_dead_letter_is_shown_with_a_bounded_body(capfdbinary: Any) -> None:
    [pk] = letters(b"\xff" + b"x" * 100_000)
    output = run("jobu_deadletters", "show", str(pk))
    assert "message: kafka t:0" in output
    assert "reason: It is not UTF-8" in output
    assert "size: 100,001 bytes" in output
    assert "\\xff" in output
    assert len(output) < 4_000
    run("jobu_deadletters", "show", str(pk), "--raw")
    assert capfdbinary.readouterr().out == b"\xff" + b"x" * 100_000


def test_a_dead_letter_is_shown_with_masks_unless_it_is_raw(capfdbinary: Any) -> None:
    body = b'{"handler": "nobody", "params": {"password": "sesame"}}'
    headers = (("authorization", b"sesame"), ("trace", b"5"))
    store([QueueMessage(id="t:0", body=body, headers=headers)], "kafka")
    pk = str(DeadLetter.objects.get().pk)
    output = run("jobu_deadletters", "show", pk)
    assert '"password": "********"' in output
    assert "[('authorization', '********'), ('trace', '5')]" in output
    assert "sesame" not in output
    run("jobu_deadletters", "show", pk, "--raw")
    assert capfdbinary.readouterr().out == body


def test_dead_letters_are_requeued_by_id_reason_or_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = b'{"handler": "echo", "params": {"a": 1}}'
    with monkeypatch.context() as patch:
        patch.setattr("jobu.messages.rows.handlers", Registry())
        ids = letters(good, good, good)
    broken = letters(good, good, good, b"oops")[-1]
    assert "requeued as execution" in run("jobu_deadletters", "requeue", str(ids[0]))
    run("jobu_deadletters", "requeue", "--reason", "echo")
    assert JobExecution.objects.count() == 3
    with pytest.raises(CommandError, match=r"1 of 1 could not be requeued\."):
        run("jobu_deadletters", "requeue", "--all")
    body = tmp_path / "body.json"
    body.write_bytes(good)
    with body.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        run("jobu_deadletters", "requeue", str(broken), "--body", "-")
    assert JobExecution.objects.count() == 4
    assert not DeadLetter.objects.open().exists()


def test_which_dead_letters_are_meant_must_be_said() -> None:
    with pytest.raises(CommandError, match="Which ones"):
        run("jobu_deadletters", "requeue")
    with pytest.raises(CommandError, match="Which ones"):
        run("jobu_deadletters", "discard")
    with pytest.raises(CommandError, match="of one dead letter"):
        run("jobu_deadletters", "requeue", "1", "2", "--body", "{}")
    with pytest.raises(CommandError, match="no dead letter 404"):
        run("jobu_deadletters", "show", "404")
    with pytest.raises(CommandError, match="no dead letter 404"):
        run("jobu_deadletters", "discard", "404")


def test_dead_letters_are_discarded() -> None:
    first, second = letters(b"oops", b"oops")
    assert run("jobu_deadletters", "discard", str(first)) == f"{first}: discarded\n"
    assert run("jobu_deadletters", "discard", "--all") == f"{second}: discarded\n"
    assert DeadLetter.objects.discarded().count() == 2
