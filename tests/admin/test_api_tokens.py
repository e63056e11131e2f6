"""API tokens in the admin."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from jobu.models import ApiToken
from tests.api.callers import session, user, works

pytestmark = pytest.mark.django_db


ADD = reverse("admin:jobu_apitoken_add")


LIST = reverse("admin:jobu_apitoken_changelist")


def make_in_admin(client: Client, **fields: str) -> Any:
    return client.post(ADD, {"name": "ci", "scope": "read", **fields})


def test_a_token_is_made_in_the_admin_and_its_secret_shown_once(admin_client: Client) -> None:
    page = make_in_admin(admin_client)
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    [secret] = re.findall(r"<pre>(jobu_[\w-]+)</pre>", page.text)
    assert works(secret)
    token = ApiToken.objects.get()
    assert (token.name, token.scope, token.created_by) == ("ci", "read", "admin")
    detail = reverse("admin:jobu_apitoken_change", args=[token.pk])
    for url in (LIST, detail):
        shown = admin_client.get(url)
        assert shown.status_code == 200
        assert secret not in shown.text and token.secret_hash not in shown.text


def test_a_name_is_given_once(admin_client: Client) -> None:
    make_in_admin(admin_client)
    assert "already exists" in make_in_admin(admin_client).text
    assert ApiToken.objects.count() == 1


def test_a_token_does_not_change_it_is_revoked(admin_client: Client) -> None:
    [secret] = re.findall(r"<pre>(jobu_[\w-]+)</pre>", make_in_admin(admin_client).text)
    token = ApiToken.objects.get()
    detail = reverse("admin:jobu_apitoken_change", args=[token.pk])
    admin_client.post(detail, {"name": "other", "scope": "write"})
    token.refresh_from_db()
    assert (token.name, token.scope) == ("ci", "read")
    action = {"action": "revoke", "_selected_action": [token.pk]}
    assert "1 token was revoked." in admin_client.post(LIST, action, follow=True).text
    assert not works(secret)
    assert LogEntry.objects.filter(change_message="Revoked.").count() == 1
    assert "0 tokens were revoked." in admin_client.post(LIST, action, follow=True).text


def test_the_admins_permissions_decide_who_makes_and_revokes_tokens() -> None:
    viewer = session(user("viewer", "view_apitoken"))
    assert make_in_admin(viewer).status_code == 403
    token = ApiToken.objects.create(name="ci")
    viewer.post(LIST, {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is None
