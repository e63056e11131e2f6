"""Run one handler and decide its outcome. Only an atomic run is written here."""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING

from django.db import DatabaseError, connections, transaction

from jobu import logs, outcomes, signals
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.exceptions import (
    HandlerNotFoundError,
    JobCancelled,
    JobInterrupted,
    JobReleased,
    JobTimeout,
    NotJSONError,
    ParamsError,
    RetryLater,
    TransactionError,
)
from jobu.handlers.context import running
from jobu.handlers.options import MAX_DELAY_SECONDS
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_result
from jobu.masking import mask_quotes
from jobu.queue.settle import settle
from jobu.transactions import write_transaction
from jobu.worker.connections import keep_async_connections
from jobu.worker.interrupts import OUR_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context
    from typing import Any

    from jobu.outcomes import Outcome
    from jobu.worker.run import Run


def execute(run: Run) -> Outcome:
    """Run a synchronous handler in this thread; never raises.

    An interrupt may strike at any bytecode until `run.end()`, but only once.
    """
    outcome: Outcome | None = None
    try:
        try:
            outcome = _run_handler(run)
        except BaseException as raised:  # noqa: BLE001 - whatever a handler raises is its outcome
            run.error = raised
        in_time = run.end()
    except JobInterrupted as raised:
        run.error, in_time = raised, run.end()
    return _conclude(run, outcome, in_time)


async def execute_async(run: Run) -> Outcome:
    """Run an async handler on this event loop; never raises."""
    outcome: Outcome | None = None
    context = copy_context()
    try:
        try:
            outcome = await _run_async_handler(run)
        except BaseException as raised:  # noqa: BLE001 - whatever a handler raises is its outcome
            run.error = raised
        in_time = run.end()
    except JobInterrupted as raised:
        run.error, in_time = raised, run.end()
    run.has_left_traces = _has_left_traces(run, context)
    return _conclude(run, outcome, in_time)


def outcome_of_abandoned(run: Run, error: BaseException, stack: str) -> Outcome:
    """Decide the outcome of a run whose handler is still at `stack` and will not be waited for."""
    return _stamp(run, _outcome_of_error(run, error, stack))


def _outcome_of_error(run: Run, error: BaseException, trace: str = "") -> Outcome:
    """Decide by the error: an interrupt by its kind, any other by the handler's retry rule."""
    attempt = run.attempt
    options = handlers.options_of(attempt.handler_name)
    if isinstance(error, asyncio.CancelledError) and run.interrupt is not None:
        error = run.interrupt().with_traceback(error.__traceback__)
    if isinstance(error, JobCancelled):
        return outcomes.cancelled(attempt)
    if isinstance(error, JobReleased) and run.interrupt is not None:
        return outcomes.released(attempt)
    # An error's text may quote the params.
    mask = partial(mask_quotes, params=attempt.params, names=options.sensitive)
    trace = mask(trace or _traceback(error))
    may_retry: Callable[[int], float] | None = None
    if options.retries(error):
        may_retry = partial(options.retry_delay, attempt)
    if isinstance(error, JobTimeout):
        return outcomes.timed_out(attempt, trace, retry_delay=may_retry)
    if isinstance(error, RetryLater):
        seconds = min(error.seconds, MAX_DELAY_SECONDS)
        if not error.counted:
            return outcomes.put_off(attempt, mask(outcomes.describe(error)), seconds)
        may_retry = lambda _failures: seconds  # noqa: E731
    message = mask(outcomes.describe(error))
    failure = outcomes.failed(attempt, message, trace, retry_delay=may_retry)
    is_conflict = run.is_atomic and dialect_for(settings.DATABASE).is_busy(error)
    lacks_connection = isinstance(error, DatabaseError) and _is_out_of_connections(error)
    return failure._replace(is_conflict=is_conflict, lacks_connection=lacks_connection)


def _run_handler(run: Run) -> Outcome:
    call = _prepare(run)
    if isinstance(call, outcomes.Outcome):
        return call
    with running(run.job):
        if run.is_atomic:
            return _call_atomically(run, call)
        return _succeeded(run, _call(run, call))


async def _run_async_handler(run: Run) -> Outcome:
    call = _prepare(run)
    if isinstance(call, outcomes.Outcome):
        return call
    with running(run.job):
        try:
            return _succeeded(run, await call())
        finally:
            _end_if_forked(run)
            if left := run.job.cancel_tasks():
                logs.tasks_left(run.attempt, left)
            await keep_async_connections()


def _call(run: Run, call: Callable[[], Any]) -> Any:
    try:
        return call()
    finally:
        _end_if_forked(run)


