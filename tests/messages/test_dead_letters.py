"""Dead letters are requeued once, or discarded, and pruned only then."""

from __future__ import annotations

import json

import pytest
from django.test import override_settings

from jobu.adapters.base import QueueMessage
from jobu.exceptions import DeadLetterError, MessageError
from jobu.messages.dead_letters import discard, requeue
from jobu.messages.store import store
from jobu.models import CronJob, DeadLetter, JobExecution
from tests.builders import cron, message
from tests.connections import together

pytestmark = pytest.mark.django_db

GOOD = {"handler_name": "echo", "params": {"a": 1}, "job_id": 77}


def refused(body: bytes | None = None) -> DeadLetter:
    """Store a message that becomes a dead letter, because its cron job is missing if not else."""
    assert store([message(1, body, **GOOD)], "kafka") != []
    return DeadLetter.objects.get()


def make_the_missing_cron() -> CronJob:
    return cron(pk=77)


def test_a_dead_letter_is_requeued_once_its_cause_is_gone() -> None:
    letter = refused()
    with pytest.raises(MessageError, match="No cron job has the id 77"):
        requeue(letter)
    letter.refresh_from_db()
    assert letter.is_open
    job = make_the_missing_cron()
    execution = requeue(letter)
    assert (execution.params, execution.job, execution.param_source) == ({"a": 1}, job, "event")
    assert execution.dedupe_key == "jobu:message:kafka:events:0:1"
    assert letter.execution == execution
    assert letter.requeued_at is not None
    assert not letter.is_open
    assert list(DeadLetter.objects.requeued()) == [letter]


def test_a_dead_letter_is_requeued_with_an_edited_body_and_keeps_its_own() -> None:
    letter = refused(b"oops")
    execution = requeue(letter.pk, '{"handler": "echo", "params": {"ä": 2}}')
    assert execution.params == {"ä": 2}
    letter.refresh_from_db()
    assert letter.body == b"oops"
    assert letter.execution == execution


@pytest.mark.parametrize("body", [b"{", "{", b'{"handler": "nobody"}', '{"handler": "\ud800"}'])
def test_an_edited_body_that_is_no_better_changes_nothing(body: bytes | str) -> None:
    letter = refused(b"oops")
    with pytest.raises(MessageError):
        requeue(letter, body)
    assert DeadLetter.objects.open().count() == 1
    assert not JobExecution.objects.exists()


def test_a_dead_letter_is_requeued_once() -> None:
    letter = refused(b"oops")
    requeue(letter, b'{"handler": "echo"}')
    with pytest.raises(DeadLetterError, match="requeued before"):
        requeue(letter, b'{"handler": "echo"}')
    with pytest.raises(DeadLetterError, match="nothing to discard"):
        discard(letter)
    assert JobExecution.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_requeue_at_once_one_succeeds() -> None:
    letter = refused(b"oops")

    def attempt() -> bool:
        try:
            requeue(letter.pk, b'{"handler": "echo"}')
        except DeadLetterError:
            return False
        return True

    assert sorted(together(attempt, attempt)) == [False, True]
    assert JobExecution.objects.count() == 1


def test_a_requeued_message_that_comes_again_creates_nothing() -> None:
    letter = refused()
    make_the_missing_cron()
    requeue(letter)
    store([QueueMessage(id="events:0:1", body=json.dumps(GOOD).encode())], "kafka")
    assert JobExecution.objects.count() == 1


def test_a_requeued_message_whose_dedupe_key_is_taken_is_that_execution() -> None:
    store([QueueMessage(id="events:0:0", body=b'{"handler": "echo", "dedupe_key": "k"}')], "kafka")
    letter = refused(b"oops")
    taken = JobExecution.objects.get()
    assert requeue(letter, b'{"handler": "echo", "dedupe_key": "k"}') == taken


def test_a_requeued_message_whose_dedupe_key_is_another_handlers_changes_nothing() -> None:
    store([QueueMessage(id="events:0:0", body=b'{"handler": "echo", "dedupe_key": "k"}')], "kafka")
    letter = refused(b"oops")
    with pytest.raises(MessageError, match="belongs to an execution of 'echo'"):
        requeue(letter, b'{"handler": "sleep", "dedupe_key": "k"}')
    assert (letter.is_open, JobExecution.objects.count()) == (True, 1)


def test_a_letter_that_was_too_large_is_requeued_once_the_limit_allows_it() -> None:
    body = b'{"handler": "echo", "params": {"text": "%s"}}' % (b"x" * 1000)
    with override_settings(JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES=1000):
        letter = refused(body)
        with pytest.raises(
            MessageError, match="JOBU_QUEUE_DISPATCHER_MAX_MESSAGE_BYTES allows 1,000"
        ):
            requeue(letter)
    assert requeue(letter).params == {"text": "x" * 1000}


def test_a_letter_with_a_long_id_has_the_key_that_its_message_would_have() -> None:
    long = QueueMessage(id="x" * 300, body=b"oops")
    store([long], "kafka")
    execution = requeue(DeadLetter.objects.get(), b'{"handler": "echo"}')
    DeadLetter.objects.all().delete()
    assert store([long], "kafka") == []
    assert JobExecution.objects.get() == execution


def test_a_discarded_letter_is_not_open_and_can_still_be_requeued() -> None:
    letter = refused(b"oops")
    discard(letter)
    first = letter.discarded_at
    discard(letter)
    assert letter.discarded_at == first
    assert not DeadLetter.objects.open().exists()
    assert list(DeadLetter.objects.discarded()) == [letter]
    store([QueueMessage(id="events:0:1", body=b"oops")], "kafka")
    assert not DeadLetter.objects.open().exists()
    requeue(letter, b'{"handler": "echo"}')
    assert letter.discarded_at is None
    assert letter.requeued_at is not None


def test_a_letter_that_is_gone_is_said_to_be_gone() -> None:
    with pytest.raises(DeadLetterError, match="no dead letter 404"):
        requeue(404)
    with pytest.raises(DeadLetterError, match="no dead letter 404"):
        discard(404)


def test_a_requeued_letter_outlives_its_execution() -> None:
    letter = refused(b"oops")
    requeue(letter, b'{"handler": "echo"}').delete()
    letter.refresh_from_db()
    assert letter.execution is None
    assert letter.requeued_at is not None


def test_what_is_shown_of_a_body_is_bounded_and_printable() -> None:
    assert DeadLetter(body=b"a\xff\0").body_text() == "a\\xff\\x00"
    shown = DeadLetter(body=b"x" * 1_000_000).body_text(500)
    assert len(shown) <= 520
    assert "characters left out" in shown
