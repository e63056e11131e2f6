"""The log lines of a worker's runs: collected in memory, written in batches.

No handler waits for this: it appends to the buffer of its run, and the housekeeper writes the
buffers about once a second. A worker that is killed loses the lines that it had not written.
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
_MAX_UNWRITTEN = 20_000
"""The maximum number of lines that wait for a lost database; then runs keep only the last ones."""
_ATTEMPTS_KEPT = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RunLogs:
    """Keeps what the handlers of one worker log, if `JOBU_RUN_LOG_LEVEL` was set at its start."""

    def __init__(self, process_id: UUID, running: Callable[[], Collection[CurrentJob]]) -> None:
        self._process_id = process_id
        self._running = running
        self._buffers: WeakKeyDictionary[CurrentJob, RunBuffer] = WeakKeyDictionary()
        self._open: dict[CurrentJob, RunBuffer] = {}
        self._unwritten = 0
        # For the housekeeper and the loop that stops; no handler ever takes it.
        self._flushing = threading.Lock()

    def start(self) -> None:
        if settings.RUN_LOG_LEVEL is not None:
            level = logging.getLevelNamesMapping()[settings.RUN_LOG_LEVEL]
            capture.add(self._process_id, level, self._keep)

    def flush(self, *, is_last: bool = False) -> None:
        """Write the lines that wait; also the last lines of runs that are over (`is_last`: of all).

        If the database fails, all lines stay for the next time. If it stored them but its answer
        was lost, they are written again, and the database ignores what it has.
        """
        with self._flushing:
            # Copied before asking what runs: a run that begins meanwhile must not count as over.
            buffers = dict(self._open)
            running = set() if is_last else set(self._running())
            for job, buffer in buffers.items():
                if job not in running:
                    buffer.close()
            taken = {job: len(buffer.unwritten) for job, buffer in buffers.items()}
            # By index: an iterator would fail if a handler appends meanwhile.
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
        """Stop listening, and write what is left; lines that cannot be written now are lost."""
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
        # An abandoned handler may log for ever, but its run is over.
        if not buffer.is_closed and buffer.add(record, may_grow=self._unwritten < _MAX_UNWRITTEN):
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
        # The database works, but refuses these lines; it would refuse them next time, too.
        logs.lines_lost(len(lines), error)


def _insert(lines: Sequence[LogLine]) -> None:
    with write_transaction(settings.DATABASE):
        # An execution may be deleted as soon as it is finished; later lines would stay for ever.
        wanted = JobExecution.objects.filter(id__in={line.execution_id for line in lines})
        there = set(wanted.values_list("id", flat=True))
        LogLine.objects.bulk_create(
            [line for line in lines if line.execution_id in there], ignore_conflicts=True
        )


def _forget_early_attempts(job: CurrentJob) -> None:
    if job.attempt > _ATTEMPTS_KEPT:
        early = LogLine.objects.filter(execution=job.id, attempt__lte=job.attempt - _ATTEMPTS_KEPT)
        early.delete()
