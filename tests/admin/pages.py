"""Addresses of the admin's pages, and users of all kinds to visit them."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse


def list_of(model: type[Model], **query: Any) -> str:
    return reverse(f"admin:jobu_{model._meta.model_name}_changelist", query=query)


def page_of(row: Model, page: str = "change") -> str:
    return reverse(f"admin:jobu_{row._meta.model_name}_{page}", args=[row.pk])


def act(verb: str, **query: Any) -> str:
    return reverse("admin:jobu_jobexecution_act", args=[verb], query=query)


def user_with(*codenames: str) -> User:
    """Make a member of the staff with these permissions."""
    user = User.objects.create_user(f"user{User.objects.count()}", is_staff=True)
    found = Permission.objects.filter(content_type__app_label="jobu", codename__in=codenames)
    assert found.count() == len(codenames)
    user.user_permissions.set(found)
    return user


def staff(*codenames: str) -> Client:
    """Return a browser in which a member of the staff with these permissions is logged in."""
    client = Client(enforce_csrf_checks=False)
    client.force_login(user_with(*codenames))
    return client


def history() -> list[tuple[str, str, str]]:
    """Return who did what to which row."""
    entries = LogEntry.objects.order_by("id").select_related("user")
    return [(e.user.get_username(), e.object_id or "", e.change_message) for e in entries]


def told(response: Any) -> list[str]:
    """Return the messages of the page that a post led to."""
    return [str(message) for message in response.context["messages"]]
