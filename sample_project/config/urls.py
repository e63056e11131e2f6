"""URLs of the sample project: the admin, the HTTP API, and short ways to both."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/", include("jobu.api.urls")),
    path("docs", RedirectView.as_view(pattern_name="jobu-api-docs")),
    path("crons", RedirectView.as_view(pattern_name="admin:jobu_cronjob_changelist")),
    path("jobs", RedirectView.as_view(pattern_name="admin:jobu_jobexecution_changelist")),
]
