"""Metrics for Prometheus. They come from the database, so they cover all processes."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from ninja import Router

from jobu.api.answers import answers
from jobu.api.auth import reading
from jobu.api.errors import ApiError
from jobu.handlers.registry import handlers
from jobu.models import JobExecution, Process
from jobu.models.process import ProcessKind
from jobu.reading import waiting
from jobu.reading.names import told_apart
from jobu.reading.tally import BUCKETS, count_finished

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )
except ImportError:
    IS_INSTALLED = False
else:
    IS_INSTALLED = True

router = Router(tags=["health"])

_BOUNDS = (*(str(float(bound)) for bound in BUCKETS), "+Inf")
_TEXT = {"content": {"text/plain": {"schema": {"type": "string"}}}}


@router.get(
    "/metrics",
    response=answers(200, None, 501),
    auth=reading("view_jobexecution"),
    openapi_extra={"responses": {200: _TEXT}},
)
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics in the text format of Prometheus."""
    if not IS_INSTALLED:
        raise ApiError(
            501,
            "not_installed",
            "Metrics need prometheus-client, which django-jobu[metrics] brings.",
        )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector())
    return HttpResponse(
        generate_latest(registry), content_type="text/plain; version=0.0.4; charset=utf-8"
    )


class _Collector:
    def collect(self) -> Iterator[Any]:
        yield from _finished()
        yield from _waiting()
        yield _running()
        yield from _processes()


def _finished() -> Iterator[Any]:
    finished = CounterMetricFamily(
        "jobu_executions_finished",
        "Executions that finished, since metrics were first read.",
        labels=("handler", "status"),
    )
    seconds = HistogramMetricFamily(
        "jobu_run_seconds",
        "How long the last run of finished executions took.",
        labels=("handler",),
    )
    for handler, by_status in sorted(count_finished().items()):
        for status, total in sorted(by_status.items()):
            finished.add_metric((handler, status), total["count"])
        buckets = zip(*(total["buckets"] for total in by_status.values()), strict=True)
        cumulated = zip(_BOUNDS, accumulate(map(sum, buckets)), strict=True)
        seconds.add_metric(
            (handler,), list(cumulated), sum(total["seconds"] for total in by_status.values())
        )
    yield finished
    yield seconds


def _waiting() -> Iterator[Any]:
    due = GaugeMetricFamily(
        "jobu_waiting",
        "Executions that are due and wait for a worker; very many are not counted to the end.",
        labels=("queue",),
    )
    oldest = GaugeMetricFamily(
        "jobu_oldest_waiting_seconds",
        "How long the one that is due for longest has waited.",
        labels=("queue",),
    )
    depths = {depth.queue: depth for depth in waiting()}
    # An empty queue is a 0, not a gap in a chart.
    for queue in sorted(depths.keys() | {spec.options.queue for spec in handlers}):
        depth = depths.get(queue)
        due.add_metric((queue,), depth.due if depth else 0)
        oldest.add_metric((queue,), depth.oldest_seconds if depth else 0)
    yield due
    yield oldest


def _running() -> Any:
    running = GaugeMetricFamily("jobu_running", "Executions that run now.", labels=("handler",))
    by_handler = JobExecution.objects.running().values_list("handler_name")
    counts: Counter[str] = Counter()
    for handler, count in by_handler.annotate(count=Count("pk")).order_by("-count"):
        counts[told_apart(handler, counts)] += count
    for handler, count in sorted(counts.items()):
        running.add_metric((handler,), count)
    return running


def _processes() -> Iterator[Any]:
    processes = GaugeMetricFamily(
        "jobu_processes",
        "Processes, by whether they beat within the lease.",
        labels=("kind", "state"),
    )
    slots = GaugeMetricFamily("jobu_slots", "Slots of the workers that are alive.")
    alive = list(Process.objects.alive().values_list("kind", "slots"))
    stale = Counter(Process.objects.stale().values_list("kind", flat=True))
    for kind in ProcessKind.values:
        processes.add_metric((kind, "alive"), sum(each == kind for each, _ in alive))
        processes.add_metric((kind, "stale"), stale[kind])
    slots.add_metric((), sum(count for _, count in alive))
    yield processes
    yield slots
