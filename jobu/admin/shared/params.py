"""Params on a page and in a form: as JSON, or as one field for each param of the handler.

Users who may not see sensitive values get masks. A mask that is not edited keeps its value.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from jobu.admin.shared.excerpts import (
    MAX_EDITED_LENGTH,
    MAX_VALUE_LENGTH,
    Excerpt,
    beginning,
    excerpt,
)
from jobu.exceptions import MaskedError, NotJSONError, ParamsError
from jobu.handlers.registry import handlers
from jobu.jsonable import encode_object, storable_text
from jobu.masking import MASK, mask, restore
from jobu.outcomes import MAX_MESSAGE_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpRequest

    from jobu.handlers.registry import HandlerSpec

    class _JSONField(forms.JSONField):
        pass

else:
    _JSONField = forms.JSONField


def sees_secrets(request: HttpRequest) -> bool:
    return request.user.has_perm("jobu.view_sensitive_params")


def shown(request: HttpRequest, value: Any, handler_name: str) -> Any:
    """Return params or a result of the handler as this user may see them."""
    return value if sees_secrets(request) else mask(value, handlers.sensitive_of(handler_name))


def shown_excerpt(request: HttpRequest, value: Any, handler_name: str) -> Excerpt:
    """Return the beginning of params or of a result as this user may see it."""
    return excerpt(shown(request, beginning(value), handler_name))


class ParamsWidget(forms.Textarea):
    """A JSON editor; a script turns it into fields if the handler declares its params.

    `handler_name` is a fixed handler; `handler_field` is the id of the field that chooses one.
    """

    template_name = "jobu/widgets/params.html"

    def __init__(self, handler_name: str = "", handler_field: str = "") -> None:
        super().__init__({"class": "vLargeTextField jobu-json", "rows": 6, "spellcheck": "false"})
        self.handler_name = handler_name
        self.handler_field = handler_field

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        spec = handlers.get(self.handler_name)
        context["widget"]["schema"] = json.dumps(schema_of(spec)) if spec else ""
        context["widget"]["handler_field"] = self.handler_field
        context["widget"]["mask"] = MASK
        context["widget"]["is_masked"] = MASK in (context["widget"]["value"] or "")
        return context


class ParamsField(_JSONField):
    """A JSON object, shown over several lines; a large one cannot be edited."""

    default_error_messages = {  # noqa: RUF012 - as Django reads it
        "invalid": _("This is not JSON: %(problem)s."),
        "not_object": _('Params are a JSON object, such as {"days": 30}.'),
    }

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            try:
                json.loads(value)
            except (ValueError, RecursionError) as error:
                text = self.error_messages["invalid"]
                raise ValidationError(text, "invalid", {"problem": error}) from error
        params = {} if value in self.empty_values else super().to_python(value)
        if not isinstance(params, dict):
            raise ValidationError(self.error_messages["not_object"], code="not_object")
        try:
            encode_object(params, str(_("The params")))
        except NotJSONError as error:
            raise ValidationError(str(error), code="not_json") from error
        return params

    def fit(self, params: Any, whole: str) -> None:
        """Disable the field if the params are too large; `whole` is where to download them."""
        if not is_editable(params):
            self.disabled = True
            self.help_text = format_html(
                '{} <a href="{}">{}</a>',
                _(
                    "These params are too large to be edited here, so they stay as they are. This "
                    "is only their beginning."
                ),
                whole,
                _("Download the whole"),
            )

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Ignore what is sent for a disabled field; Django would parse it."""
        return not self.disabled and super().has_changed(initial, data)

    def prepare_value(self, value: Any) -> Any:
        if value is None:
            return "{}"
        if isinstance(value, dict):
            limit = MAX_VALUE_LENGTH if self.disabled else MAX_EDITED_LENGTH
            return excerpt(value, limit).text
        return super().prepare_value(value)


class ParamsForm(forms.Form):
    """Edit the params that an execution or a cron job has; `whole` is where to download them."""

    params = ParamsField(label=_("Params"), required=False)

    def __init__(
        self, request: HttpRequest, kept: dict[str, Any], handler_name: str, whole: str
    ) -> None:
        initial = {"params": shown(request, for_a_form(request, kept), handler_name)}
        super().__init__(request.POST or None, initial=initial)
        self._kept = kept
        self._handler_name = handler_name
        field: Any = self.fields["params"]
        field.widget = ParamsWidget(handler_name)
        field.fit(initial["params"], whole)

    def clean_params(self) -> dict[str, Any]:
        return checked_params(self._handler_name, self.cleaned_data["params"], self._kept)


def for_a_form(request: HttpRequest, kept: Any) -> Any:
    """Return as much of the params as a page can show; when a form is sent, all that it keeps."""
    return kept if request.method == "POST" else beginning(kept, MAX_EDITED_LENGTH)


def is_editable(params: Any) -> bool:
    return not excerpt(params, MAX_EDITED_LENGTH).is_cut


def checked_params(
    handler_name: str, params: dict[str, Any], kept: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Put masked values back, and check the params if the handler is registered here."""
    spec = handlers.get(handler_name)
    try:
        restored: dict[str, Any] = restore(params, kept, handlers.sensitive_of(handler_name))
        if spec is not None:
            spec.check(restored)
    except (MaskedError, ParamsError) as error:
        text = storable_text(str(error), MAX_MESSAGE_LENGTH)
        raise ValidationError(text, code="params") from error
    return restored


def handler_choices(specs: Iterable[HandlerSpec] = handlers, current: str = "") -> list[Any]:
    """Offer the handlers by module, and the current one even if it is not registered."""
    modules: dict[str, list[tuple[str, str]]] = {}
    for spec in specs:
        modules.setdefault(spec.module, []).append((spec.name, spec.name))
    choices: list[Any] = [("", _("Choose a handler")), *modules.items()]
    if current in handlers and current != handlers.name_of(current):
        choices.insert(1, (current, f"{current} → {handlers.name_of(current)}"))
    elif current and current not in handlers:
        choices.insert(1, (current, _("%s (not registered here)") % current))
    return choices


def schema_of(spec: HandlerSpec) -> dict[str, Any]:
    """Return what the widget's script needs to know about a handler."""
    fields = spec.fields
    options = spec.options
    return {
        "name": spec.name,
        "doc": spec.doc,
        "fields": None if fields is None else [asdict(field) for field in fields],
        "options": {
            "queue": options.queue,
            "priority": options.priority,
            "max_retry": options.max_retry,
            "timeout_seconds": options.timeout_seconds,
        },
    }
