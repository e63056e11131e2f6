"""The slots by themselves, without a database."""

from __future__ import annotations

import uuid

from jobu.attempts import Attempt
from jobu.outcomes import Status
from jobu.worker.pool import Pool
from tests.project.shop.jobs import TURNS
from tests.workers import wait_until


def test_async_handlers_that_never_await_let_others_have_their_turn() -> None:
    TURNS.clear()
    handlers = ["async_wants_a_turn", *["async_never_awaits"] * 20]
    pool = Pool(2, name="pool", batch_size=100, max_wait=60, on_batch=lambda: None)
    pool.add([attempt(number, handler) for number, handler in enumerate(handlers)])
    wait_until(lambda: not (pool.has_waiting() or pool.runs()), "the end of all handlers")
    pool.close()
    assert {outcome.status for outcome in pool.take_outcomes()} == {Status.SUCCESS}
    assert TURNS.index("had its turn") < 10


def attempt(number: int, handler: str) -> Attempt:
    return Attempt(number, 1, uuid.uuid4(), handler, {}, "default", 0, 1, 60)
