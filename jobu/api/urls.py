"""URLs of the HTTP API: `path("api/jobu/", include("jobu.api.urls"))`."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables

from jobu import logs
from jobu.api.docs import ASSETS, asset, docs
from jobu.api.endpoints import api
from jobu.api.errors import answer, method_not_allowed, not_found

if TYPE_CHECKING:
    from collections.abc import Callable

_SAFE = ("GET", "HEAD")


def _in_envelope(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a view answer HEAD like GET, refuse other methods with our errors, and log who wrote."""

    # Tokens need no CSRF check, and sessions are checked where they are looked at. The variables
    # are kept out of error reports: they hold tokens and params.
    @csrf_exempt
    @sensitive_variables()
    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        method = request.method
        request.method = "GET" if method == "HEAD" else method
        response = view(request, **kwargs)
        request.method = method
        if isinstance(response, HttpResponseNotAllowed):
            response = method_not_allowed(str(method), response["Allow"])
        if method not in _SAFE and hasattr(request, "auth"):
            logs.api_written(str(request.auth), str(method), request.path, response.status_code)
        response.setdefault("Cache-Control", "no-store")
        response["X-Content-Type-Options"] = "nosniff"
        return response

    return wrapped


def _unknown(request: HttpRequest) -> HttpResponse:
    return answer(not_found(f"There is nothing at {request.path}; docs lists what there is."))


_endpoints: list[Any] = api.urls[0]
for _pattern in _endpoints:
    _pattern.callback = _in_envelope(_pattern.callback)

urlpatterns = [
    path("docs", _in_envelope(docs), name="jobu-api-docs"),
    *(path(f"docs/{name}", _in_envelope(asset), {"name": name}) for name in ASSETS),
    path("", _in_envelope(_unknown)),
    path("", (_endpoints, "ninja", api.urls_namespace)),
    re_path("", _in_envelope(_unknown)),
]
