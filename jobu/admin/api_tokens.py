"""The page of API tokens: make one, see its secret once, revoke it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobu.admin.shared.base import JobuAdmin
from jobu.admin.shared.filters import WordFilter
from jobu.models import ApiToken
from jobu.models.api_token import Scope

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse


class ScopeFilter(WordFilter):
    title = _("scope")
    parameter_name = "scope"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(Scope.choices)


@admin.register(ApiToken)
class ApiTokenAdmin(JobuAdmin):
    list_display = ("name", "scope", "created_by", "created_at", "last_used_at", "revoked_at")
    list_filter = (ScopeFilter,)
    ordering = ("name",)
    search_fields = ("name", "created_by")
    fields = ("name", "scope", "created_by", "created_at", "last_used_at", "revoked_at")
    actions = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> tuple[str, ...]:
        return ("name", "scope") if obj is None else self.fields

    def get_readonly_fields(
        self, request: HttpRequest, obj: ApiToken | None = None
    ) -> tuple[str, ...]:
        """Let nobody change a token that is in use; it can only be revoked."""
        return () if obj is None else self.fields

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        if change:
            return
        request.jobu_secret = obj.renew_secret()  # type: ignore[attr-defined]
        obj.created_by = request.user.get_username()
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret in this response; for a redirect it would have to be stored."""
        context = {
            "token": obj,
            "secret": request.jobu_secret,  # type: ignore[attr-defined]
        }
        template = "admin/jobu/apitoken/secret.html"
        return self.render(request, template, _("API token made"), context)

    @admin.action(description=_("Revoke selected tokens"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        tokens = list(queryset.filter(revoked_at__isnull=True))
        for token in tokens:
            self.log_change(request, token, "Revoked.")
        # By id: MySQL cannot update a table that the same statement reads.
        count = ApiToken.objects.filter(pk__in=[token.pk for token in tokens]).revoke()
        text = ngettext("%d token was revoked.", "%d tokens were revoked.", count)
        self.message_user(request, text % count, messages.SUCCESS)
