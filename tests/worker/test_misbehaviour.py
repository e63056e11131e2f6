"""Handlers that do what they should not: each ends by the rule, and the next sees nothing of it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
from django.db import connection, connections

from jobu import Worker, enqueue
from jobu.models import LogLine, Status
from tests.project.shop import misbehaviour
from tests.waiting import wait_for_end, wait_until

StartWorker = Callable[..., Worker]

KINDS = ("misbehave", "atomic_misbehave", "async_misbehave")
WITH_THE_DATABASE = (
    "leave_transaction_open",
    "leave_transaction_broken",
    "leave_autocommit_off",
    "leave_transaction_of_sql",
    "leave_setting",
    "leave_setting_by_function",
    "leave_temporary_table",
    "leave_lock",
    "leave_server_cursor",
    "leave_isolation_level",
    "leave_hooks",
    "leave_foreign_connection",
    "close_all_connections",
    "close_driver",
)


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    misbehaviour.RELEASE.clear()
    yield
    misbehaviour.RELEASE.set()
    misbehaviour.KEPT.clear()


@pytest.fixture(params=[0, 60], ids=["closed", "kept"])
def _connections(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close connections after each job, and keep them."""
    for alias in connections:
        connections.settings[alias]["CONN_MAX_AGE"] = request.param
    yield
    for alias in connections:
        connections.settings[alias]["CONN_MAX_AGE"] = 0


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_handler_raises_its_execution_fails_and_says_why(
    start_worker: StartWorker, kind: str
) -> None:
    start_worker(pool_size=1)
    ways = ["recurse", *misbehaviour.ERRORS]
    executions = {way: enqueue(kind, {"way": way}, max_retry=2) for way in ways}
    for way, execution in executions.items():
        assert wait_for_end(execution).status == Status.FAILED, way
        assert (execution.attempt, execution.retry_count) == (2, 2), way
        assert execution.error_message, way
        assert len(execution.error_message) <= 2_000, way
        assert all("misbehaviour.py" in error["traceback"] for error in execution.errors), way
    assert executions["nul"].error_message == r"ValueError: a NUL \x00 in it"
    assert executions["surrogate"].error_message == r"ValueError: a lone \ud800 in it"
    assert executions["keyboard_interrupt"].error_message == "KeyboardInterrupt"
    assert executions["chain"].error_message == "ValueError: error 1999"
    assert executions["released"].error_message == "jobu.exceptions.JobReleased"
    assert wait_for_end(enqueue("look_around")).status == Status.SUCCESS


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_that_cannot_be_stored_fails_once_and_says_why(
    start_worker: StartWorker, kind: str
) -> None:
    start_worker(pool_size=1)
    executions = [enqueue(kind, {"way": way}, max_retry=3) for way in misbehaviour.RESULTS]
    for execution in executions:
        assert wait_for_end(execution).status == Status.FAILED
        assert execution.attempt == 1, execution.params
        assert execution.error_message.startswith("The handler's result ")
        assert len(execution.error_message) <= 2_000
    assert wait_for_end(enqueue("look_around")).status == Status.SUCCESS


def test_large_results_are_stored(start_worker: StartWorker) -> None:
    start_worker()
    executions = [enqueue("misbehave", {"way": "return_a_megabyte"}) for _ in range(20)]
    for execution in executions:
        assert wait_for_end(execution).status == Status.SUCCESS
        assert execution.result == misbehaviour.return_a_megabyte()


@pytest.mark.usefixtures("_connections")
@pytest.mark.parametrize("kind", ["misbehave", "atomic_misbehave"])
@pytest.mark.parametrize("way", [*WITH_THE_DATABASE, "leave_context"])
def test_the_next_job_in_the_slot_sees_nothing_of_it(
    start_worker: StartWorker, kind: str, way: str
) -> None:
    begins = way == "leave_transaction_of_sql" or (
        way == "leave_lock" and connection.vendor == "sqlite"
    )
    if kind == "atomic_misbehave" and begins:
        pytest.skip("A BEGIN inside of a transaction begins none.")
    start_worker(pool_size=1)
    before = wait_for_end(enqueue("look_around"))
    wait_for_end(enqueue(kind, {"way": way}))
    after = wait_for_end(enqueue("look_around"))
    assert (after.status, after.error_message) == (Status.SUCCESS, "")
    assert after.result == before.result


def test_a_temporary_table_is_gone_when_the_next_job_makes_it(start_worker: StartWorker) -> None:
    start_worker(pool_size=1)
    for _ in range(2):
        execution = wait_for_end(
            enqueue("misbehave", {"way": "leave_temporary_table"}, max_retry=1)
        )
        assert (execution.status, execution.error_message) == (Status.SUCCESS, "")


