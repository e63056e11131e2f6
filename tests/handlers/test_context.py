"""What a running handler can know about its own run."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from jobu import current_job
from jobu.attempts import Attempt
from jobu.exceptions import JobuError, NoCurrentJobError
from jobu.handlers.context import MAX_NOTE_LENGTH, CurrentJob, running

DAY = 86_400


def make_job(execution_id: int = 7, timeout_seconds: int = DAY) -> CurrentJob:
    return CurrentJob(
        Attempt(
            execution_id=execution_id,
            number=2,
            claimed_by=uuid.uuid4(),
            handler_name="mail",
            params={},
            queue="post",
            retry_count=1,
            max_retry=3,
            timeout_seconds=timeout_seconds,
        )
    )


def test_outside_of_a_job_there_is_no_current_one() -> None:
    with pytest.raises(NoCurrentJobError) as caught:
        current_job()
    assert str(caught.value) == "current_job() works only while a handler runs; no job runs here."
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, JobuError)


def test_inside_of_a_run_the_job_is_the_one_that_runs() -> None:
    job = make_job()
    with running(job):
        assert current_job() is job
    with pytest.raises(NoCurrentJobError):
        current_job()


def test_after_an_inner_run_the_outer_job_is_current_again() -> None:
    outer, inner = make_job(1), make_job(2)
    with running(outer):
        with suppress(ValueError), running(inner):
            assert current_job() is inner
            raise ValueError
        assert current_job() is outer


def test_another_thread_is_outside_of_the_job() -> None:
    found: list[object] = []

    def look() -> None:
        try:
            found.append(current_job())
        except NoCurrentJobError as error:
            found.append(error)

    with running(make_job()):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert isinstance(found[0], NoCurrentJobError)


def test_each_task_on_an_event_loop_has_its_own_job() -> None:
    async def run(execution_id: int, both_run: asyncio.Barrier) -> int:
        with running(make_job(execution_id)):
            await both_run.wait()
            return current_job().id

    async def main() -> list[int]:
        barrier = asyncio.Barrier(2)
        return await asyncio.gather(run(1, barrier), run(2, barrier))

    assert asyncio.run(main()) == [1, 2]


def test_a_job_knows_its_execution() -> None:
    job = make_job()
    assert (job.id, job.attempt, job.handler_name, job.queue) == (7, 2, "mail", "post")
    assert job.cancel_requested is False
    assert job.last_progress is None


def test_the_deadline_is_the_timeout_from_the_start() -> None:
    deadline = make_job(timeout_seconds=DAY).deadline
    assert deadline.tzinfo is UTC
    assert abs(deadline - datetime.now(UTC) - timedelta(days=1)) < timedelta(hours=1)


def test_the_remaining_seconds_shrink_from_the_timeout() -> None:
    job = make_job(timeout_seconds=DAY)
    first = job.remaining_seconds
    assert DAY / 2 < first <= DAY
    assert job.remaining_seconds <= first


def test_past_the_deadline_nothing_remains() -> None:
    job = make_job()
    job.ends_at = time.monotonic() - 5
    assert job.remaining_seconds == 0.0
    assert job.deadline < datetime.now(UTC)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((3,), {"done": 3, "total": None, "note": ""}),
        ((2**60 + 1,), {"done": 2**60 + 1, "total": None, "note": ""}),
        ((0, 10), {"done": 0, "total": 10, "note": ""}),
        ((0.5, 1.0, "halfway"), {"done": 0.5, "total": 1.0, "note": "halfway"}),
        ((1, 2, ValueError("as text")), {"done": 1, "total": 2, "note": "as text"}),
        ((1, 2, "nul \0 and \ud800"), {"done": 1, "total": 2, "note": "nul \\x00 and \\ud800"}),
    ],
)
def test_progress_is_kept_as_json(arguments: tuple[Any, ...], expected: dict[str, Any]) -> None:
    job = make_job()
    job.progress(*arguments)
    assert job.last_progress == expected


def test_the_latest_progress_wins() -> None:
    job = make_job()
    job.progress(1, 10, "first")
    job.progress(2)
    assert job.last_progress == {"done": 2, "total": None, "note": ""}


def test_a_long_note_is_shortened_to_what_is_stored() -> None:
    job = make_job()
    job.progress(1, note="a" * MAX_NOTE_LENGTH + "z" * MAX_NOTE_LENGTH)
    assert job.last_progress is not None
    note = job.last_progress["note"]
    assert len(note) <= MAX_NOTE_LENGTH
    assert note.startswith("aaa")
    assert note.endswith("zzz")
    assert "characters left out" in note


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_progress_that_json_cannot_hold_is_refused(number: float) -> None:
    job = make_job()
    expected = f"progress\\(\\) takes finite numbers, not {number!r}"
    with pytest.raises(ValueError, match=expected):
        job.progress(number)
    with pytest.raises(ValueError, match=expected):
        job.progress(1, number)
    assert job.last_progress is None


def test_progress_in_other_kinds_of_numbers_becomes_json() -> None:
    job = make_job()
    job.progress(Decimal("0.5"), True)
    assert json.dumps(job.last_progress) == '{"done": 0.5, "total": 1.0, "note": ""}'


@pytest.mark.parametrize("done", ["5", None, [1]])
def test_progress_in_anything_but_numbers_is_refused(done: Any) -> None:
    job = make_job()
    with pytest.raises(TypeError):
        job.progress(done)
    assert job.last_progress is None
