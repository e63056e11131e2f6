"""A page with words where a traceback would say that jobu's tables are missing."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from django.db import Error
from django.template.response import SimpleTemplateResponse, TemplateResponse
from django.utils.translation import gettext as _

from jobu.conf import settings
from jobu.dialects import not_migrated
from jobu.exceptions import NotMigratedError
from jobu.printable import first_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.admin import AdminSite
    from django.http import HttpRequest, HttpResponse

    View = Callable[..., HttpResponse]


def with_words(view: View, site: AdminSite) -> View:
    """Return a view that answers with a page if `manage.py migrate` was not run."""

    def said(request: HttpRequest, answer: Callable[[], HttpResponse]) -> HttpResponse:
        try:
            return answer()
        except Error as error:
            if not_migrated(error) is None:
                raise
            return _page(request, site, error)

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = said(request, lambda: view(request, *args, **kwargs))
        if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
            # Lists read their rows when they are rendered, which is later.
            lazy: Any = response
            render = lazy.render
            lazy.render = lambda: said(request, render)
        return response

    return guarded


def _page(request: HttpRequest, site: AdminSite, error: BaseException) -> HttpResponse:
    """Ask nothing of the database: its transaction may be broken."""
    context = {
        "site_title": site.site_title,
        "site_header": site.site_header,
        "title": _("The database is not ready"),
        "alias": settings.DATABASE,
        "detail": first_line(error.__cause__ if isinstance(error, NotMigratedError) else error),
    }
    request.current_app = site.name
    # The header is for scripts, which show no page.
    page = TemplateResponse(
        request,
        "jobu/not_migrated.html",
        context,
        status=503,
        headers={"Jobu-Problem": "not-migrated"},
    )
    return page.render()
