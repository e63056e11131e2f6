"""The log lines of a worker's runs: collected in memory, written in batches.

Nothing here makes a handler wait: it appends to its run's buffer, and the housekeeper writes what
has gathered about once a second. A worker that is killed loses what it had not written.
"""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from django.db import DataError, Error, IntegrityError

from jobu import logs
from jobu.conf import settings
from jobu.models import JobExecution, LogLine
from jobu.transactions import write_transaction
from jobu.worker.log_capture import capture
from jobu.worker.run_buffer import RunBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from uuid import UUID

    from jobu.handlers.context import CurrentJob

_BATCH_SIZE = 500
_MOST_UNWRITTEN = 20_000
"""How many lines wait for a database that is away; then only each run's last ones are kept."""
_ATTEMPTS_KEPT = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RunLogs:
    """Keeps what the handlers of one worker log, if `JOBU_RUN_LOG_LEVEL` is set when it starts."""

    def __init__(self, process_id: UUID, running: Callable[[], Collection[CurrentJob]]) -> None:
        self._process_id = process_id
        self._running = running
        self._buffers: WeakKeyDictionary[CurrentJob, RunBuffer] = WeakKeyDictionary()
        self._open: dict[CurrentJob, RunBuffer] = {}
        self._unwritten = 0
        # Between the housekeeper and the worker's end; no handler ever takes it.
        self._flushing = threading.Lock()

    def start(self) -> None:
        if settings.RUN_LOG_LEVEL is not None:
            level = logging.getLevelNamesMapping()[settings.RUN_LOG_LEVEL]
            capture.add(self._process_id, level, self._keep)

    def flush(self, *, is_last: bool = False) -> None:
        """Write what has gathered; of runs that are over, or if `is_last`, all of it.

        If the database fails, everything stays for the next time. Lines that were written, but
        whose commit was not heard of, are the same lines again, and are ignored.
        """
        with self._flushing:
            # Copied before asking who runs: a run that begins meanwhile must not count as over.
            buffers = dict(self._open)
            running = set() if is_last else set(self._running())
            for job, buffer in buffers.items():
                if job not in running:
                    buffer.close()
            taken = {job: len(buffer.unwritten) for job, buffer in buffers.items()}
            # By index: an iterator would not bear that a handler appends meanwhile.
            lines = [
                _log_line(job, buffer, number)
                for job, buffer in buffers.items()
                for number in range(taken[job])
            ]
            for start in range(0, len(lines), _BATCH_SIZE):
                _write(lines[start : start + _BATCH_SIZE])
            for job, buffer in buffers.items():
                for _ in range(taken[job]):
                    buffer.unwritten.popleft()
                if buffer.is_closed:
                    _forget_early_attempts(job)
                    del self._open[job]
            self._unwritten = sum(len(buffer.unwritten) for buffer in self._open.values())

    def stop(self) -> None:
        """Listen no more, and write what is left, now or never."""
        capture.remove(self._process_id)
        try:
            self.flush(is_last=True)
        except Error as error:
            lost = sum(len(buffer.unwritten) for buffer in self._open.values())
            logs.lines_lost(lost, error)

    def _keep(self, job: CurrentJob, record: logging.LogRecord) -> None:
        buffer = self._buffers.get(job)
        if buffer is None:
            buffer = self._buffers[job] = self._open[job] = RunBuffer()
        # An abandoned handler may log for ever; its run is over.
        if not buffer.is_closed and buffer.add(record, may_grow=self._unwritten < _MOST_UNWRITTEN):
            self._unwritten += 1


def _log_line(job: CurrentJob, buffer: RunBuffer, number: int) -> LogLine:
    line = buffer.unwritten[number]
    return LogLine(
        execution_id=job.id,
        attempt=job.attempt,
        logged_at=_EPOCH + timedelta(microseconds=line.logged),
        level=line.level,
        logger=line.logger,
        message=line.message,
    )


def _write(lines: Sequence[LogLine]) -> None:
    try:
        _insert(lines)
    except (DataError, IntegrityError) as error:
        # The database works, but does not take them; it would not take them next time either.
        logs.lines_lost(len(lines), error)


def _insert(lines: Sequence[LogLine]) -> None:
    with write_transaction(settings.DATABASE):
        # An execution may be deleted as soon as it is finished, and nothing would delete its lines.
        wanted = JobExecution.objects.filter(id__in={line.execution_id for line in lines})
        there = set(wanted.values_list("id", flat=True))
        LogLine.objects.bulk_create(
            [line for line in lines if line.execution_id in there], ignore_conflicts=True
        )


def _forget_early_attempts(job: CurrentJob) -> None:
    if job.attempt > _ATTEMPTS_KEPT:
        early = LogLine.objects.filter(execution=job.id, attempt__lte=job.attempt - _ATTEMPTS_KEPT)
        early.delete()
