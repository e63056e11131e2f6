"""The wording and level of every log event, apart from the logic. Logger: `jobu`.

A line about an execution names its id, handler and attempt, in the text and as `extra` fields. Text
from elsewhere is escaped, so that it can neither forge a line nor command a terminal.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jobu.printable import EscapeFilter, Lines, first_line

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from jobu.attempts import Attempt
    from jobu.outcomes import Outcome

logger = logging.getLogger("jobu")
logger.addFilter(EscapeFilter())


def started(attempt: Attempt) -> None:
    _about(logging.DEBUG, attempt, "started")


def settled(outcome: Outcome) -> None:
    """Log the outcome of a run."""
    attempt = outcome.attempt
    if outcome.error is not None:
        _failed(outcome, outcome.error)
    elif not logger.isEnabledFor(logging.INFO):
        # This is the usual case, once for each job: it must cost as little as possible.
        return
    elif not outcome.counted:
        _about(logging.INFO, attempt, "given back unfinished")
    elif outcome.delay is not None:
        text = "will be run again in %.1f s, as it asks: %s"
        _about(logging.INFO, attempt, text, outcome.delay, outcome.message)
    else:
        text = "%s after %.3f s"
        _about(logging.INFO, attempt, text, outcome.status.value, outcome.seconds)


def _failed(outcome: Outcome, error: dict[str, Any]) -> None:
    """Log a failure as an ERROR, whether it will be retried or not.

    Only a conflict that will be retried is a WARNING: it left nothing behind, and on some databases
    conflicts are normal.
    """
    is_retried = outcome.delay is not None
    _about(
        logging.WARNING if outcome.is_conflict and is_retried else logging.ERROR,
        outcome.attempt,
        "%s after %.3f s%s: %s\n%s",
        error["status"],
        outcome.seconds,
        f", will be tried again in {outcome.delay:.1f} s" if is_retried else "",
        outcome.message,
        Lines(error["traceback"]),
    )


def late(outcome: Outcome) -> None:
    text = "late result %s dropped: the execution was rescued from this process meanwhile"
    _about(logging.WARNING, outcome.attempt, text, outcome.status.value)


def forgotten(who: str, keys: Collection[tuple[int, int]]) -> None:
    logger.warning(
        "%s claimed again what it already holds: %s. The database has forgotten the first claims; "
        "their results will be dropped. Did a standby take over that had not seen them?",
        who,
        ", ".join(f"execution {pk} attempt {number}" for pk, number in sorted(keys)),
    )


def rescued(outcome: Outcome) -> None:
    attempt = outcome.attempt
    fate = "will be tried again" if outcome.delay is not None else f"ends {outcome.status.value}"
    text = "rescued from process %s, which stopped beating; %s"
    _about(logging.WARNING, attempt, text, attempt.claimed_by, fate)


def out_of_connections(attempt: Attempt, error: BaseException) -> None:
    text = "the database has no connection left for it (temporary): %s"
    _about(logging.WARNING, attempt, text, error)


def abandoned(attempt: Attempt, reason: str, stack: str) -> None:
    text = "%s, but the handler does not stop; its slot was replaced. It is here:\n%s"
    _about(logging.ERROR, attempt, text, reason, Lines(stack))


def tasks_left(attempt: Attempt, names: list[str]) -> None:
    text = "the handler ended and left %d tasks behind, which are cancelled: %s"
    _about(logging.WARNING, attempt, text, len(names), ", ".join(names[:10]))


def forked(attempt: Attempt) -> None:
    text = "the handler forked and returned in the child, too; the child ends here"
    _about(logging.ERROR, attempt, text)


def unsettleable(attempt: Attempt, error: BaseException) -> None:
    text = "its outcome cannot be stored, it ends FAILED: %s"
    _about(logging.ERROR, attempt, text, first_line(error))


def backoff_broken(attempt: Attempt, error: BaseException) -> None:
    _about(logging.ERROR, attempt, "its backoff function failed, the default is used: %s", error)


def receiver_failed(subject: object, error: BaseException) -> None:
    logger.error("A signal's receiver failed on %r: %s", subject, error, exc_info=error)


def process_started(kind: str, process_id: UUID, description: str) -> None:
    logger.info("%s %s started: %s", kind, process_id, description)


def process_stopping(kind: str, process_id: UUID) -> None:
    logger.info("%s %s stops: it takes nothing new and finishes what it runs", kind, process_id)


def process_stopped(kind: str, process_id: UUID) -> None:
    logger.info("%s %s stopped", kind, process_id)


def process_resurrected(kind: str, process_id: UUID) -> None:
    logger.warning(
        "%s %s was taken for dead by another process and registers again; "
        "the results of its runs meanwhile will be dropped",
        kind,
        process_id,
    )


def database_failed(kind: str, error: BaseException, delay: float) -> None:
    logger.error("%s cannot use the database, tries again in %.1f s: %s", kind, delay, error)


def database_busy(kind: str, error: BaseException, delay: float) -> None:
    logger.warning("%s waits for the database, tries again in %.1f s: %s", kind, delay, error)


def statement_hangs(who: str, seconds: float) -> None:
    logger.error(
        "%s has waited %.0f s for the database's answer; its connection is dropped", who, seconds
    )


def session_unbounded(error: BaseException) -> None:
    logger.warning(
        "The database server refuses time limits for this session: if this machine vanishes, the "
        "rows that it has locked stay locked until the server's own keepalive ends the session: %s",
        error,
    )


def did_not_stop(kind: str, process_id: UUID, seconds: float) -> None:
    text = "%s %s did not stop within %.0f s and exits now; its executions will be rescued"
    logger.error(text, kind, process_id, seconds)


def database_back(kind: str) -> None:
    logger.info("%s can use the database again", kind)


def unexpected(where: str, error: BaseException) -> None:
    logger.error("%s failed unexpectedly and goes on: %s", where, error, exc_info=error)


def loop_restarted(who: str, error: BaseException, delay: float) -> None:
    text = "%s: its loop died of a %s and goes on in %.1f s"
    logger.critical(text, who, type(error).__name__, delay, exc_info=error)


def crashed(who: str, error: BaseException) -> None:
    logger.critical("%s ends because of: %s", who, error, exc_info=error)


def advice(text: str) -> None:
    logger.warning("%s", text)


def too_many_abandoned(count: int) -> None:
    logger.error(
        "%d handlers ignore their interrupt and go on; this worker drains and exits "
        "so that its supervisor starts a fresh one",
        count,
    )


def left_unsettled(count: int) -> None:
    logger.error(
        "%d outcomes could not be stored before the end; their executions will be rescued", count
    )


def lines_lost(count: int, error: BaseException) -> None:
    logger.error("%d log lines of runs could not be stored and are lost: %s", count, error)


def pruned(count: int) -> None:
    logger.info("pruned %d old executions", count)


def cron_skipped(name: str, problem: str) -> None:
    logger.warning("cron job %r is left out until it is corrected: %s", name, problem)


def cron_paused(name: str, reason: str) -> None:
    logger.error("cron job %r was disabled. %s", name, reason)


def message_is_dead(adapter: str, source_id: str, reason: str) -> None:
    logger.warning("message %s of %s became a dead letter: %s", source_id, adapter, reason)


def api_written(who: str, method: str, path: str, status: int) -> None:
    logger.info("HTTP API: %s %r by %r answered %d", method, path, who, status)


def api_database_failed(error: BaseException) -> None:
    logger.error("HTTP API: cannot use the database: %s", error)


def no_handler_takes_events(who: str) -> None:
    logger.warning(
        "%s has no handler that messages may start, so each message will become a dead letter; "
        'declare one with @handler(…, events=True), or set JOBU_EVENT_HANDLERS = "all"',
        who,
    )


def messages_stored(who: str, count: int) -> None:
    logger.debug("%s stored %d messages", who, count)


def broker_failed(who: str, error: BaseException) -> None:
    logger.error("%s cannot use its queue system and keeps trying: %s", who, error)


def broker_back(who: str) -> None:
    logger.info("%s can use its queue system again", who)


def adapter_left_badly(who: str, error: BaseException) -> None:
    logger.warning(
        "%s could not disconnect cleanly from its queue system, which will deliver again the "
        "messages that were not completed: %s",
        who,
        error,
    )


def queue_paused(who: str, pending: int) -> None:
    logger.warning(
        "%s pauses: %d executions are claimable (JOBU_QUEUE_DISPATCHER_MAX_PENDING)", who, pending
    )


def queue_resumed(who: str, pending: int) -> None:
    logger.info("%s goes on: %d executions are claimable", who, pending)


def dead_letters_pruned(count: int, *, were_open: bool) -> None:
    """Log open ones as a WARNING: nobody looked after them, and now nobody can."""
    if were_open:
        logger.warning("pruned %d dead letters that were still open", count)
    else:
        logger.info("pruned %d old dead letters", count)


def child_started(name: str, pid: int) -> None:
    logger.info("%s started, pid %d", name, pid)


def child_died(name: str, pid: int, code: int, delay: float) -> None:
    reason = f"signal {-code}" if code < 0 else f"exit code {code}"
    logger.error("%s, pid %d, ended with %s; restart in %.1f s", name, pid, reason, delay)


def children_outdated() -> None:
    logger.info("the code has changed; all processes are started again")


def _about(level: int, attempt: Attempt, text: str, *args: Any) -> None:
    if not logger.isEnabledFor(level):
        return
    logger.log(
        level,
        "execution %s (%s, attempt %s): " + text,
        attempt.execution_id,
        attempt.handler_name,
        attempt.number,
        *args,
        extra={
            "execution_id": attempt.execution_id,
            "handler": attempt.handler_name,
            "attempt": attempt.number,
        },
    )
