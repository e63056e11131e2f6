"""Check the caller: staff by their session, programs by a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings as django_settings
from django.db.models import BooleanField, ExpressionWrapper, Q
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from jobu.api.errors import forbidden, unauthenticated
from jobu.conf import settings
from jobu.dialects import DatabaseNow
from jobu.models import ApiToken
from jobu.models.api_token import Scope, hash_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

_SECONDS_BETWEEN_NOTES_OF_USE = 60
_LONGEST_SECRET = 200


class StaffSession(APIKeyCookie):
    """A logged-in user of the admin with all permissions; unsafe methods need the CSRF token."""

    param_name = django_settings.SESSION_COOKIE_NAME

    def __init__(self, *permissions: str) -> None:
        super().__init__()
        self._permissions = permissions

    def __call__(self, request: HttpRequest) -> Any:
        user = getattr(request, "user", None)
        # A token counts more than a cookie that the browser sends, too.
        if _sends_token(request) or user is None or not user.is_authenticated:
            return None
        if not is_staff(user):
            raise forbidden("Only staff may do this.")
        if missing := [each for each in self._permissions if not may(user, each)]:
            raise forbidden(f"This needs a staff user with the permission jobu.{missing[0]}.")
        if check_csrf(request):
            raise forbidden("The CSRF token is missing or wrong.", "csrf_failed")
        return user

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        raise NotImplementedError


class BearerToken(HttpBearer):
    """An API token whose scope is wide enough."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        known: Any = None
        if len(token) <= _LONGEST_SECRET:
            known = (
                ApiToken.objects.valid()
                .annotate(is_use_unnoted=_is_use_unnoted())
                .filter(secret_hash=hash_of(token))
                .first()
            )
        if known is None:
            raise unauthenticated("This token is unknown or was revoked.")
        if self._scope == Scope.WRITE and known.scope != Scope.WRITE:
            raise forbidden("This token may only read; make one with the scope write.")
        if known.is_use_unnoted:
            ApiToken.objects.filter(pk=known.pk).update(last_used_at=DatabaseNow())
        return known


def is_staff(user: Any) -> bool:
    """Tell whether the admin would let the user in; not every project's users are so marked.

    There are authentication backends that let inactive users log in, so that is looked at, too.
    """
    return bool(getattr(user, "is_active", False) and getattr(user, "is_staff", False))


def may(user: Any, permission: str) -> bool:
    """Tell whether the user has the permission; as in the admin, who may change may also view."""
    if user.has_perm(f"jobu.{permission}"):
        return True
    verb, _, model = permission.partition("_")
    return bool(verb == "view" and user.has_perm(f"jobu.change_{model}"))


def reading(*permissions: str) -> list[Callable[[HttpRequest], Any]]:
    """Return who may read: staff with all the permissions, and every token."""
    return [BearerToken(Scope.READ), StaffSession(*permissions)]


def writing(permission: str, *others: str) -> list[Callable[[HttpRequest], Any]]:
    """Return who may write: staff with all the permissions, and tokens of that scope.

    The answer shows the row, so a user must also be allowed to view it.
    """
    _, _, model = permission.partition("_")
    return [BearerToken(Scope.WRITE), StaffSession(permission, f"view_{model}", *others)]


def sees_secrets(request: Any) -> bool:
    """Tell whether the caller sees sensitive params: users with the permission, but no token."""
    caller = request.auth
    return not isinstance(caller, ApiToken) and caller.has_perm("jobu.view_sensitive_params")


def open_or_reading(request: HttpRequest) -> Any:
    """Let everybody in; or only callers of `reading()`, if the project wants that."""
    if settings.API_HEALTH_OPEN:
        return True
    return next(filter(None, (callback(request) for callback in reading())), None)


def _sends_token(request: HttpRequest) -> bool:
    scheme, _, _ = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == BearerToken.openapi_scheme


def _is_use_unnoted() -> ExpressionWrapper[Any]:
    """Store the time of last use, once a minute: not every request should write."""
    long_ago = DatabaseNow(-_SECONDS_BETWEEN_NOTES_OF_USE)
    return ExpressionWrapper(
        Q(last_used_at__isnull=True) | Q(last_used_at__lt=long_ago), BooleanField()
    )