def _end_if_forked(run: Run) -> None:
    """End the child of a handler that forked and returned in both processes.

    The run, its outcome and the connections to the database belong to the parent.
    """
    if run.is_in_child():
        try:
            logs.forked(run.attempt)
        finally:
            os._exit(os.EX_SOFTWARE)


def _prepare(run: Run) -> Callable[[], Any] | Outcome:
    """Find the handler and fit its params; return a failure if that can never work."""
    attempt = run.attempt
    if run.interrupt is not None:
        raise run.interrupt
    logs.started(attempt)
    signals.send(signals.execution_started, attempt=attempt)
    try:
        spec = run.spec or handlers[attempt.handler_name]
        return spec.bind(attempt.params)
    except (HandlerNotFoundError, ParamsError) as error:
        failure = outcomes.failed(attempt, outcomes.describe(error), "", retry_delay=None)
        return _stamp(run, failure)


def _call_atomically(run: Run, call: Callable[[], Any]) -> Outcome:
    """Run and settle in one transaction: the effects are there if and only if it is SUCCESS.

    The fence is the settle at the end: if the attempt was rescued meanwhile, it rolls back.
    """
    alias = settings.DATABASE
    with write_transaction(alias):
        connection = connections[alias]
        depth = len(connection.atomic_blocks)
        run.session_id = dialect_for(alias).session_id(connection)
        outcome = _succeeded(run, _call(run, call))
        if connections[alias] is not connection or len(connection.atomic_blocks) != depth:
            # Our commit would only end the transaction that the handler left open inside ours.
            raise TransactionError(f"The handler left a transaction on {alias} open.")
        if outcome.error is not None:
            transaction.set_rollback(True, using=alias)
            return outcome
        settle([outcome])
        # After `end()` nothing stops the commit. A run that was interrupted must not commit; nor
        # must one that was disowned, because then the row belongs to another execution.
        if run.is_disowned or not run.end():
            raise run.interrupt or JobInterrupted
    return outcome._replace(is_stored=True)


def _succeeded(run: Run, result: Any) -> Outcome:
    try:
        encoded = encode_result(result)
    except NotJSONError as error:
        # The work is done; another run would have the same kind of result.
        return _stamp(run, outcomes.failed(run.attempt, str(error), "", retry_delay=None))
    return outcomes.succeeded(
        run.attempt,
        encoded,
        progress=run.job.last_progress,
        started=run.started,
        finished=time.monotonic(),
    )


def _conclude(run: Run, outcome: Outcome | None, in_time: bool) -> Outcome:
    """Return the outcome of the run; never raises."""
    # Its traceback holds the frame that has the run: together they would keep all that the handler
    # had in memory.
    error, run.error = run.error, None
    if error is None and in_time and outcome is not None:
        return outcome
    try:
        return _decide(run, outcome, error, in_time)
    except BaseException as failure:  # noqa: BLE001 - a run without an outcome would keep its slot
        message = (
            f"No outcome could be made of {type(error).__name__}: {outcomes.describe(failure)}"
        )
        logs.unexpected("Deciding an outcome", RuntimeError(message))
        return _stamp(run, outcomes.failed(run.attempt, message, "", retry_delay=None))


def _decide(
    run: Run, outcome: Outcome | None, error: BaseException | None, in_time: bool
) -> Outcome:
    was_hit = isinstance(error, (JobInterrupted, asyncio.CancelledError))
    if not in_time and not was_hit and run.interrupt not in (None, JobReleased):
        # The handler swallowed its interrupt, or ended before it could strike. Its own outcome
        # counts only if the worker just wanted it to end.
        error = run.interrupt()
    if isinstance(error, JobInterrupted) and run.was_struck() and run.interrupt is None:
        # The interrupt was meant for a handler that blocked the event loop a moment ago.
        error, outcome = None, outcomes.released(run.attempt)
    if error is not None or outcome is None:
        outcome = _outcome_of_error(run, error or JobInterrupted())
    return _stamp(run, outcome)


def _stamp(run: Run, outcome: Outcome) -> Outcome:
    return outcome._replace(
        started=run.started,
        finished=outcome.finished or time.monotonic(),
        progress=run.job.last_progress,
    )


def _is_out_of_connections(error: BaseException) -> bool:
    return any(dialect_for(alias).is_out_of_connections(error) for alias in connections)


def _traceback(error: BaseException) -> str:
    """Format the error, beginning with the handler's first frame."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith(OUR_FOLDER) and frames.tb_next:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def _has_left_traces(run: Run, context: Context) -> bool:
    """Tell whether the handler changed its context, or its task is about to be cancelled."""
    try:
        return run.task is None or run.task.cancelling() > 0 or copy_context() != context
    except Exception:  # noqa: BLE001 - two values of a variable need not be comparable
        return True
