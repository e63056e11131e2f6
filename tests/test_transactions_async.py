"""Transactions over one or several databases in async code, on real ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from asgiref.sync import (
    AsyncToSync,
    SyncToAsync,
    ThreadSensitiveContext,
    async_to_sync,
    sync_to_async,
)
from django.db import DatabaseError, connections, transaction

from jobu import Worker, cancel, enqueue, handler, transactional, transactional_readonly
from jobu.exceptions import TransactionError
from jobu.models import Status
from jobu.orm_thread import calling_task, note_callers
from tests.project.shop.models import Effect
from tests.test_transactions import BOTH, notes, write, write_and_doom
from tests.waiting import wait_for_end, wait_until
from tests.worker.conftest import start_worker

__all__ = ["start_worker"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

Main = Callable[[], Coroutine[Any, Any, Any]]


def in_main_thread(main: Main) -> Any:
    return async_to_sync(main)()


def in_thread_of_all(main: Main) -> Any:
    async def closing() -> Any:
        try:
            return await main()
        finally:
            await sync_to_async(connections.close_all)()

    return asyncio.run(closing())


def in_thread_of_its_own(main: Main) -> Any:
    async def with_context() -> Any:
        async with ThreadSensitiveContext():
            try:
                return await main()
            finally:
                await sync_to_async(connections.close_all)()

    return asyncio.run(with_context())


@pytest.fixture(params=[in_main_thread, in_thread_of_all, in_thread_of_its_own])
def run(request: pytest.FixtureRequest) -> Callable[[Main], Any]:
    """Run a coroutine in each of the ways in which asgiref finds a thread for the ORM."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def fresh_connections(_django_db_helper: None) -> Iterator[None]:
    yield
    connections.close_all()


async def awrite(note: str, *aliases: str) -> None:
    for alias in aliases or BOTH:
        await Effect.objects.using(alias).acreate(execution_id=1, note=note)


def nothing_is_open() -> bool:
    return not any(connections[alias].in_atomic_block for alias in BOTH)


def test_a_block_commits_on_every_database(run: Callable[[Main], Any]) -> None:
    async def main() -> None:
        async with transactional(*BOTH):
            await awrite("kept")
            assert not await sync_to_async(nothing_is_open)()
        assert await sync_to_async(nothing_is_open)()

    run(main)
    assert notes("default") == notes("other") == ["kept"]


def test_an_error_rolls_back_every_database(run: Callable[[Main], Any]) -> None:
    async def main() -> None:
        async with transactional(*BOTH):
            await awrite("gone")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(main)
    assert notes("default") == notes("other") == []


def test_a_decorated_async_function_runs_in_a_transaction_each_time(
    run: Callable[[Main], Any],
) -> None:
    @transactional(*BOTH)
    async def store(note: str, *, fail: bool = False) -> str:
        await awrite(note)
        if fail:
            raise ValueError(note)
        return note.upper()

    async def main() -> None:
        assert await store("first") == "FIRST"
        with pytest.raises(ValueError, match="second"):
            await store("second", fail=True)
        assert await store("third") == "THIRD"

    assert asyncio.iscoroutinefunction(store)
    run(main)
    assert notes("default") == notes("other") == ["first", "third"]


def test_an_inner_block_is_a_savepoint_of_the_outer_one(run: Callable[[Main], Any]) -> None:
    async def main() -> None:
        async with transactional(*BOTH):
            await awrite("outer")
            with pytest.raises(ZeroDivisionError):  # noqa: PT012
                async with transactional(*BOTH):
                    await awrite("inner")
                    raise ZeroDivisionError
            await sync_to_async(write)("after", *BOTH)

    run(main)
    assert notes("default") == notes("other") == ["after", "outer"]


def test_a_commit_that_fails_after_another_names_both() -> None:
    async def main() -> None:
        async with transactional(*BOTH):
            await sync_to_async(write_and_doom)("half", "other")

    with pytest.raises(TransactionError, match="Committed on default, but not on other: "):
        in_main_thread(main)
    assert (notes("default"), notes("other")) == (["half"], [])
    assert nothing_is_open()


def test_a_readonly_block_refuses_writes_and_leaves_the_databases_writable(
    run: Callable[[Main], Any],
) -> None:
    @transactional_readonly(*BOTH)
    async def read() -> int:
        return await Effect.objects.using("other").acount()

    async def main() -> None:
        assert await read() == 0
        with pytest.raises(DatabaseError):
            async with transactional_readonly(*BOTH):
                await awrite("refused", "other")
        await awrite("kept", "other")
        with pytest.raises(TransactionError, match="already open on other"):
            async with transactional("other"), transactional_readonly("other"):
                pytest.fail("It must not get here.")

    run(main)
    assert notes("other") == ["kept"]


@pytest.mark.parametrize("is_caught", [False, True])
def test_calls_of_other_tasks_inside_a_block_are_refused_in_words(
    run: Callable[[Main], Any], is_caught: bool
) -> None:
    async def main() -> None:
        async with transactional(*BOTH):
            await awrite("gone")
            await asyncio.gather(
                awrite("gone", "default"), awrite("gone", "other"), return_exceptions=is_caught
            )

    with pytest.raises(TransactionError, match=r"only its own task may use the ORM: await the ca"):
        run(main)
    assert notes("default") == notes("other") == []


