"""Who did what: the admin's own history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import Model
    from django.http import HttpRequest

_MAX_REPR_LENGTH = 200


def record(
    request: HttpRequest,
    model: type[Model],
    named: Iterable[tuple[object, str]],
    message: str,
    flag: int = CHANGE,
) -> None:
    """Write down that the user did this to the rows, given as (primary key, name)."""
    content_type = ContentType.objects.get_for_model(model)
    LogEntry.objects.bulk_create(
        [
            LogEntry(
                user_id=request.user.pk or 0,
                content_type_id=content_type.pk,
                object_id=str(pk),
                object_repr=name[:_MAX_REPR_LENGTH],
                action_flag=flag,
                change_message=message,
            )
            for pk, name in named
        ],
        batch_size=500,
    )
