"""What is to be looked at, and acted upon by verbs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.forms.widgets import Script

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class JobuAdmin(ModelAdmin):
    """Brings the looks and the scripts of jobu's pages."""

    # Counts beside each filter would read the whole history, once for each.
    show_facets = admin.ShowFacets.NEVER

    class Media:
        css = {"all": ["jobu/admin.css"]}  # noqa: RUF012 - as Django reads it
        js = [  # noqa: RUF012
            Script(f"jobu/{name}.js", type="module")
            for name in ("live", "forms", "params", "preview")
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Name the list by what is in it, not by "Select … to change"."""
        title = {"title": str(self.opts.verbose_name_plural).capitalize()}
        return super().changelist_view(request, {**title, **(extra_context or {})})

    def gone(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say that there is no such row any more, as Django's own pages do."""
        redirect: Any = getattr(self, "_get_obj_does_not_exist_redirect")  # noqa: B009 - not in stubs
        response: HttpResponse = redirect(request, self.opts, object_id)
        return response

    def allows(self, request: HttpRequest, codename: str) -> bool:
        """Tell whether the user has the permission of that name on jobu."""
        return request.user.has_perm(f"jobu.{codename}")


class ReadOnlyAdmin(JobuAdmin):
    """Adds, changes and deletes nothing by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
