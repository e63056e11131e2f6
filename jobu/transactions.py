"""Transactions over one or several databases.

Across two databases there is no atomic commit: each commits for itself, one after the other. If
one fails after another succeeded, `TransactionError` names both; see docs/guarantees.md.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from contextlib import ContextDecorator, ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from django.db import connections, transaction

from jobu.dialects import dialect_of
from jobu.exceptions import JobuError, TransactionError
from jobu.orm_thread import calling_task, note_callers, run_to_the_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from django.db.backends.base.base import BaseDatabaseWrapper

_F = TypeVar("_F", bound="Callable[..., Any]")


def get_connection(alias: str) -> BaseDatabaseWrapper:
    """Return Django's connection of this thread to the database `alias`, open and usable."""
    _check_aliases((alias,))
    connection = connections[alias]
    connection.ensure_connection()
    return connection


@contextmanager
def write_transaction(alias: str) -> Iterator[None]:
    """Open a transaction that will write, or a savepoint in the one that is open."""
    connection = connections[alias]
    atomic = transaction.atomic(using=alias)
    with dialect_of(connection).writing(connection):
        atomic.__enter__()
    try:
        yield
    except BaseException as error:
        atomic.__exit__(type(error), error, error.__traceback__)
        raise
    atomic.__exit__(None, None, None)


class transactional(ContextDecorator):  # noqa: N801 - read as a verb: with transactional("a", "b")
    """Commit on every named database, or roll back on every one if the block raises.

    In async code it is `async with`, or decorates an `async def`. Then the ORM calls of the block
    are those of its own task, one after the other.
    """

    def __init__(self, *aliases: str) -> None:
        _check_aliases(aliases or ("default",))
        self._aliases = tuple(dict.fromkeys(aliases or ("default",)))
        self._atomics: list[tuple[str, transaction.Atomic]] = []
        self._guards = ExitStack()
        self._refusal: TransactionError | None = None

    def __call__(self, function: _F) -> _F:
        if inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{type(self).__name__} cannot wrap the async generator {function.__qualname__}: "
                f"write 'async with {type(self).__name__}(…)' inside it."
            )
        if not inspect.iscoroutinefunction(function):
            return super().__call__(function)

        @functools.wraps(function)
        async def in_transaction(*args: Any, **kwargs: Any) -> Any:
            async with self._recreate_cm():
                return await function(*args, **kwargs)

        return cast("_F", in_transaction)

    def _recreate_cm(self) -> Self:
        # One instance decorates a function that may run in several threads or call itself.
        return type(self)(*self._aliases)

    def __enter__(self) -> None:
        try:
            for alias in self._aliases:
                self._begin(alias)
        except BaseException as error:
            self._roll_back(error)
            raise

    def __exit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._roll_back(error)
        elif any(connections[alias].needs_rollback for alias in self._aliases):
            self._mark_for_rollback()
            self._commit()
        else:
            self._commit()

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - this is a coroutine
        self._task = task
        await note_callers()
        try:
            await run_to_the_end(task, self._enter_guarded)
        except asyncio.CancelledError as error:
            await run_to_the_end(task, partial(self._exit_guarded, error))
            raise

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await run_to_the_end(self._task, partial(self._exit_guarded, error))

    def _enter_guarded(self) -> None:
        self.__enter__()
        for alias in self._aliases:
            self._guards.enter_context(connections[alias].execute_wrapper(self._guard))

    def _exit_guarded(self, error: BaseException | None) -> None:
        self._guards.close()
        if error is None and self._refusal is not None:
            # The task that was refused may have kept it to itself.
            error = self._refusal
            self._roll_back(error)
            raise error
        self.__exit__(None if error is None else type(error), error, None)

    def _guard(self, execute: Callable[..., Any], *statement: Any) -> Any:
        """Let only the block's own task through: another one's statement would be part of it."""
        if calling_task() is not self._task:
            self._refusal = TransactionError(
                f"A transaction of another task is open on {', '.join(self._aliases)}. Inside a "
                "transactional block only its own task may use the ORM: await the calls one after "
                "the other there, without gather() and create_task(). All of it is rolled back."
            )
            raise self._refusal
        return execute(*statement)

    def _begin(self, alias: str) -> None:
        connection = connections[alias]
        with dialect_of(connection).writing(connection):
            self._enter(alias)

    def _enter(self, alias: str) -> None:
        atomic = transaction.atomic(using=alias)
        atomic.__enter__()
        self._atomics.append((alias, atomic))

    def _exit(self, _alias: str, atomic: transaction.Atomic, error: BaseException | None) -> None:
        traceback = error.__traceback__ if error else None
        atomic.__exit__(type(error) if error else None, error, traceback)

    def _commit(self) -> None:
        committed: list[str] = []
        while self._atomics:
            alias, atomic = self._atomics.pop(0)
            try:
                self._exit(alias, atomic, None)
            except Exception as error:
                self._roll_back(error)
                if not committed:
                    raise
                raise TransactionError(
                    f"Committed on {', '.join(committed)}, but not on {alias}: {error}"
                ) from error
            committed.append(alias)

    def _roll_back(self, error: BaseException) -> None:
        """Roll back every database, even if one of them fails to."""
        failure: BaseException | None = None
        while self._atomics:
            alias, atomic = self._atomics.pop()
            try:
                self._exit(alias, atomic, error)
            except Exception as another:  # noqa: BLE001 - raised below, once all have had their turn
                failure = another
        if failure is not None:
            raise failure from error

    def _mark_for_rollback(self) -> None:
        for alias in self._aliases:
            connections[alias].needs_rollback = True


class transactional_readonly(transactional):  # noqa: N801
    """Read from every named database in a transaction that refuses to write."""

    def _begin(self, alias: str) -> None:
        connection = connections[alias]
        enforced = not connection.in_atomic_block
        if not enforced and not _is_only_in_testcase(connection):
            raise TransactionError(
                f"A transaction is already open on {alias}; transactional_readonly "
                "must be the outermost one, because a database cannot make half of one read-only."
            )
        self._enter(alias)
        if enforced:
            dialect_of(connection).begin_readonly(connection)

    def _exit(self, alias: str, atomic: transaction.Atomic, error: BaseException | None) -> None:
        try:
            super()._exit(alias, atomic, error)
        finally:
            connection = connections[alias]
            if not connection.in_atomic_block and connection.connection is not None:
                dialect_of(connection).end_readonly(connection)


def _is_only_in_testcase(connection: BaseDatabaseWrapper) -> bool:
    """Tell whether every open transaction is one that Django's TestCase wraps around a test."""
    return all(getattr(block, "_from_testcase", False) for block in connection.atomic_blocks)


def _check_aliases(aliases: tuple[str, ...]) -> None:
    known = list(connections)
    for alias in aliases:
        if not isinstance(alias, str):
            raise TypeError(
                f"Name databases by their alias, as in transactional('default'), not {alias!r}."
            )
        if alias not in known:
            raise JobuError(f"DATABASES has no {alias!r}; it has {', '.join(sorted(known))}.")
