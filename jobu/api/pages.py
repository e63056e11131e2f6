"""Pages in the order of primary keys: each page costs the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, Field, ValidationInfo, model_validator

from jobu.api.errors import invalid
from jobu.api.values import Id

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

MAX_PER_PAGE = 500


class Parameters(BaseModel):
    """The query string of an operation."""

    @model_validator(mode="after")
    def _refuse_unknown_names(self, info: ValidationInfo) -> Self:
        """Otherwise a misspelt filter would return everything."""
        known = [field.alias or name for name, field in type(self).model_fields.items()]
        request: HttpRequest = (info.context or {})["request"]
        unknown = [name for name in request.GET if name not in known]
        if unknown:
            text = f"There is no such parameter; there are {', '.join(known)}."
            raise invalid({name: [text] for name in unknown})
        return self


class PageQuery(Parameters):
    cursor: Id | None = Field(None, description="`next` of the page before.")
    limit: Annotated[int, Field(ge=1, le=MAX_PER_PAGE)] = 50


def page(rows: QuerySet[Any], query: PageQuery) -> dict[str, Any]:
    """Return a page, oldest first."""
    found: list[Model] = list(
        rows.filter(pk__gt=query.cursor or 0).order_by("pk")[: query.limit + 1]
    )
    items = found[: query.limit]
    return {"items": items, "next": str(items[-1].pk) if len(found) > query.limit else None}
