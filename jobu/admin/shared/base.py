"""The admin class that every screen is made from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import SEARCH_VAR
from django.contrib.contenttypes.models import ContentType
from django.forms.widgets import Script
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.text import capfirst
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from jobu.admin.shared.filters import parameters_of
from jobu.admin.shared.not_migrated import with_words
from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Process
from jobu.reading import recent_troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.db.models import Model, QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

    from jobu.reading import Trouble

    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin

_MAX_REPR_LENGTH = 200
_MAX_SEARCH_LENGTH = 255
_MAX_SEARCH_WORDS = 10


class JobuAdmin(ModelAdmin):
    """Adds jobu's styles and scripts, and limits what a list can be asked for."""

    empty_value_display = "–"
    # Each count beside a filter would read the whole history.
    show_facets = admin.ShowFacets.NEVER

    class Media:
        css = {"all": ["jobu/admin.css", "jobu/lists.css"]}  # noqa: RUF012 - as Django reads it
        js = [  # noqa: RUF012
            Script(f"jobu/{name}.js", type="module")
            for name in ("live", "lines", "forms", "params", "preview")
        ]

    def render(
        self, request: HttpRequest, template: str, title: object, context: dict[str, Any]
    ) -> HttpResponse:
        """Answer with a page of jobu's own, in the frame of the admin's pages."""
        frame = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "list_url": self.list_address(request),
            "media": self.media,
            "troubles": self.troubles(request),
        }
        return TemplateResponse(request, template, {**frame, **context})

    def list_address(self, request: HttpRequest) -> str:
        """Return the address of the list, with the filter that the user came with."""
        address = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        kept = request.GET.get("_changelist_filters", "")
        return f"{address}?{kept}" if kept else address

    def own_urls(
        self, views: dict[str, tuple[Callable[..., HttpResponse], str]]
    ) -> list[URLPattern]:
        """Return the addresses of views that take this admin, given as route: (view, name)."""
        return [
            path(route, self.admin_site.admin_view(partial(view, admin=self)), name=name)
            for route, (view, name) in views.items()
        ]

    @property
    def urls(self) -> list[URLPattern]:
        """Keep posted values and the views' variables out of error reports."""
        found: list[URLPattern] = super().urls
        for pattern in found:
            view = with_words(pattern.callback, self.admin_site)
            pattern.callback = sensitive_post_parameters()(sensitive_variables()(view))
        return found

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Name the list by what is in it, not by "Select … to change"."""
        frame = {
            "title": capfirst(self.opts.verbose_name_plural),
            "troubles": self.troubles(request),
        }
        return super().changelist_view(request, {**frame, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        found = {"troubles": self.troubles(request)}
        return super().render_change_form(request, {**context, **found}, *args, **kwargs)

    def troubles(self, request: HttpRequest) -> list[Trouble]:
        """Return what keeps jobs from being run, for users who may see executions or processes."""
        may_see = self.shows(request, JobExecution) or self.shows(request, Process)
        return recent_troubles() if may_see else []

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow only the filters of the list; Django would allow any lookup, such as a regex."""
        filters = self.list_filter if request is None else self.get_list_filter(request)
        return lookup in {name for each in filters for name in parameters_of(each)}

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Tell the user why the list cannot be filtered as asked."""
        try:
            # Django would drop such a search, and list everything.
            if "\0" in request.GET.get(SEARCH_VAR, ""):
                raise IncorrectLookupParameters("A NUL character is in no row.")
            return super().get_changelist_instance(request)
        except IncorrectLookupParameters as error:
            self.message_user(request, str(error), messages.ERROR)
            raise

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find nothing if the text is longer than any name, or has too many words."""
        if (
            "\0" in search_term
            or len(search_term) > _MAX_SEARCH_LENGTH
            or len(search_term.split()) > _MAX_SEARCH_WORDS
        ):
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """Take an empty `?_to_field=` as none, where Django looks for a field without a name."""
        return super().get_object(request, object_id, from_field or None)

    def gone(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Tell the user that the row is gone, as Django's own pages do."""
        redirect: Any = getattr(self, "_get_obj_does_not_exist_redirect")  # noqa: B009 - not in stubs
        response: HttpResponse = redirect(request, self.opts, object_id)
        return response

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Let only users who may view a row delete it: the question shows the row."""
        return super().has_delete_permission(request, obj) and self.has_view_permission(
            request, obj
        )

    def shows(self, request: HttpRequest, model: type[Model]) -> bool:
        """Tell whether the user may see the pages of another model."""
        site = self.admin_site
        return site.is_registered(model) and site.get_model_admin(
            model
        ).has_view_or_change_permission(request)

    def allows(self, request: HttpRequest, codename: str) -> bool:
        """Tell whether the user has the permission of that name on jobu."""
        return request.user.has_perm(f"jobu.{codename}")

    def record(
        self,
        request: HttpRequest,
        named: Iterable[tuple[object, str]],
        message: str,
        flag: int = CHANGE,
    ) -> None:
        """Write into the admin's history what the user did to rows: (primary key, name)."""
        content_type = ContentType.objects.get_for_model(self.model)
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


class ReadOnlyAdmin(JobuAdmin):
    """Adds, changes and deletes nothing by hand; each row knows the database's time as `now`."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).annotate(now=DatabaseNow())
        return rows

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
