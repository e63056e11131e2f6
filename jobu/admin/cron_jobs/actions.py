"""The actions on cron jobs: run one now, backfill one, enable and disable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from jobu.admin.cron_jobs.form import validate_time
from jobu.admin.shared.addresses import filtered
from jobu.admin.shared.params import ParamsForm
from jobu.admin.shared.words import absolute
from jobu.conf import settings
from jobu.exceptions import OptionError, ParamsError
from jobu.models import CronJob, JobExecution
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.http import HttpRequest, HttpResponse

    from jobu.admin.shared.base import JobuAdmin


class BackfillForm(forms.Form):
    """A range of time, in the reader's zone, both ends included."""

    start = forms.SplitDateTimeField(
        label=gettext_lazy("From"), widget=AdminSplitDateTime, validators=[validate_time]
    )
    end = forms.SplitDateTimeField(
        label=gettext_lazy("To"), widget=AdminSplitDateTime, validators=[validate_time]
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        start, end = cleaned.get("start"), cleaned.get("end")
        if start and end and start > end:
            self.add_error("end", _("This is before the start."))
        if end and end > timezone.now():
            self.add_error("end", _("This is in the future: those ticks will come by themselves."))
        return cleaned


def run_view(request: HttpRequest, admin: JobuAdmin, pk: int) -> HttpResponse:
    """Enqueue one execution outside the schedule, with the params of the form."""
    job = _job_to_run(request, admin, pk)
    whole = reverse("admin:jobu_cronjob_download", args=[pk])
    form = ParamsForm(request, job.handler_params, job.handler_name, whole)
    if request.method == "POST" and form.is_valid():
        # Replaced, not merged: a removed param stays removed. The cron job is not saved.
        job.handler_params = form.cleaned_data["params"]
        try:
            execution = _run(request, admin, job)
        except ParamsError as error:
            form.add_error("params", str(error))
        else:
            admin.message_user(request, _("Enqueued: %s") % execution, messages.SUCCESS)
            enqueued = reverse("admin:jobu_jobexecution_change", args=[execution.pk])
            return HttpResponseRedirect(_after(request, admin, enqueued))
    context = {
        "original": job,
        "form": form,
        "media": admin.media + form.media,
        "submit": _("Run now"),
    }
    return admin.render(request, "admin/jobu/params_form.html", _("Run %s now") % job, context)


def _run(request: HttpRequest, admin: JobuAdmin, job: CronJob) -> JobExecution:
    with write_transaction(settings.DATABASE):
        execution = job.run_now()
        admin.record(request, [(job.pk, str(job))], _("Ran now: execution #%s.") % execution.pk)
    return execution


def backfill_view(request: HttpRequest, admin: JobuAdmin, pk: int) -> HttpResponse:
    """Count the ticks without an execution; once confirmed, enqueue them."""
    job = _job_to_run(request, admin, pk)
    form = BackfillForm(request.POST or None)
    ticks: list[datetime] | None = None
    if request.method == "POST" and form.is_valid():
        start, end = form.cleaned_data["start"], form.cleaned_data["end"]
        try:
            ticks = job.missing_ticks(start, end)
        except (OptionError, ValueError) as error:
            form.add_error(None, str(error))
        if ticks and "confirmed" in request.POST:
            with write_transaction(settings.DATABASE):
                number = job.backfill(start, end)
                note = _("Backfilled %(number)s ticks from %(start)s to %(end)s.")
                values = {"number": number, "start": absolute(start), "end": absolute(end)}
                admin.record(request, [(pk, str(job))], note % values)
            text = ngettext("%s tick was enqueued.", "%s ticks were enqueued.", number) % number
            admin.message_user(request, text, messages.SUCCESS)
            enqueued = reverse("admin:jobu_jobexecution_changelist", query={"cron": pk})
            return HttpResponseRedirect(_after(request, admin, enqueued))
    context = {
        "original": job,
        "form": form,
        "media": admin.media + form.media,
        "ticks": ticks,
        "now_zone": timezone.get_current_timezone_name(),
    }
    template = "admin/jobu/cronjob/backfill.html"
    return admin.render(request, template, _("Backfill %s") % job, context)


@require_POST
def switch_view(request: HttpRequest, admin: JobuAdmin, pk: int) -> HttpResponse:
    job = get_object_or_404(CronJob, pk=pk)
    if not admin.has_change_permission(request, job):
        raise PermissionDenied
    switch(request, admin, [job], is_enabled=request.POST.get("is_enabled") == "1")
    return HttpResponseRedirect(filtered(request, "admin:jobu_cronjob_changelist"))


def switch(
    request: HttpRequest, admin: JobuAdmin, jobs: Iterable[CronJob], *, is_enabled: bool
) -> None:
    """Enable or disable cron jobs; a dispatcher notices at its next poll."""
    changed = [job for job in jobs if job.is_enabled != is_enabled]
    ids = [job.pk for job in changed]
    note = _("Enabled.") if is_enabled else _("Disabled.")
    with write_transaction(settings.DATABASE):
        CronJob.objects.filter(pk__in=ids).update(is_enabled=is_enabled, updated_at=timezone.now())
        admin.record(request, [(job.pk, str(job)) for job in changed], note)
    number = len(changed)
    text = (
        ngettext("%s cron job was enabled.", "%s cron jobs were enabled.", number)
        if is_enabled
        else ngettext("%s cron job was disabled.", "%s cron jobs were disabled.", number)
    )
    admin.message_user(request, text % number, messages.SUCCESS)


def _job_to_run(request: HttpRequest, admin: JobuAdmin, pk: int) -> CronJob:
    if not (admin.allows(request, "run_cronjob") and admin.has_view_permission(request)):
        raise PermissionDenied
    return get_object_or_404(CronJob, pk=pk)


def _after(request: HttpRequest, admin: JobuAdmin, enqueued: str) -> str:
    """Return the address of the enqueued executions; of the list for users who may not see them."""
    may_look = admin.shows(request, JobExecution)
    return enqueued if may_look else reverse("admin:jobu_cronjob_changelist")
