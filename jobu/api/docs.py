"""The page that shows the OpenAPI document, without files from other servers.

Swagger UI comes with ninja. Its files are served from there, so a project needs no more static
files, and a Content-Security-Policy that allows a site's own files is enough.
"""

from __future__ import annotations

from pathlib import Path

import ninja
from django.conf import settings as django_settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe
from django.views.static import serve

from jobu.api.auth import is_staff

_HERE = Path(__file__).parent
_SWAGGER = Path(ninja.__file__).parent / "static" / "ninja"
ASSETS = {
    "swagger-ui.css": _SWAGGER,
    "swagger-ui-bundle.js": _SWAGGER,
    "docs.css": _HERE,
    "docs.js": _HERE,
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    if not is_staff(getattr(request, "user", None)):
        return redirect_to_login(request.get_full_path(), _login_url())
    response = render(request, "jobu/api/docs.html", {"root": request.path.removesuffix("docs")})
    response["Content-Security-Policy"] = POLICY
    return response


@require_safe
def asset(request: HttpRequest, name: str) -> HttpResponseBase:
    response = serve(request, name, document_root=str(ASSETS[name]))
    response["Cache-Control"] = "public, max-age=86400"
    return response


def _login_url() -> str:
    try:
        return reverse("admin:login")
    except NoReverseMatch:
        return str(django_settings.LOGIN_URL)