def test_a_task_that_is_no_child_of_the_block_does_not_write_into_it_either(
    run: Callable[[Main], Any],
) -> None:
    async def main() -> None:
        is_open, is_refused = asyncio.Event(), asyncio.Event()

        async def stranger(use: Callable[[], Coroutine[Any, Any, None]]) -> None:
            await is_open.wait()
            with pytest.raises(TransactionError, match="A transaction of another task is open on"):
                await use()
            is_refused.set()

        @transactional("default")
        async def store() -> None:
            await awrite("no", "default")

        for use in (store, lambda: awrite("no", "default")):
            task = asyncio.create_task(stranger(use))
            with pytest.raises(TransactionError):  # noqa: PT012
                async with transactional("default"):
                    is_open.set()
                    await is_refused.wait()
            await task
            is_open.clear()
            is_refused.clear()
        await awrite("kept", "default")

    run(main)
    assert notes("default") == ["kept"]


def test_blocks_on_different_databases_may_be_open_at_once(run: Callable[[Main], Any]) -> None:
    async def store(alias: str) -> None:
        async with transactional(alias):
            await awrite(alias, alias)
            await asyncio.sleep(0)
            await awrite(alias, alias)

    async def main() -> None:
        await asyncio.gather(*map(store, BOTH))

    run(main)
    assert (notes("default"), notes("other")) == (["default"] * 2, ["other"] * 2)


class Halted:
    """A statement that waits in the ORM's thread until it is let go."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if sql.startswith("INSERT"):
            self.reached.set()
            assert self.go_on.wait(30)
        return result


def test_a_cancellation_in_the_middle_of_a_statement_rolls_back() -> None:
    halted = Halted()

    def write_haltingly() -> None:
        with connections["other"].execute_wrapper(halted):
            write("gone", *BOTH)

    async def block() -> None:
        async with transactional(*BOTH):
            await sync_to_async(write_haltingly)()

    async def main() -> None:
        task = asyncio.create_task(block())
        await asyncio.to_thread(halted.reached.wait, 30)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        halted.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await sync_to_async(nothing_is_open)()

    in_thread_of_its_own(main)
    assert notes("default") == notes("other") == []


@pytest.mark.parametrize("phase", ["__enter__", "__exit__"])
def test_a_cancellation_while_it_begins_or_ends_leaves_nothing_open(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    original = getattr(transactional, phase)

    def halting(self: Any, *arguments: Any) -> None:
        reached.set()
        assert go_on.wait(30)
        original(self, *arguments)

    async def block() -> None:
        async with transactional(*BOTH):
            monkeypatch.undo()
            await awrite("whole")

    async def main() -> None:
        task = asyncio.create_task(block())
        await asyncio.to_thread(reached.wait, 30)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await sync_to_async(nothing_is_open)()

    monkeypatch.setattr(transactional, phase, halting)
    if phase == "__exit__":

        async def block() -> None:
            async with transactional(*BOTH):
                await awrite("whole")

    in_thread_of_its_own(main)
    # What had begun to commit is committed, on both.
    assert notes("default") == notes("other") == ([] if phase == "__enter__" else ["whole"])


@pytest.mark.usefixtures("temporary_handlers")
@pytest.mark.parametrize("way", ["timeout", "cancel"])
def test_a_handler_that_is_interrupted_in_a_block_leaves_nothing_behind(
    start_worker: Callable[..., Worker], way: str
) -> None:
    inside = threading.Event()

    @handler("halfway", max_retry=1, timeout_seconds=1 if way == "timeout" else 60)
    @transactional("other")
    async def halfway() -> None:
        await awrite("gone", "other")
        inside.set()
        await asyncio.sleep(60)

    execution = enqueue("halfway")
    start_worker()
    wait_until(inside.is_set, "the block")
    if way == "cancel":
        cancel(execution)
    expected = Status.TIMEOUT if way == "timeout" else Status.CANCELLED
    assert wait_for_end(execution).status == expected
    assert notes("other") == []


@pytest.mark.usefixtures("temporary_handlers")
def test_slots_have_transactions_of_their_own(start_worker: Callable[..., Worker]) -> None:
    @handler("own_block")
    async def own_block(note: str, fails: bool) -> None:
        async with transactional("other"):
            await awrite(note, "other")
            await asyncio.sleep(0.01)
            if fails:
                raise ValueError

    executions = [
        enqueue("own_block", {"note": str(n), "fails": n % 2 == 1}, max_retry=1) for n in range(8)
    ]
    start_worker(pool_size=4)
    for execution in executions:
        wait_for_end(execution)
    assert notes("other") == ["0", "2", "4", "6"]


def test_asgiref_sync_to_async_runs_in_the_executors_that_orm_thread_knows() -> None:
    """`jobu.orm_thread` notes the caller where asgiref hands a function to its executor."""

    async def main() -> None:
        await note_callers()
        assert await sync_to_async(calling_task)() is asyncio.current_task()
        other = asyncio.create_task(sync_to_async(calling_task)())
        assert await other is other

    for way in (in_main_thread, in_thread_of_all, in_thread_of_its_own):
        way(main)
    names = ("thread_sensitive_context", "context_to_thread_executor", "single_thread_executor")
    assert all(hasattr(SyncToAsync, name) for name in names)
    assert all(hasattr(AsyncToSync, name) for name in ("executors", "loop_thread_executors"))


def test_django_execute_wrappers_see_savepoints() -> None:
    """A foreign task's inner block is refused because its SAVEPOINT is a statement like others."""
    seen = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        seen.append(sql.split()[0])
        return execute(sql, *rest)

    with transaction.atomic(), connections["default"].execute_wrapper(note), transaction.atomic():
        pass
    assert seen[0] == "SAVEPOINT"
