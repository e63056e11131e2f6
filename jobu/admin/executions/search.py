"""The search of the list: a number, a dedupe key, the value of a param, words of an error.

Numbers and keys have an index. For the others a page looks at a limited number of executions: for
a param at the newest, for an error at the newest that did not succeed.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import Q
from django.db.models.fields.json import KeyTransform
from django.utils.translation import gettext as _

from jobu.admin.shared.addresses import id_of
from jobu.admin.shared.params import sees_secrets
from jobu.handlers.registry import handlers
from jobu.jsonable import storable_text
from jobu.masking import is_sensitive
from jobu.messages import message_key
from jobu.models import JobExecution
from jobu.outcomes import FINISHED, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest

    Rows = QuerySet[Any]

_MAX_LENGTH = 255
_PARAM = re.compile(r"([A-Za-z_][\w-]*)\s*=\s*(.+)", re.DOTALL)
_UNSUCCESSFUL = [status for status in FINISHED if status != Status.SUCCESS]


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for; `among` narrows what a page looks at, None if an index finds it."""

    narrow: Callable[[Rows], Rows]
    among: Callable[[Rows], Rows] | None = None


def search_for(request: HttpRequest, text: str) -> Search | None:
    """Return the search that a text stands for; None if there is no text."""
    term = text.strip()
    if not term:
        return None
    if "\0" in term or len(term) > _MAX_LENGTH:
        return Search(lambda rows: rows.none())
    number = id_of(term.removeprefix("#"))
    if number is not None:
        return Search(lambda rows: rows.filter(pk=number))
    keys = [term, message_key(term)]
    if JobExecution.objects.filter(dedupe_key__in=keys).exists():
        return Search(lambda rows: rows.filter(dedupe_key__in=keys))
    if param := _PARAM.fullmatch(term):
        return _by_param(request, *param.groups())
    return _by_error(request, term)


def _by_error(request: HttpRequest, text: str) -> Search:
    """Search what did not succeed, unless the list is filtered by status."""
    scope = {} if request.GET.get("status") else {"status__in": _UNSUCCESSFUL}
    return Search(
        lambda rows: rows.filter(**scope, error_message__icontains=text),
        lambda rows: rows.filter(**scope),
    )


def _by_param(request: HttpRequest, name: str, text: str) -> Search:
    names = {each for spec in handlers for each in spec.options.sensitive}
    if is_sensitive(name, names) and not sees_secrets(request):
        raise IncorrectLookupParameters(
            _("To search for %s takes the permission to see sensitive params.") % name
        )
    condition = Q()
    for value in _meant(text):
        condition |= Q(searched_param=value)

    def narrow(rows: Rows) -> Rows:
        with_param: Rows = rows.alias(searched_param=KeyTransform(name, "params"))
        return with_param.filter(condition)

    return Search(narrow, lambda rows: rows)


def _meant(text: str) -> list[Any]:
    """Return the values that a text may stand for: itself, and the number or word that it is."""
    values: list[Any] = [text]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return values
    if isinstance(value, str) and storable_text(value, _MAX_LENGTH) == value:
        return [value, text]
    if isinstance(value, bool) or (isinstance(value, int | float) and math.isfinite(value)):
        values.append(value)
    return values
