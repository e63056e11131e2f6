"""Retry an execution with other params."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _

from jobu.admin.shared.addresses import filtered
from jobu.admin.shared.params import ParamsForm
from jobu.conf import settings
from jobu.jsonable import storable_text
from jobu.models import JobExecution
from jobu.outcomes import MAX_MESSAGE_LENGTH
from jobu.queue.actions import retry
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from jobu.admin.shared.base import JobuAdmin


def retry_view(request: HttpRequest, admin: JobuAdmin, pk: int) -> HttpResponse:
    if not (admin.allows(request, "retry_jobexecution") and admin.has_view_permission(request)):
        raise PermissionDenied
    execution = get_object_or_404(JobExecution, pk=pk)
    whole = reverse("admin:jobu_jobexecution_download", args=[pk, "params"])
    form = ParamsForm(request, execution.params, execution.handler_name, whole)
    if request.method == "POST" and form.is_valid():
        params = form.cleaned_data["params"]
        note = _note(execution.params, params)
        with write_transaction(settings.DATABASE):
            is_retried = retry(execution, params=params)
            if is_retried:
                admin.record(request, [(pk, str(execution))], note)
        if is_retried:
            admin.message_user(request, _("The execution will run again."), messages.SUCCESS)
        else:
            text = _("The execution is neither dead nor cancelled any more.")
            admin.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(filtered(request, "admin:jobu_jobexecution_change", pk))
    title = _("Retry %s with other params") % execution
    context = {
        "original": execution,
        "form": form,
        "media": admin.media + form.media,
        "why": storable_text(execution.error_message, MAX_MESSAGE_LENGTH),
        "submit": _("Retry"),
    }
    return admin.render(request, "admin/jobu/params_form.html", title, context)


def _note(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Name the changed params without their values: the history is kept for ever."""
    nothing = object()
    names = [n for n in {**before, **after} if before.get(n, nothing) != after.get(n, nothing)]
    if not names:
        return _("Retried.")
    return _("Retried with other params: %s.") % ", ".join(names)
