"""The dashboard: a page that draws the numbers of `jobu.reading`, and refreshes them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import JsonResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from jobu.admin.shared.base import ReadOnlyAdmin
from jobu.models import CronJob, Dashboard, JobExecution, Process
from jobu.outcomes import FINISHED
from jobu.reading import Range, read_overview, summarize

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

_REFRESH_SECONDS = {Range.HOUR: 5, Range.DAY: 15, Range.WEEK: 60}
_CATCH_UP_SECONDS = 0.1
# The page's script replaces it by the id of a row.
_ANY_ID = 0


@admin.register(Dashboard)
class DashboardAdmin(ReadOnlyAdmin):
    """Has no list of rows, but two addresses: the page and its data."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("", view(self.page), name="jobu_dashboard_changelist"),
            path("data/", view(never_cache(self.data)), name="jobu_dashboard_data"),
        ]

    def page(self, request: HttpRequest) -> HttpResponse:
        self._refuse_without_permission(request)
        chosen = _chosen_range(request)
        name = self.admin_site.name
        config = {
            "range": chosen.value,
            "refreshSeconds": {each.value: _REFRESH_SECONDS[each] for each in Range},
            "timeZone": timezone.get_current_timezone_name(),
            "dataUrl": reverse("admin:jobu_dashboard_data", current_app=name),
            "urls": self._urls(request),
            "texts": _texts(),
        }
        context = {
            "config": config,
            "chosen": chosen,
            "ranges": list(Range),
        }
        return self.render(request, "jobu/dashboard.html", self.opts.verbose_name_plural, context)

    def data(self, request: HttpRequest) -> HttpResponse:
        self._refuse_without_permission(request)
        overview = read_overview(_chosen_range(request))
        if overview.unsummarized and all(each.is_stale for each in overview.processes):
            # Running processes summarize; if none runs, the dashboard does it.
            summarize(_CATCH_UP_SECONDS)
        return JsonResponse(asdict(overview))

    def _refuse_without_permission(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _urls(self, request: HttpRequest) -> dict[str, str]:
        """Return the addresses of the other screens that this user may see."""
        wanted = {
            "executions": (JobExecution, "jobexecution_changelist", ()),
            "failures": (JobExecution, "failures", ()),
            "cron": (CronJob, "cronjob_change", (_ANY_ID,)),
            "processes": (Process, "process_changelist", ()),
        }
        return {
            key: reverse(f"admin:jobu_{name}", args=args, current_app=self.admin_site.name)
            for key, (model, name, args) in wanted.items()
            if self.shows(request, model)
        }


def _chosen_range(request: HttpRequest) -> Range:
    """Return the range in the address; the last hour if it is missing or unknown."""
    asked = request.GET.get("range", "")
    return Range(asked) if asked in Range.values else Range.HOUR


def _texts() -> dict[str, str]:
    """Return what the page's script says, by its keys; the script fills in each {}."""
    return {
        **{status.value: str(status.label) for status in FINISHED},
        "all queues": _("all queues"),
        "beat": _("last heartbeat {} ago"),
        "capped": _("{} or more"),
        "disconnected": _("The numbers could not be refreshed ({}). It is tried again."),
        "forbidden": _("You are signed out, or may not look at this any more. Reload the page."),
        "in": _("in {}"),
        "longest": _("longest {}"),
        "no handlers": _("Nothing finished in this time."),
        "no processes": _("No process is running: start manage.py runworker."),
        "no ticks": _("No cron job is planned."),
        "no waiting": _("Nothing waits."),
        "not migrated": _("The database is not ready: run manage.py migrate."),
        "now": _("now"),
        "of finished": _("of {}"),
        "of slots": _("of {} slots"),
        "paused": _("paused while this tab is hidden"),
        "per minute": _("per minute"),
        "refreshed": _("as of {}, every {}"),
        "running": _("running"),
        "since": _("since {}"),
        "stale": _("no heartbeat"),
        "stopping": _("stopping"),
        "unsummarized": _("Earlier history is being summarised: {} steps of the charts to go."),
    }