@pytest.mark.parametrize(
    "way",
    [
        "leave_context",
        "leave_task",
        "leave_transaction_in_thread",
        "leave_foreign_connection_in_thread",
        "leave_hooks_in_thread",
        "exit_in_task",
        "exit_in_callback",
        "stop_loop",
        "cancel_itself",
    ],
)
def test_the_next_async_job_in_the_slot_sees_nothing_of_it(
    start_worker: StartWorker, way: str
) -> None:
    start_worker(pool_size=1)
    before = wait_for_end(enqueue("async_look_around"))
    wait_for_end(enqueue("async_misbehave", {"way": way}))
    after = [wait_for_end(enqueue("async_look_around")) for _ in range(3)]
    assert [execution.error_message for execution in after] == [""] * 3
    assert [execution.result for execution in after] == [before.result] * 3


def test_an_event_loop_that_a_handler_has_broken_is_replaced(
    start_worker: StartWorker, caplog: pytest.LogCaptureFixture
) -> None:
    worker = start_worker(pool_size=2)
    execution = wait_for_end(enqueue("async_misbehave", {"way": "break_loop"}))
    assert (execution.status, execution.attempt) == (Status.FAILED, 1)
    assert execution.error_message == "OSError: [Errno 9] Bad file descriptor"
    assert "await asyncio.sleep(3600)" in execution.errors[0]["traceback"]
    assert wait_for_end(enqueue("async_look_around")).status == Status.SUCCESS
    assert worker._slots.abandoned() == 1
    assert caplog.text.count("The event loop failed unexpectedly") == 1


def test_an_atomic_handler_that_leaves_a_transaction_open_fails_and_has_no_effect(
    start_worker: StartWorker,
) -> None:
    start_worker()
    execution = wait_for_end(enqueue("atomic_misbehave", {"way": "leave_transaction_open"}))
    assert execution.status == Status.FAILED
    assert "left a transaction on default open" in execution.error_message
    assert wait_for_end(enqueue("look_around")).result["left"] == 0


def test_tasks_that_a_handler_leaves_behind_are_cancelled_unless_they_have_a_context_of_their_own(
    start_worker: StartWorker, caplog: pytest.LogCaptureFixture
) -> None:
    start_worker(pool_size=1)
    execution = wait_for_end(enqueue("async_misbehave", {"way": "leave_task"}))
    assert execution.status == Status.SUCCESS
    left, independent = misbehaviour.KEPT
    wait_until(left.cancelled, "the end of the task")
    assert not independent.done()
    independent.get_loop().call_soon_threadsafe(independent.cancel)
    assert "left 1 tasks behind, which are cancelled: left" in caplog.text


def test_an_async_handler_that_swallows_its_cancellation_counts_as_abandoned(
    start_worker: StartWorker,
) -> None:
    worker = start_worker(pool_size=2)
    execution = enqueue("async_misbehave", {"way": "swallow_cancellation"}, timeout_seconds=1)
    assert wait_for_end(execution).status == Status.TIMEOUT
    assert worker._slots.abandoned() == 1
    assert wait_for_end(enqueue("async_look_around")).status == Status.SUCCESS
    misbehaviour.RELEASE.set()
    wait_until(lambda: not worker._slots.abandoned(), "the end of the handler")


def test_a_thread_that_an_async_handler_leaves_blocked_holds_nobody_else_up(
    start_worker: StartWorker,
) -> None:
    start_worker(pool_size=2)
    execution = enqueue("async_misbehave", {"way": "leave_blocked_thread"}, timeout_seconds=1)
    assert wait_for_end(execution).status == Status.TIMEOUT
    assert wait_for_end(enqueue("async_look_around")).status == Status.SUCCESS


def test_a_thread_that_a_handler_leaves_behind_is_none_of_the_next_ones_business(
    start_worker: StartWorker,
) -> None:
    start_worker(pool_size=1)
    assert wait_for_end(enqueue("misbehave", {"way": "leave_thread"})).status == Status.SUCCESS
    assert wait_for_end(enqueue("look_around")).status == Status.SUCCESS


def test_of_too_many_log_lines_the_first_and_the_last_are_kept(start_worker: StartWorker) -> None:
    worker = start_worker(pool_size=1)
    execution = wait_for_end(enqueue("misbehave", {"way": "log_much"}))
    assert execution.status == Status.SUCCESS
    worker.stop()
    lines = list(LogLine.objects.filter(execution=execution).values_list("message", flat=True))
    assert (lines[0], lines[-1], len(lines)) == ("line 0", "line 99999", 1_001)


def test_of_much_progress_the_last_is_kept(start_worker: StartWorker) -> None:
    start_worker(pool_size=1)
    execution = wait_for_end(enqueue("misbehave", {"way": "report_progress_much"}))
    assert execution.status == Status.SUCCESS
    assert execution.progress == {"done": 99_999, "total": 100_000, "note": "step 99999"}


@pytest.mark.parametrize("kind", ["misbehave", "async_misbehave"])
def test_what_a_failed_handler_held_is_free_once_it_has_failed(
    start_worker: StartWorker, kind: str
) -> None:
    start_worker(pool_size=1)
    gc.collect()
    gc.disable()
    try:
        wait_for_end(enqueue(kind, {"way": "hold_and_fail"}))
        wait_for_end(enqueue("look_around"))
        assert not misbehaviour.HELD
    finally:
        gc.enable()
