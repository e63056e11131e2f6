"""Publish a message to the queue system, as a producer does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import jobu
from jobu.admin.shared.params import ParamsField, ParamsWidget, checked_params, handler_choices
from jobu.handlers.registry import handlers
from jobu.models import CronJob

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.shared.base import JobuAdmin


class MessageForm(forms.Form):
    handler_name = forms.ChoiceField(
        label=_("Handler"), help_text=_("Those that messages may start.")
    )
    params = ParamsField(
        label=_("Params"),
        required=False,
        widget=ParamsWidget(handler_field="id_handler_name"),
    )
    job_id = forms.IntegerField(
        label=_("Id of a cron job"),
        required=False,
        min_value=1,
        help_text=_("Its params are the base, and these here win."),
    )
    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=255,
        help_text=_("The queue system's own: messages of one key keep their order."),
    )
    dedupe_key = forms.CharField(
        label=_("Dedupe key"),
        required=False,
        max_length=255,
        help_text=_("Of several messages with the same one, the first makes an execution."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        startable = [spec for spec in handlers if spec.takes_events]
        self.fields["handler_name"].choices = handler_choices(startable)  # type: ignore[attr-defined]

    def clean_job_id(self) -> int | None:
        job_id: int | None = self.cleaned_data["job_id"]
        if job_id is not None and not CronJob.objects.filter(pk=job_id).exists():
            raise ValidationError(_("There is no cron job with this id."))
        return job_id

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "params" in cleaned and "handler_name" in cleaned:
            # With a cron job the handler gets its params, too, so these alone are not checked.
            name = "" if cleaned.get("job_id") else cleaned["handler_name"]
            try:
                checked_params(name, cleaned["params"])
            except ValidationError as error:
                self.add_error("params", error)
        return cleaned


def publish_view(request: HttpRequest, admin: JobuAdmin) -> HttpResponse:
    if not admin.allows(request, "publish_message"):
        raise PermissionDenied
    form = MessageForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = {
            name: value for name, value in form.cleaned_data.items() if value not in ("", None)
        }
        try:
            jobu.publish(**given)
        except Exception as error:  # noqa: BLE001 - whatever the queue system's client raises
            form.add_error(None, f"{type(error).__name__}: {error}")
        else:
            name = given["handler_name"]
            note = gettext("Published a message.")
            admin.record(request, [("", name)], note, ADDITION)
            admin.message_user(
                request, gettext("The message for %s was published.") % name, messages.SUCCESS
            )
            return HttpResponseRedirect(_after(request, admin))
    title = gettext("Publish a message")
    context = {"form": form, "media": admin.media + form.media, "submit": gettext("Publish")}
    return admin.render(request, "admin/jobu/params_form.html", title, context)


def _after(request: HttpRequest, admin: JobuAdmin) -> str:
    if admin.has_view_permission(request):
        return reverse("admin:jobu_jobexecution_changelist", query={"param_source": "event"})
    return reverse("admin:jobu_publish")
