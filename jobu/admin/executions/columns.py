"""The columns of the list: what an execution does, why it failed, how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobu.admin.executions.cells import ran_cell, waited_cell
from jobu.admin.shared.words import cut_html
from jobu.outcomes import DEAD

if TYPE_CHECKING:
    from django.utils.safestring import SafeString


def handler_cell(execution: Any) -> SafeString:
    """Show the handler, the cron job, where it came from, and the error if it is dead."""
    why = execution.error_message if execution.status in DEAD else ""
    return format_html(
        '<code class="jobu-line" title="{}">{}</code>{}<div class="jobu-quiet">{} · {}</div>{}',
        *[execution.handler_name] * 2,
        _cron(execution),
        format_html('<span class="jobu-word" title="{}">{}</span>', *[execution.queue] * 2),
        execution.get_param_source_display(),
        cut_html(why, "jobu-why") if why else "",
    )


def times_cell(execution: Any) -> SafeString:
    """Show how long it ran and waited, and which attempt it is, beyond the first."""
    attempts = ngettext("%s attempt", "%s attempts", execution.attempt) % execution.attempt
    return format_html(
        '<span class="jobu-nowrap">{}</span>'
        '<div class="jobu-quiet"><span class="jobu-nowrap">{} {}</span> '
        '<span class="jobu-nowrap">{}</span></div>',
        ran_cell(execution, execution.now),
        _("waited"),
        waited_cell(execution, execution.now),
        attempts if execution.attempt > 1 else "",
    )


def _cron(execution: Any) -> SafeString | str:
    if execution.job is None:
        return ""
    if not execution.may_see_cron:
        return format_html('<div class="jobu-sub jobu-line">{}</div>', execution.job)
    address = reverse("admin:jobu_cronjob_change", args=[execution.job.pk])
    return format_html(
        '<div class="jobu-sub jobu-line"><a href="{}" title="{}">{}</a></div>',
        address,
        *[execution.job] * 2,
    )
