"""The form of a cron job: its fields, their help texts and their checks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobu.admin.shared.excerpts import MAX_EDITED_LENGTH, beginning
from jobu.admin.shared.params import (
    ParamsField,
    ParamsWidget,
    checked_params,
    handler_choices,
    is_editable,
)
from jobu.conf import settings
from jobu.cron import problem_with_expression
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_time
from jobu.masking import mask
from jobu.models import CronJob

if TYPE_CHECKING:
    from datetime import datetime

    _ModelForm = forms.ModelForm[CronJob]
else:
    _ModelForm = forms.ModelForm


class TimezoneWidget(forms.TextInput):
    """A text field that offers the time zones of this machine."""

    template_name = "jobu/widgets/timezone.html"

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        return {**super().get_context(name, value, attrs), "zones": _zones()}


class CronJobForm(_ModelForm):
    """Edit a cron job or a copy; masked params keep the values that `kept_from` has."""

    kept_from: CronJob | None = None
    sees_secrets = False
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=MAX_EDITED_LENGTH,
        widget=forms.Textarea({"class": "vLargeTextField", "rows": 2}),
    )
    handler_params = ParamsField(
        label=_("Params"),
        required=False,
        widget=ParamsWidget(handler_field="id_handler_name"),
    )

    class Meta:
        model = CronJob
        fields = (
            "name",
            "description",
            "handler_name",
            "handler_params",
            "cron_expression",
            "timezone",
            "is_enabled",
            "starts_at",
            "ends_at",
            "queue",
            "priority",
            "max_retry",
            "timeout_seconds",
            "allow_overlap",
            "misfire",
            "misfire_window_seconds",
            "jitter_seconds",
            "pause_after_failures",
        )
        widgets = {  # noqa: RUF012 - as Django reads it
            "timezone": TimezoneWidget({"class": "vTextField"}),
            "cron_expression": forms.TextInput(
                {
                    "class": "vTextField jobu-expression",
                    "autocomplete": "off",
                    "spellcheck": "false",
                }
            ),
        }
        labels = {  # noqa: RUF012
            "name": _("Name"),
            "cron_expression": _("Cron expression"),
            "timezone": _("Time zone"),
            "is_enabled": _("Enabled"),
            "starts_at": _("Starts at"),
            "ends_at": _("Ends at"),
            "queue": _("Queue"),
            "priority": _("Priority"),
            "max_retry": _("Runs at most"),
            "timeout_seconds": _("Timeout in seconds"),
            "allow_overlap": _("Allow overlap"),
            "misfire": _("Missed ticks"),
            "misfire_window_seconds": _("How late, in seconds"),
            "jitter_seconds": _("Jitter in seconds"),
            "pause_after_failures": _("Pause after failures"),
        }
        help_texts = {  # noqa: RUF012
            "name": _("Unique. The H of an expression is derived from it."),
            "timezone": _("The expression is read by this zone's clocks, changes included."),
            "is_enabled": _("Enabling it again never fires what was missed meanwhile."),
            "starts_at": _("No tick before; empty means now."),
            "ends_at": _("No tick after; empty means never."),
            "queue": _("Which workers take it: those of this queue, or of all."),
            "priority": _("Higher goes first."),
            "max_retry": _(
                "An execution that fails or times out runs again, after a growing delay, until it "
                "has run so often. 0 and 1 mean once."
            ),
            "timeout_seconds": _(
                "A run that takes longer is stopped, and counts as one that failed."
            ),
            "allow_overlap": _(
                "If not, a tick is skipped while an earlier execution waits, runs or will be "
                "retried."
            ),
            "misfire": _(
                "What becomes of ticks that came while no dispatcher ran, when one is back."
            ),
            "misfire_window_seconds": _("Ticks that were missed longer ago are skipped."),
            "jitter_seconds": _("Each execution starts up to this much later than its tick."),
            "pause_after_failures": _(
                "Disable it after so many executions in a row that failed for good; 0 means never."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.kept_from is not None and not self.sees_secrets:
            names = handlers.sensitive_of(self.kept_from.handler_name)
            given = self.initial.get("handler_params")
            # When the form is sent, the params that it keeps are needed whole.
            kept = given if self.is_bound else beginning(given, MAX_EDITED_LENGTH)
            self.initial["handler_params"] = mask(kept, names)
        if "handler_name" in self.fields:
            self.fields["handler_name"] = forms.ChoiceField(
                label=_("Handler"), choices=handler_choices(current=self.instance.handler_name)
            )
        if "handler_params" in self.fields:
            params: Any = self.fields["handler_params"]
            whole = reverse("admin:jobu_cronjob_download", args=[self.instance.pk or 0])
            params.fit(self.instance.handler_params, whole)
        for name in {"starts_at", "ends_at"} & self.fields.keys():
            self.fields[name].validators.append(validate_time)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        self._check_expression_with_name(cleaned)
        if "handler_params" in cleaned and "handler_name" in cleaned:
            kept = self.kept_from.handler_params if self.kept_from else None
            try:
                cleaned["handler_params"] = checked_params(
                    cleaned["handler_name"], cleaned["handler_params"], kept
                )
            except ValidationError as error:
                self.add_error("handler_params", error)
        return cleaned

    def _check_expression_with_name(self, cleaned: dict[str, Any]) -> None:
        """Check the expression with the name: the name decides what H stands for."""
        if "cron_expression" not in cleaned:
            return
        problem = problem_with_expression(
            cleaned["cron_expression"],
            min_interval_seconds=settings.DISPATCHER_MIN_CRON_INTERVAL_SECONDS,
            seed=cleaned.get("name", ""),
        )
        if problem:
            self.add_error("cron_expression", problem)


def copy_of(job: CronJob) -> tuple[dict[str, Any], list[str]]:
    """Return what the form of a copy starts with, and what it says about values left out.

    The copy is disabled at first.
    """
    fields = {name: getattr(job, name) for name in CronJobForm.Meta.fields}
    fields |= {"name": gettext("%s (copy)") % job, "is_enabled": False}
    notes = []
    if has_long_description(job):
        del fields["description"]
        notes.append(gettext("The description is too large for a form, so it is not copied."))
    if not is_editable(job.handler_params):
        del fields["handler_params"]
        notes.append(gettext("The params are too large for a form, so they are not copied."))
    return fields, notes


def has_long_description(job: CronJob) -> bool:
    """Tell whether the description is too large for the form; code and the API set no limit."""
    return len(job.description) > MAX_EDITED_LENGTH


def validate_time(moment: datetime) -> None:
    """Refuse a time that a database cannot store."""
    try:
        storable_time(moment)
    except ValueError as error:
        raise ValidationError(str(error), code="time") from error


@cache
def _zones() -> list[str]:
    return sorted(available_timezones())
