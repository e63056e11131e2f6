"""The last runs of a cron job: a strip of marks, and how many of them succeeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import OuterRef, Q, Subquery
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobu.admin.shared.words import absolute, duration
from jobu.models import JobExecution
from jobu.outcomes import DEAD, FINISHED, Status

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from jobu.models import CronJob

_SHOWN = 12
_RATED = 50
_COLUMNS = ("id", "status", "created_at", "started_at", "finished_at")


class Run(NamedTuple):
    pk: int
    status: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def words(self) -> str:
        parts = [str(Status(self.status).label), absolute(self.started_at or self.created_at)]
        if self.started_at and self.finished_at:
            parts.append(duration((self.finished_at - self.started_at).total_seconds()))
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class Runs:
    """The newest runs, newest first."""

    runs: list[Run]

    @property
    def strip(self) -> SafeString:
        marks = format_html_join(
            "",
            '<a class="jobu-mark jobu-{}" href="{}" title="{}" aria-label="{}"></a>',
            (
                (
                    run.status.lower(),
                    reverse("admin:jobu_jobexecution_change", args=[run.pk]),
                    *[run.words] * 2,
                )
                for run in reversed(self.runs[:_SHOWN])
            ),
        )
        return format_html('<span class="jobu-strip">{}</span>', marks) if self.runs else marks

    @property
    def rate(self) -> SafeString | str:
        finished = [run for run in self.runs if run.status in FINISHED]
        if not finished:
            return "–"
        succeeded = sum(run.status == Status.SUCCESS for run in finished)
        title = _("%(count)s of the last %(all)s runs") % {
            "count": succeeded,
            "all": len(finished),
        }
        kind = "success" if succeeded == len(finished) else "failed" if succeeded == 0 else "some"
        # Rounded down: 99.6 % is not all of them.
        share = 100 * succeeded // len(finished)
        return format_html(
            '<span class="jobu-rate jobu-rate-{}" title="{}">{} %</span>', kind, title, share
        )


def runs_of(job: CronJob) -> Runs:
    # A query for each cron: these rows and no others, straight from the index. A window function
    # for all of them would read every run there ever was.
    rows = job.executions.order_by("-id").values_list(*_COLUMNS)[:_RATED]
    return Runs([Run(*row) for row in rows])


def last_status(job: OuterRef) -> Subquery:
    """Ask for the status of a cron job's last finished run."""
    finished = JobExecution.objects.filter(job=job, status__in=FINISHED).order_by("-id")
    return Subquery(finished.values("status")[:1])


class FailingFilter(admin.SimpleListFilter):
    """Those whose last run ended dead, or that cannot be dispatched."""

    title = gettext_lazy("health")
    parameter_name = "failing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("failing")), ("no", gettext_lazy("not failing"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("yes", "no"):
            return queryset
        rows: QuerySet[Any] = queryset.annotate(last_status=last_status(OuterRef("pk")))
        failing = Q(last_status__in=DEAD) | ~Q(problem="")
        if self.value() == "yes":
            return rows.filter(failing)
        # Spelled out: NOT IN is unknown, and not true, for one that has never run.
        never_dead = Q(last_status__isnull=True) | ~Q(last_status__in=DEAD)
        return rows.filter(never_dead, problem="")


class CronChangeList(ChangeList):
    """Brings what a row of the list needs besides its columns: runs, permissions, the way back."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """Leave out the params, which no list shows and which may be megabytes each."""
        return super().get_queryset(request, exclude_parameters).defer("handler_params")

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        admin: Any = self.model_admin
        may_run = admin.allows(request, "run_cronjob")
        may_change = admin.has_change_permission(request)
        may_see_runs = admin.shows(request, JobExecution)
        query = self.get_query_string()
        for job in self.result_list:
            job.runs = runs_of(job) if may_see_runs else Runs([])
            job.may_run, job.may_change = may_run, may_change
            job.list_query = query
