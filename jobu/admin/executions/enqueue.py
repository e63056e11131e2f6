"""Enqueue an execution of any handler by hand, or one like another."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobu.admin.shared.addresses import id_of
from jobu.admin.shared.params import (
    ParamsField,
    ParamsWidget,
    checked_params,
    for_a_form,
    handler_choices,
    shown,
)
from jobu.conf import settings
from jobu.dialects import database_time
from jobu.exceptions import JobuError
from jobu.handlers.options import MAX_DELAY_SECONDS, MAX_PRIORITY
from jobu.models import JobExecution
from jobu.queue.enqueue import enqueue_by_hand
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.shared.base import JobuAdmin

_MAX_LENGTH = 50
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_PART = re.compile(r"\s*(\d{1,9})\s*([smhd]?)")


class DelayField(forms.CharField):
    """A time such as `90`, `5m` or `1h 30m`, in seconds."""

    def to_python(self, value: Any) -> Any:
        text = (super().to_python(value) or "").lower()
        parts = list(_PART.finditer(text[:_MAX_LENGTH]))
        if "".join(part[0] for part in parts) != text.rstrip():
            raise ValidationError(_("Write a time such as 90, 5m, 2h or 1d."), code="delay")
        seconds = sum(int(part[1]) * _UNITS[part[2] or "s"] for part in parts)
        if seconds > MAX_DELAY_SECONDS:
            raise ValidationError(_("That is more than ten years."), code="delay")
        return seconds


class EnqueueForm(forms.Form):
    """What to run, and when; `copied` is the execution that it begins with."""

    handler_name = forms.ChoiceField(label=_("Handler"))
    params = ParamsField(
        label=_("Params"), required=False, widget=ParamsWidget(handler_field="id_handler_name")
    )
    queue = forms.CharField(
        label=_("Queue"),
        required=False,
        max_length=100,
        help_text=_("Left empty, it is the handler's own."),
    )
    priority = forms.IntegerField(
        label=_("Priority"),
        required=False,
        min_value=-MAX_PRIORITY,
        max_value=MAX_PRIORITY,
        help_text=_("Higher goes first. Left empty, it is the handler's own."),
    )
    delay = DelayField(
        label=_("Delay"),
        required=False,
        help_text=_("Seconds, or a time such as 5m, 2h or 1d. Left empty, it is due at once."),
    )

    def __init__(self, request: HttpRequest, copied: JobExecution | None) -> None:
        initial = {} if copied is None else _initial(request, copied)
        super().__init__(request.POST or None, initial=initial)
        self._kept = copied.params if copied else None
        name, params = self.fields["handler_name"], self.fields["params"]
        name.choices = handler_choices(current=initial.get("handler_name", ""))  # type: ignore[attr-defined]
        if copied is not None:
            whole = reverse("admin:jobu_jobexecution_download", args=[copied.pk, "params"])
            params.fit(initial["params"], whole)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "params" in cleaned and "handler_name" in cleaned:
            try:
                cleaned["params"] = checked_params(
                    cleaned["handler_name"], cleaned["params"], self._kept
                )
            except ValidationError as error:
                self.add_error("params", error)
        return cleaned

    def enqueue(self) -> JobExecution:
        given = self.cleaned_data
        available_at = None
        if given["delay"]:
            available_at = database_time(settings.DATABASE) + timedelta(seconds=given["delay"])
        return enqueue_by_hand(
            given["handler_name"],
            given["params"],
            queue=given["queue"] or None,
            priority=given["priority"],
            available_at=available_at,
        )


def enqueue_view(request: HttpRequest, admin: JobuAdmin) -> HttpResponse:
    """Show the form; `?copy=` begins with the content of another execution."""
    if not admin.has_add_permission(request):
        raise PermissionDenied
    copied = _copied(request, admin)
    form = EnqueueForm(request, copied)
    if request.method == "POST" and form.is_valid():
        note = gettext("Enqueued by hand.")
        if copied is not None:
            note = gettext("Enqueued by hand, like execution #%s.") % copied.pk
        try:
            with write_transaction(settings.DATABASE):
                execution = form.enqueue()
                admin.record(request, [(execution.pk, str(execution))], note, ADDITION)
        except JobuError as error:
            form.add_error(None, str(error))
        else:
            text = gettext("Enqueued: %s") % execution
            admin.message_user(request, text, messages.SUCCESS)
            return HttpResponseRedirect(_after(request, admin, execution.pk))
    title = gettext("Run %s again") % copied if copied else gettext("Enqueue an execution")
    context = {
        "original": copied,
        "form": form,
        "media": admin.media + form.media,
        "submit": gettext("Enqueue"),
    }
    return admin.render(request, "admin/jobu/params_form.html", title, context)


def _initial(request: HttpRequest, copied: JobExecution) -> dict[str, Any]:
    return {
        "handler_name": copied.handler_name,
        "params": shown(request, for_a_form(request, copied.params), copied.handler_name),
        "queue": copied.queue,
        "priority": copied.priority,
    }


def _copied(request: HttpRequest, admin: JobuAdmin) -> JobExecution | None:
    text = request.GET.get("copy")
    if text is None:
        return None
    if not admin.has_view_permission(request):
        raise PermissionDenied
    pk = id_of(text)
    copied = pk and JobExecution.objects.defer("result", "errors").filter(pk=pk).first()
    if not copied:
        raise Http404(text)
    return copied


def _after(request: HttpRequest, admin: JobuAdmin, pk: int) -> str:
    if admin.has_view_permission(request):
        return reverse("admin:jobu_jobexecution_change", args=[pk])
    return reverse("admin:jobu_jobexecution_add")
