"""URLs of the sample project: the admin, the way there, and the HTTP API."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/jobu/", include("jobu.api.urls")),
]
