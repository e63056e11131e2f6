"""Run jobs in a test itself, in the test's own transaction."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import TestCase
from django.utils import timezone

from jobu import current_job, enqueue, enqueue_many, handler, signals
from jobu.models import JobExecution, Status
from jobu.testing import immediate, run_pending
from tests.builders import pending
from tests.project.shop.models import Effect

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("temporary_handlers")]


def later(days: int = 1) -> Any:
    return timezone.now() + timedelta(days=days)


def test_pending_executions_run_and_are_returned_with_their_outcome() -> None:
    enqueue("effect", {"note": "first"})
    enqueue("echo", {"a": [1, None]})
    first, second = run_pending()
    assert (first.status, first.result, first.attempt) == (Status.SUCCESS, {"note": "first"}, 1)
    assert (second.status, second.result) == (Status.SUCCESS, {"a": [1, None]})
    assert first.started_at is not None
    assert first.finished_at is not None
    assert Effect.objects.get().execution_id == first.pk
    assert run_pending() == []


def test_executions_run_in_the_order_of_a_worker() -> None:
    low = enqueue("echo", priority=-1)
    first = enqueue("echo")
    second = enqueue("echo")
    high = enqueue("echo", priority=5)
    assert run_pending() == [high, first, second, low]


def test_what_a_handler_enqueues_runs_too() -> None:
    @handler("parent")
    def parent() -> None:
        enqueue("effect", {"note": "child"})

    enqueue("parent")
    assert [execution.handler_name for execution in run_pending()] == ["parent", "effect"]
    assert Effect.objects.get().note == "child"


def test_what_is_due_later_runs_only_if_it_is_asked_for() -> None:
    execution = enqueue("echo", available_at=later())
    assert run_pending() == []
    execution.refresh_from_db()
    assert execution.status == Status.PENDING
    assert [each.status for each in run_pending(include_delayed=True)] == [Status.SUCCESS]


def test_a_single_queue_can_be_run() -> None:
    mail = enqueue("echo", queue="mail")
    rest = enqueue("echo")
    assert run_pending(queue="mail") == [mail]
    assert run_pending(queue="no such queue") == []
    assert run_pending() == [rest]


def test_a_failing_handler_waits_for_its_retry() -> None:
    @handler("unlucky", max_retry=2, backoff=lambda _failures: 3600)
    def unlucky() -> None:
        raise ValueError("no luck")

    execution = enqueue("unlucky")
    [failed] = run_pending()
    assert (failed.pk, failed.status, failed.retry_count) == (execution.pk, Status.PENDING, 1)
    assert failed.error_message == "ValueError: no luck"
    assert failed.available_at > timezone.now()
    assert run_pending() == []

    [dead] = run_pending(include_delayed=True)
    assert (dead.status, dead.retry_count, dead.attempt) == (Status.FAILED, 2, 2)
    assert [error["attempt"] for error in dead.errors] == [1, 2]
    assert 'raise ValueError("no luck")' in dead.errors[0]["traceback"]


def test_with_what_is_delayed_a_failing_handler_runs_until_it_is_out_of_attempts() -> None:
    enqueue("fail", {"message": "never"})
    [dead] = run_pending(include_delayed=True)
    assert (dead.status, dead.attempt, len(dead.errors)) == (Status.FAILED, 3, 3)


def test_a_backoff_beyond_every_calendar_does_not_lose_the_outcome() -> None:
    @handler("patient", max_retry=2, backoff=lambda _failures: 1e300)
    def patient() -> None:
        raise ValueError("no luck")

    enqueue("patient")
    [failed] = run_pending()
    assert failed.status in {Status.PENDING, Status.FAILED}
    assert [error["attempt"] for error in failed.errors] == list(range(1, failed.attempt + 1))


def test_a_handler_that_fails_on_the_database_leaves_the_test_s_transaction_usable() -> None:
    @handler("duplicate", max_retry=1)
    def duplicate() -> None:
        Group.objects.create(name="staff")

    Group.objects.create(name="staff")
    enqueue("duplicate")
    [failed] = run_pending()
    assert failed.status == Status.FAILED
    assert "IntegrityError" in failed.error_message
    assert Group.objects.count() == 1


def test_params_that_do_not_fit_are_not_retried(settings: Any) -> None:
    settings.JOBU_VALIDATE_ON_ENQUEUE = False
    enqueue("sleep", {"seconds": "many"}, max_retry=5)
    [failed] = run_pending(include_delayed=True)
    assert (failed.status, failed.attempt) == (Status.FAILED, 1)
    assert failed.error_message == (
        "jobu.exceptions.ParamsError: seconds must be a number, not 'many'"
    )


def test_a_handler_that_is_gone_is_not_retried() -> None:
    pending(handler_name="vanished", max_retry=5)
    [failed] = run_pending(include_delayed=True)
    assert (failed.status, failed.attempt) == (Status.FAILED, 1)
    assert "No handler is named 'vanished'" in failed.error_message


def test_an_atomic_handler_commits_its_work_with_its_outcome() -> None:
    execution = enqueue("atomic_effect")
    assert [each.status for each in run_pending()] == [Status.SUCCESS]
    assert Effect.objects.get().execution_id == execution.pk


def test_an_atomic_handler_that_fails_leaves_nothing() -> None:
    @handler("half_done", atomic=True, max_retry=1)
    def half_done() -> None:
        Effect.objects.create(execution_id=current_job().id, note="half")
        raise ValueError("no luck")

    enqueue("half_done")
    [failed] = run_pending()
    assert (failed.status, failed.error_message) == (Status.FAILED, "ValueError: no luck")
    assert not Effect.objects.exists()


def test_a_plain_handler_that_fails_leaves_what_it_did_before() -> None:
    @handler("half_done", max_retry=1)
    def half_done() -> None:
        Effect.objects.create(execution_id=current_job().id, note="half")
        raise ValueError("no luck")

    enqueue("half_done")
    assert [each.status for each in run_pending()] == [Status.FAILED]
    assert Effect.objects.get().note == "half"


def test_an_async_handler_uses_the_orm_in_the_test_s_transaction() -> None:
    Effect.objects.create(execution_id=0, note="of the test, not committed")
    enqueue("async_orm")
    [execution] = run_pending()
    assert (execution.status, execution.result) == (Status.SUCCESS, 2), execution.errors
    assert connection.in_atomic_block
    assert Effect.objects.count() == 2


class InADjangoTestCase(TestCase):
    def test_jobs_run_in_the_transaction_of_a_testcase(self) -> None:
        enqueue("async_echo", {"a": 1})
        enqueue("async_orm")
        enqueue("atomic_effect")
        results = [(each.status, each.result) for each in run_pending()]
        assert results == [
            (Status.SUCCESS, {"a": 1}),
            (Status.SUCCESS, 1),
            (Status.SUCCESS, None),
        ]
        assert Effect.objects.count() == 2


def test_progress_is_stored() -> None:
    @handler("busy")
    def busy() -> None:
        current_job().progress(3, 10, "counting")

    enqueue("busy")
    [execution] = run_pending()
    assert execution.progress == {"done": 3, "total": 10, "note": "counting"}


def test_an_execution_that_its_handler_deletes_is_not_returned() -> None:
    @handler("vanish")
    def vanish() -> None:
        JobExecution.objects.filter(pk=current_job().id).delete()

    enqueue("vanish")
    kept = enqueue("echo")
    assert run_pending() == [kept]


def test_immediately_run_executions_return_with_their_outcome() -> None:
    with immediate():
        execution = enqueue("effect", {"note": "now"})
        assert (execution.status, execution.result) == (Status.SUCCESS, {"note": "now"})
        assert enqueue_many("echo", [{}, {}]) == 2
        failed = enqueue("fail", max_retry=1)
        assert (failed.status, failed.error_message) == (Status.FAILED, "ValueError: no luck")
    assert not JobExecution.objects.pending().exists()
    assert enqueue("echo").status == Status.PENDING


def test_immediately_leaves_other_queues_alone() -> None:
    waiting = enqueue("echo", queue="other")
    with immediate():
        enqueue("echo")
    waiting.refresh_from_db()
    assert waiting.status == Status.PENDING


def test_an_error_ends_the_immediate_block() -> None:
    with pytest.raises(ZeroDivisionError), immediate():
        raise ZeroDivisionError
    assert enqueue("echo").status == Status.PENDING


def test_each_outcome_is_logged_and_signalled(caplog: pytest.LogCaptureFixture) -> None:
    received = []

    def receive(outcome: Any, **_kwargs: Any) -> None:
        received.append((outcome.attempt.execution_id, outcome.status))

    execution = enqueue("echo")
    signals.execution_settled.connect(receive)
    try:
        with caplog.at_level(logging.INFO, "jobu"):
            run_pending()
    finally:
        signals.execution_settled.disconnect(receive)
    assert received == [(execution.pk, Status.SUCCESS)]
    assert f"execution {execution.pk} (echo, attempt 1): SUCCESS after" in caplog.text
