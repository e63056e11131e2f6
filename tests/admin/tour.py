"""Every page of the admin that reads executions, by name."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from jobu.models import CronJob, DeadLetter, JobExecution, Process, Status
from jobu.reading.failures import failure_key
from tests.admin.pages import list_of, page_of

FILTERS: dict[str, dict[str, Any]] = {
    "no filter": {},
    **{f"status {status}": {"status": status} for status in (*Status.values, "dead", "RETRY")},
    "handler": {"handler_name": "handler3"},
    "rare handler": {"handler_name": "rare"},
    "unknown handler": {"handler_name": "nobody"},
    "cron": {"cron": 7},
    "queue": {"queue": "queue2"},
    "source": {"param_source": "event"},
    "last hour": {"created": "hour"},
    "last week": {"created": "week"},
    "long ago": {"to": "2001-01-01T00:00"},
    "failed rare handler": {"status": "FAILED", "handler_name": "rare"},
    "pending of unknown handler": {"status": "PENDING", "handler_name": "nobody"},
    "cron and queue": {"cron": 7, "queue": "nowhere"},
    "last week, unknown handler": {"created": "week", "handler_name": "nobody"},
    "number": {"q": "12345"},
    "dedupe key": {"q": "no such key"},
    "error": {"q": "no luck"},
    "error that nothing has": {"q": "no such words"},
    "param": {"q": "order=1"},
    "param that nothing has": {"q": "order=2"},
    "param of a cron": {"q": "order=2", "cron": 7},
    "failure": {"failure": failure_key("handler1", "ValueError: no luck")},
}


def tour() -> dict[str, str]:
    """Return the pages' names and addresses."""
    executions = JobExecution.objects
    newest = executions.order_by("-id")[0].pk
    pages = {f"executions, {name}": list_of(JobExecution, **q) for name, q in FILTERS.items()}
    pages |= {
        "executions, in the middle": list_of(JobExecution, before=newest // 2),
        "executions, back from the middle": list_of(JobExecution, after=newest // 2),
        "executions, rare handler from the middle": list_of(
            JobExecution, before=newest // 2, handler_name="rare"
        ),
        "executions, failed from the middle": list_of(
            JobExecution, before=newest // 2, status="FAILED"
        ),
    }
    for name, execution in {
        "a failed execution": executions.filter(status=Status.FAILED).order_by("-id")[0],
        "an execution of a cron": executions.filter(job__isnull=False).order_by("-id")[0],
        "an old execution": executions.get(pk=newest // 2),
    }.items():
        pages[name] = page_of(execution)
    pages |= {
        "failures": reverse("admin:jobu_failures"),
        "failures of a day": reverse("admin:jobu_failures", query={"range": "day"}),
        "live cells": list_of(JobExecution) + f"live/?id={newest}&id={newest - 1}",
        "cron jobs": list_of(CronJob),
        "cron jobs, failing": list_of(CronJob, failing="yes"),
        "cron jobs, not failing": list_of(CronJob, failing="no"),
        "a cron job": page_of(CronJob.objects.order_by("pk")[6]),
        "processes": list_of(Process),
        "a process": page_of(Process.objects.all()[0]),
        "dead letters": list_of(DeadLetter),
    }
    return pages
