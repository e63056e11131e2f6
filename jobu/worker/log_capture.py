"""Listen to log records while handlers run, without changing what the project logs."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from jobu import logs
from jobu.handlers.context import find_current_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from jobu.handlers.context import CurrentJob

    Keep = Callable[[CurrentJob, logging.LogRecord], None]


class _Capture(logging.Handler):
    """One for all workers of this operating system process; each keeps the records of its jobs."""

    def __init__(self) -> None:
        super().__init__()
        self._installing = threading.Lock()
        self._keepers: dict[UUID, Keep] = {}
        self._filter: _UsualLevel | None = None
        self._has_pinned_ours = False

    def createLock(self) -> None:  # noqa: N802 - logging's name
        # No lock: an interrupt may strike a handler in here, and nobody would release it.
        self.lock = None

    def handle(self, record: logging.LogRecord) -> bool:
        job = find_current_job()
        if job is not None and record.levelno >= self.level:
            self._keep(job, record)
        last = logging.lastResort
        if last is not None and record.levelno >= last.level and _is_unhandled(record, self):
            # Without us the record would have had no handler, and logging would have used this.
            last.handle(record)
        return True

    def add(self, process_id: UUID, level: int, keep: Keep) -> None:
        with self._installing:
            if not self._keepers:
                self._install(level)
            self._keepers[process_id] = keep

    def remove(self, process_id: UUID) -> None:
        with self._installing:
            if self._keepers.pop(process_id, None) is not None and not self._keepers:
                self._uninstall()

    def _keep(self, job: CurrentJob, record: logging.LogRecord) -> None:
        keep = self._keepers.get(job.process_id)
        if keep is None:
            return
        try:
            keep(job, record)
        except Exception:  # noqa: BLE001 - a job must not fail because it logged
            self.handleError(record)

    def _install(self, level: int) -> None:
        root = logging.root
        self.setLevel(level)
        if root.level > level:
            # Below its level the root logger makes no records. We want them; others must not see
            # them.
            self._filter = _UsualLevel(root.level)
            for handler in _all_handlers():
                handler.addFilter(self._filter)
            if not logs.logger.level:
                # Otherwise a line about each outcome would be made, and nobody would see it.
                logs.logger.setLevel(root.level)
                self._has_pinned_ours = True
            root.setLevel(level)
        for logger in _tops():
            logger.addHandler(self)

    def _uninstall(self) -> None:
        for logger in (logging.root, *_loggers()):
            logger.removeHandler(self)
        if self._filter is not None:
            for handler in _all_handlers():
                handler.removeFilter(self._filter)
            logging.root.setLevel(self._filter.level)
            self._filter = None
        if self._has_pinned_ours:
            logs.logger.setLevel(logging.NOTSET)
            self._has_pinned_ours = False


class _UsualLevel:
    """Holds back from the project's handlers the records below the root logger's old level."""

    def __init__(self, level: int) -> None:
        self.level = level

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= self.level:
            return True
        logger = _logger_of(record)
        while logger.parent is not None:
            if logger.level:
                # A logger with a level of its own does not use the root's.
                return True
            logger = logger.parent
        return False


def _is_unhandled(record: logging.LogRecord, besides: logging.Handler) -> bool:
    if logging.root.handlers != [besides]:
        return False
    return all(logger.handlers in ([], [besides]) for logger in _chain(record))


def _chain(record: logging.LogRecord) -> Iterator[logging.Logger]:
    """Yield the loggers whose handlers see the record."""
    logger: logging.Logger | None = _logger_of(record)
    while logger is not None:
        yield logger
        logger = logger.parent if logger.propagate else None


def _logger_of(record: logging.LogRecord) -> logging.Logger:
    # Not by getLogger(), which takes logging's lock.
    logger = logging.Logger.manager.loggerDict.get(record.name)
    return logger if isinstance(logger, logging.Logger) else logging.root


def _tops() -> list[logging.Logger]:
    """Return the loggers that do not pass records on; each record ends at exactly one of them."""
    return [logging.root, *(logger for logger in _loggers() if not logger.propagate)]


def _all_handlers() -> set[logging.Handler]:
    return {handler for logger in (logging.root, *_loggers()) for handler in logger.handlers}


def _loggers() -> list[logging.Logger]:
    known = list(logging.Logger.manager.loggerDict.values())
    return [logger for logger in known if isinstance(logger, logging.Logger)]


capture = _Capture()
