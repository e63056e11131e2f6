"""The list of cron jobs, and the page where one is edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobu.admin.cron_jobs.actions import backfill_view, run_view, switch, switch_view
from jobu.admin.cron_jobs.change_list import CronChangeList, EnabledFilter, FailingFilter
from jobu.admin.cron_jobs.form import CronJobForm, copy_of, has_long_description
from jobu.admin.cron_jobs.preview import handler_view, preview_html, preview_view, words_of
from jobu.admin.cron_jobs.runs import next_run_of, runs_of
from jobu.admin.shared.base import JobuAdmin
from jobu.admin.shared.excerpts import download, download_json, excerpt_of_text
from jobu.admin.shared.filters import HandlerFilter, QueueFilter
from jobu.admin.shared.params import sees_secrets, shown, shown_excerpt
from jobu.admin.shared.words import absolute, cut_html, labelled
from jobu.models import CronJob, JobExecution

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

_TIMES = ("starts_at", "ends_at")
_STATE = ("problem_now", "planned_for", "last_tick", "declared_in", "created", "updated")


@admin.register(CronJob)
class CronJobAdmin(JobuAdmin):
    form = CronJobForm
    list_display = (
        "title",
        "schedule",
        "next_run",
        "last_runs",
        "enabled",
    )
    list_filter = (EnabledFilter, FailingFilter, HandlerFilter, QueueFilter)
    list_per_page = 50
    search_fields = ("name", "description", "handler_name")
    readonly_fields = ("long_description", "params", "preview", *_STATE)
    actions = ("enable", "disable")
    save_on_top = False
    fieldsets = (
        (_("What"), {"fields": ("name", "description", "handler_name", "handler_params")}),
        (
            _("When"),
            {
                "fields": (
                    "cron_expression",
                    "timezone",
                    "preview",
                    "is_enabled",
                    _TIMES,
                )
            },
        ),
        (_("How"), {"fields": ("queue", "priority", "max_retry", "timeout_seconds")}),
        (
            _("If ticks are missed, or come too soon"),
            {
                "fields": (
                    "misfire",
                    "misfire_window_seconds",
                    "allow_overlap",
                    "jitter_seconds",
                    "pause_after_failures",
                )
            },
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.fieldsets
        description = "long_description" if has_long_description(obj) else "description"
        params = "handler_params"
        if not self.has_change_permission(request, obj):
            # Django would show all of the params, unmasked, even if they are megabytes.
            params = "params"
            obj.shown_params = shown_excerpt(request, obj.handler_params, obj.handler_name)
        what = (_("What"), {"fields": ("name", description, "handler_name", params)})
        return (what, *self.fieldsets[1:], (_("State"), {"fields": _STATE}))

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.kept_from = obj or self._copied(request)
        form.sees_secrets = sees_secrets(request)
        return form

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        columns = self.list_display
        if not self.shows(request, JobExecution):
            return tuple(name for name in columns if name != "last_runs")
        return columns

    def get_list_filter(self, request: HttpRequest) -> tuple[type[admin.ListFilter], ...]:
        filters = self.list_filter
        if not self.shows(request, JobExecution):
            return tuple(each for each in filters if each is not FailingFilter)
        return filters

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[CronChangeList]:
        return CronChangeList

    def get_urls(self) -> list[URLPattern]:
        own = self.own_urls(
            {
                "preview/": (preview_view, "jobu_cronjob_preview"),
                "handler/": (handler_view, "jobu_cronjob_handler"),
                "<int:pk>/run/": (run_view, "jobu_cronjob_run"),
                "<int:pk>/params/": (_params_view, "jobu_cronjob_download"),
                "<int:pk>/description/": (_description_view, "jobu_cronjob_description"),
                "<int:pk>/backfill/": (backfill_view, "jobu_cronjob_backfill"),
                "<int:pk>/switch/": (switch_view, "jobu_cronjob_switch"),
            }
        )
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        context: dict[str, Any] = {
            "may_run": self.allows(request, "run_cronjob"),
            "may_see_executions": self.shows(request, JobExecution),
        }
        job = self.get_object(request, object_id)
        if job is not None and context["may_see_executions"]:
            context |= {"runs": runs_of(job), "next_run": next_run_of(job)}
        return super().change_view(
            request, object_id, form_url, {**context, **(extra_context or {})}
        )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Start from another cron job with `?copy=`."""
        copied = self._copied(request)
        if copied is None:
            given = super().get_changeform_initial_data(request)
            # Django has two inputs for a time, so the address cannot fill it in.
            return {name: text for name, text in given.items() if name not in _TIMES}
        fields, notes = copy_of(copied)
        for note in notes:
            self.message_user(request, note, messages.WARNING)
        return fields

    def _copied(self, request: HttpRequest) -> CronJob | None:
        copied: CronJob | None = self.get_object(request, request.GET.get("copy", ""))
        if copied is not None and not self.has_view_permission(request, copied):
            raise PermissionDenied
        return copied

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Write only the edited columns: a dispatcher writes the others."""
        if not change:
            obj.save()
            return
        edited = [name for name in form.changed_data if name in CronJobForm.Meta.fields]
        obj.save(update_fields=[*edited, "updated_at"])

    @admin.action(description=_("Enable"), permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[CronJob]) -> None:
        switch(request, self, queryset, is_enabled=True)

    @admin.action(description=_("Disable"), permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[CronJob]) -> None:
        switch(request, self, queryset, is_enabled=False)

    @admin.display(description=_("name"), ordering="name")
    def title(self, job: CronJob) -> SafeString:
        return cut_html(job.name)

    @admin.display(description=_("schedule"), ordering="cron_expression")
    def schedule(self, job: CronJob) -> SafeString:
        """Show the words, and under them the expression on one line."""
        return format_html(
            '{}<div class="jobu-quiet"><code class="jobu-line" title="{}">{}</code> '
            '<span class="jobu-line">{}</span></div>',
            cut_html(words_of(job.cron_expression, job.name)),
            *[job.cron_expression] * 2,
            job.timezone,
        )

    @admin.display(description=_("next run"), ordering="next_run_at")
    def next_run(self, job: CronJob) -> SafeString:
        return labelled(_("next run"), next_run_of(job))

    @admin.display(description=_("last runs"))
    def last_runs(self, job: Any) -> SafeString:
        return format_html("{} {}", job.runs.strip, job.runs.rate)

    @admin.display(description=_("enabled"), ordering="is_enabled")
    def enabled(self, job: Any) -> SafeString:
        """Show a switch, a button of the form below the list; and the way to run it now."""
        label = gettext("Disable %s") if job.is_enabled else gettext("Enable %s")
        switch_html = format_html(
            '<button type="submit" form="jobu-post" formaction="{}{}" class="jobu-switch" '
            'role="switch" aria-checked="{}" aria-label="{}" title="{}" name="is_enabled" '
            'value="{}"{}></button>',
            reverse("admin:jobu_cronjob_switch", args=[job.pk]),
            job.list_query,
            "true" if job.is_enabled else "false",
            label % job.name,
            label % job.name,
            "0" if job.is_enabled else "1",
            "" if job.may_change else format_html(" {}", "disabled"),
        )
        if not job.may_run:
            return switch_html
        url = reverse("admin:jobu_cronjob_run", args=[job.pk])
        return format_html(
            '{} <a class="jobu-tool" href="{}">{}</a>', switch_html, url, gettext("Run now")
        )

    @admin.display(description=_("Description"))
    def long_description(self, job: CronJob) -> str:
        whole = reverse("admin:jobu_cronjob_description", args=[job.pk])
        return excerpt_of_text(job.description).html(whole)

    @admin.display(description=_("Params"))
    def params(self, job: Any) -> str:
        whole = reverse("admin:jobu_cronjob_download", args=[job.pk])
        text: str = job.shown_params.html(whole)
        return text

    @admin.display(description=_("Problem"), empty_value="–")
    def problem_now(self, job: CronJob) -> str:
        return str(job.problem)

    @admin.display(description=_("Next run"), empty_value="–")
    def planned_for(self, job: CronJob) -> SafeString | str:
        return next_run_of(job)

    @admin.display(description=_("Last tick"), empty_value="–")
    def last_tick(self, job: CronJob) -> str:
        return absolute(job.last_run_at) if job.last_run_at else ""

    @admin.display(description=_("Declared in"), empty_value="–")
    def declared_in(self, job: CronJob) -> str:
        return str(job.declared)

    @admin.display(description=_("Created"))
    def created(self, job: CronJob) -> str:
        return absolute(job.created_at)

    @admin.display(description=_("Changed"))
    def updated(self, job: CronJob) -> str:
        return absolute(job.updated_at)

    @admin.display(description=_("Next times"))
    def preview(self, job: CronJob | None) -> SafeString:
        expression, zone = (job.cron_expression, job.timezone) if job and job.pk else ("", "")
        return format_html(
            '<div id="jobu-preview" data-url="{}" aria-live="polite">{}</div>',
            reverse("admin:jobu_cronjob_preview"),
            preview_html(expression, zone, job.name) if job and expression else "",
        )


def _description_view(request: HttpRequest, admin: CronJobAdmin, pk: int) -> HttpResponse:
    """Return all of the description."""
    job = _viewed(request, admin, pk, "description")
    return download(job.description, f"cron-job-{pk}.description.txt")


def _params_view(request: HttpRequest, admin: CronJobAdmin, pk: int) -> HttpResponse:
    """Return all of the params."""
    job = _viewed(request, admin, pk, "handler_name", "handler_params")
    params = shown(request, job.handler_params, job.handler_name)
    return download_json(params, f"cron-job-{pk}.params.json")


def _viewed(request: HttpRequest, admin: CronJobAdmin, pk: int, *columns: str) -> CronJob:
    job = get_object_or_404(CronJob.objects.only(*columns), pk=pk)
    if not admin.has_view_permission(request, job):
        raise PermissionDenied
    return job
