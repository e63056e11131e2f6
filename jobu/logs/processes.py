"""What the log says of processes, and of what they do besides running executions."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from jobu.logs.logger import logger
from jobu.printable import Lines

if TYPE_CHECKING:
    from uuid import UUID


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


def cron_synced(line: str, *, is_changed: bool) -> None:
    logger.log(logging.INFO if is_changed else logging.DEBUG, "declared cron job %s", line)


def cron_paused(name: str, reason: str) -> None:
    logger.error("cron job %r was disabled. %s", name, reason)


def child_started(name: str, pid: int) -> None:
    logger.info("%s started, pid %d", name, pid)


def child_died(name: str, pid: int, code: int, delay: float) -> None:
    reason = f"signal {-code}" if code < 0 else f"exit code {code}"
    logger.error("%s, pid %d, ended with %s; restart in %.1f s", name, pid, reason, delay)


def code_fails(output: str) -> None:
    text = "the code cannot be loaded; what has ended starts again once it can:\n%s"
    logger.error(text, Lines(output))


def children_outdated() -> None:
    logger.info("the code has changed; all processes are started again")
