"""The list of cron jobs: its filters, and what each row shows besides its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import OuterRef, Q, Subquery
from django.utils.translation import gettext_lazy as _

from jobu.admin.cron_jobs.runs import Runs, runs_of
from jobu.admin.shared.filters import Capitalized, WordFilter
from jobu.models import JobExecution
from jobu.outcomes import DEAD

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


class CronChangeList(ChangeList):
    """Adds to each row its runs, the user's permissions and the query of the list."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """Leave out description and params: the list shows neither, and they may be large."""
        rows = super().get_queryset(request, exclude_parameters)
        return rows.defer("description", "handler_params")

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        model_admin: Any = self.model_admin
        may_run = model_admin.allows(request, "run_cronjob")
        may_change = model_admin.has_change_permission(request)
        may_see_runs = model_admin.shows(request, JobExecution)
        query = self.get_query_string()
        for job in self.result_list:
            job.runs = runs_of(job) if may_see_runs else Runs([])
            job.may_run, job.may_change = may_run, may_change
            job.list_query = query


class EnabledFilter(WordFilter):
    title = _("enabled")
    parameter_name = "is_enabled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("1", _("yes")), ("0", _("no"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset if value is None else queryset.filter(is_enabled=value == "1")


class FailingFilter(Capitalized, admin.SimpleListFilter):
    """Failing is a cron job whose last run failed for good, or that cannot be dispatched."""

    title = _("health")
    parameter_name = "failing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("failing")), ("no", _("not failing"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("yes", "no"):
            return queryset
        rows: QuerySet[Any] = queryset.annotate(last_status=_last_status(OuterRef("pk")))
        failing = Q(last_status__in=DEAD) | ~Q(problem="")
        if self.value() == "yes":
            return rows.filter(failing)
        # NOT IN alone would leave out those that never ran: for them it is unknown, not true.
        never_dead = Q(last_status__isnull=True) | ~Q(last_status__in=DEAD)
        return rows.filter(never_dead, problem="")


def _last_status(job: OuterRef) -> Subquery:
    """Return the status of a cron job's last finished run."""
    finished = JobExecution.objects.of_job(job).finished().order_by("-id")
    return Subquery(finished.values("status")[:1])
