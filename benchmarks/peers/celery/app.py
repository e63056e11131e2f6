"""The application that `celery worker` and the producer share."""

from __future__ import annotations

import os

from celery import Celery

from benchmarks import stores, tally

_url = stores.current("redis").url
app = Celery("benchmarks", broker=_url, backend=_url)
app.conf.update(
    worker_prefetch_multiplier=100,
    task_ignore_result="JOBU_BENCH_IGNORE_RESULT" in os.environ,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)


@app.task(name="noop")
def noop() -> None:
    tally.note()


@app.task(name="stamp")
def stamp() -> None:
    tally.stamp()
