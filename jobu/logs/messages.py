"""What the log says of messages, their queue systems, and the HTTP API."""

from __future__ import annotations

from jobu.logs.logger import logger


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
