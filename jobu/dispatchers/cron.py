"""The cron dispatcher: makes executions of schedules, each tick once."""

from __future__ import annotations

import os

from jobu import logs
from jobu.conf import settings
from jobu.dialects.wakeups import Channel
from jobu.dispatchers.dispatch import BATCH_SIZE, dispatch, seconds_to_next
from jobu.dispatchers.sync import UNCHANGED
from jobu.dispatchers.sync import sync as sync_declared
from jobu.models.process import ProcessKind
from jobu.processes.polling import PollingProcess


class Dispatcher(PollingProcess):
    """Dispatches due cron jobs until it is stopped, or with `once` until nothing is due.

    Any number may run at the same time. With `sync` it first makes cron jobs of the schedules that
    handlers declare, as `manage.py jobu_sync` does.
    """

    kind = ProcessKind.DISPATCHER.value
    channel = Channel.CRON_JOBS

    def __init__(
        self,
        *,
        poll_interval: float | None = None,
        max_sleep: float | None = None,
        once: bool = False,
        sync: bool = False,
    ) -> None:
        super().__init__()
        self._poll_interval = (
            settings.DISPATCHER_POLL_INTERVAL_SECONDS if poll_interval is None else poll_interval
        )
        self._max_sleep = settings.DISPATCHER_MAX_SLEEP_SECONDS if max_sleep is None else max_sleep
        self._once = once
        self._is_synced = not sync

    def describe(self) -> str:
        return f"cron jobs; pid {os.getpid()}"

    def poll(self) -> float:
        if not self._is_synced:
            for line in sync_declared():
                logs.cron_synced(line, is_changed=not line.endswith(UNCHANGED))
            self._is_synced = True
        if dispatch() == BATCH_SIZE:
            return 0
        if self._once:
            self.request_stop()
            return 0
        # Some databases announce edits; with the others the dispatcher has to look for them.
        longest = self._max_sleep if self._listener.can_hear else self._poll_interval
        due_in = seconds_to_next()
        return longest if due_in is None else min(due_in, longest)
