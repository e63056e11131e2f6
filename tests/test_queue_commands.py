"""The commands of the queue dispatcher: what they print, and what they say to bad input."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

import jobu
from jobu import BaseQueueAdapter, QueueMessage
from jobu.adapters import publishing
from jobu.exceptions import AdapterError, MessageError, NotJSONError
from jobu.handlers.registry import Registry
from jobu.messages.format import read_event
from jobu.messages.store import store
from jobu.models import ApiToken, CronJob, DeadLetter, JobExecution
from tests.dispatchers.memory_adapter import MemoryAdapter

pytestmark = pytest.mark.django_db


class Outbox(MemoryAdapter):
    sent: list[tuple[bytes, bytes | None]] = []  # noqa: RUF012 - shared on purpose

    def publish(self, body: bytes, *, key: bytes | None = None, headers: Any = ()) -> None:
        self.sent.append((body, key))


@pytest.fixture
def outbox() -> Iterator[list[tuple[bytes, bytes | None]]]:
    Outbox.sent.clear()
    with override_settings(JOBU_QUEUE_DISPATCHER_ADAPTER=f"{__name__}.Outbox"):
        yield Outbox.sent


def run(*arguments: str, **options: Any) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output, stderr=output, **options)
    return output.getvalue()


def letters(*bodies: bytes) -> list[int]:
    """Make dead letters of these; return their ids."""
    store([QueueMessage(id=f"t:{n}", body=body) for n, body in enumerate(bodies)], "kafka")
    return list(DeadLetter.objects.order_by("id").values_list("id", flat=True))


def test_publish_sends_a_message_that_can_be_read(outbox: list[Any]) -> None:
    when = datetime(2030, 1, 31, tzinfo=UTC)
    with override_settings(JOBU_EVENT_PRIORITIES=[5]):
        jobu.publish("echo", {"a": 1}, priority=5, available_at=when, dedupe_key="d", key="k")
    [(body, key)] = outbox
    event = read_event(body)
    assert (event.handler_name, event.params, event.priority) == ("echo", {"a": 1}, 5)
    assert (event.available_at, event.dedupe_key, key) == (when, "d", b"k")


def test_publish_refuses_what_no_dispatcher_could_read(outbox: list[Any]) -> None:
    with pytest.raises(MessageError, match="priority"):
        jobu.publish("echo", priority=10**6)
    with pytest.raises(NotJSONError):
        jobu.publish("echo", {"a": object()})
    assert outbox == []


def test_publish_refuses_what_this_projects_dispatchers_would_refuse(outbox: list[Any]) -> None:
    with pytest.raises(MessageError, match="may not start the handler 'effect'"):
        jobu.publish("effect")
    with pytest.raises(MessageError, match="JOBU_EVENT_QUEUES"):
        jobu.publish("echo", queue="vip")
    with (
        override_settings(JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES=100),
        pytest.raises(MessageError),
    ):
        jobu.publish("echo", key="k" * 100)
    assert outbox == []
    # What a cron job allows is not looked up, and a handler may be another project's.
    jobu.publish("echo", queue="vip", job_id=1)
    jobu.publish("elsewhere", queue="vip", priority=9)
    assert len(outbox) == 2


def test_publish_keeps_its_adapter_until_a_setting_changes(outbox: list[Any]) -> None:
    jobu.publish("echo")
    first = publishing._adapter()
    jobu.publish("echo")
    assert publishing._adapter() is first
    with override_settings(JOBU_KAFKA_TOPIC="other"):
        assert publishing._adapter() is not first


class Unreachable(MemoryAdapter):
    def publish(self, body: bytes, *, key: bytes | None = None, headers: Any = ()) -> None:
        raise ConnectionError("no route\nto the broker")


@override_settings(JOBU_QUEUE_DISPATCHER_ADAPTER=f"{__name__}.Unreachable")
def test_whatever_a_queue_system_s_client_raises_is_an_adapter_error_in_one_line() -> None:
    with pytest.raises(AdapterError) as caught:
        jobu.publish("echo")
    assert str(caught.value) == "Unreachable did not take the message: no route\nto the broker"
    assert isinstance(caught.value.__cause__, ConnectionError)
    with pytest.raises(CommandError) as refused:
        run("jobu_publish", "echo")
    assert str(refused.value) == "Unreachable did not take the message: no route to the broker"


def test_an_adapter_that_cannot_publish_says_so() -> None:
    with (
        override_settings(
            JOBU_QUEUE_DISPATCHER_ADAPTER="tests.dispatchers.memory_adapter.MemoryAdapter"
        ),
        pytest.raises(AdapterError, match="MemoryAdapter cannot publish"),
    ):
        jobu.publish("echo")


@pytest.mark.parametrize(
    ("path", "reason"),
    [("no.such.Adapter", "cannot be imported"), ("jobu.models.DeadLetter", "is no subclass")],
)
def test_a_setting_that_is_no_adapter_is_refused(path: str, reason: str) -> None:
    with override_settings(JOBU_QUEUE_DISPATCHER_ADAPTER=path):
        with pytest.raises(ImproperlyConfigured, match=reason):
            jobu.publish("echo")
        with pytest.raises(CommandError, match=reason):
            run("runqueuedispatcher")


def test_the_publish_command_sends_what_it_is_told(outbox: list[Any]) -> None:
    output = run(
        "jobu_publish",
        "echo",
        "--params",
        '{"ä": 1}',
        "--priority",
        "0",
        "--available-at",
        "2030-01-31T09:00:00+00:00",
        "--key",
        "k",
    )
    assert output == "Sent a message for 'echo'.\n"
    [(body, key)] = outbox
    assert (json.loads(body)["params"], json.loads(body)["priority"], key) == ({"ä": 1}, 0, b"k")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--params", "{"], "--params is not JSON"),
        (["--params", "[]"], "must be a dict"),
        (["--priority", "99999"], "priority must be"),
        (["--queue", "vip"], "may not ask for the queue 'vip'"),
        (["--available-at", "soon"], "soon"),
        (["--available-at", "2030-01-31"], "must have a time zone"),
    ],
)
def test_the_publish_command_says_what_is_wrong(
    outbox: list[Any], arguments: list[str], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        run("jobu_publish", "echo", *arguments)
    assert outbox == []


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


def test_what_comes_from_elsewhere_cannot_command_a_terminal() -> None:
    hostile = "a\x1b]0;title\x07\nb\u202ec"
    store([QueueMessage(id=hostile, body=f"{{\n{hostile}".encode())], "kafka")
    pk = str(DeadLetter.objects.get().pk)
    DeadLetter.objects.update(reason=hostile)
    CronJob.objects.create(
        name=hostile, cron_expression="0 2 * * *", handler_name="echo", declared="x"
    )
    ApiToken.objects.create(name=hostile, secret_hash="0" * 64)
    printed = [
        run("jobu_deadletters", "list"),
        run("jobu_deadletters", "show", pk),
        run("jobu_crons"),
        run("jobu_sync"),
        run("jobu_token", "list"),
    ]
    for output in printed:
        assert "\\x1b]0;title\\x07" in output
        assert not set("\x1b\x07\u202e") & set(output)
    # Only the body keeps its lines.
    assert printed[0].count("\n") == 1


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


def test_prune_counts_dead_letters_apart() -> None:
    letters(b"oops", b"oops")
    run("jobu_deadletters", "discard", "--all")
    DeadLetter.objects.update(received_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert run("jobu_prune") == "0 executions pruned.\n2 dead letters pruned.\n"
    assert run("jobu_prune") == "0 executions pruned.\n"


def test_prune_deletes_open_dead_letters_after_an_age_of_their_own() -> None:
    letters(b"oops", b"oops")
    DeadLetter.objects.update(received_at=timezone.now() - timedelta(days=60))
    assert run("jobu_prune") == "0 executions pruned.\n"
    assert run("jobu_prune", "--days=0") == "0 executions pruned.\n"
    with override_settings(JOBU_RETENTION_DAYS=None):
        assert run("jobu_prune", "--open-days=59") == "2 dead letters pruned.\n"
    letters(b"oops")
    DeadLetter.objects.update(received_at=datetime(2020, 1, 1, tzinfo=UTC))
    with override_settings(JOBU_DEAD_LETTER_RETENTION_DAYS=None):
        assert run("jobu_prune") == "0 executions pruned.\n"
    assert run("jobu_prune") == "0 executions pruned.\n1 dead letters pruned.\n"


def test_the_base_adapter_asks_for_its_five_methods() -> None:
    assert BaseQueueAdapter.__abstractmethods__ == {
        "connect",
        "disconnect",
        "receive",
        "complete",
        "abandon",
    }
