"""Whoever comes from a filtered list finds it filtered when they are back."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import reverse

from jobu.models import DeadLetter, JobExecution, Status
from tests.admin.executions.test_bulk import confirm
from tests.admin.pages import act, list_of, page_of
from tests.builders import finished, pending

pytestmark = pytest.mark.django_db

FILTER = "status=dead&handler_name=fail"
LIST = f"/admin/jobu/jobexecution/?{FILTER}"


def link_to(client: Client, row: JobExecution) -> str:
    """Return the address to which the filtered list links."""
    found = re.search(rf'href="([^"]*/{row.pk}/change/[^"]*)"', client.get(LIST).text)
    assert found
    return unescape(found[1])


def test_the_page_of_one_leads_back_to_the_filtered_list(admin_client: Client) -> None:
    failed = finished(Status.FAILED, handler_name="fail")
    page = admin_client.get(link_to(admin_client, failed))
    assert f'href="{LIST.replace("&", "&amp;")}"' in page.text


def test_a_retry_comes_back_to_the_page_with_its_filter(admin_client: Client) -> None:
    failed = finished(Status.FAILED, handler_name="fail")
    address = link_to(admin_client, failed)
    [back] = re.findall(
        r'name="confirmed" value="1"><input[^>]*name="back" value="([^"]*)"',
        admin_client.get(address).text,
    )
    page = admin_client.post(
        act("retry"), {"ids": failed.pk, "confirmed": "1", "back": unescape(back)}
    )
    assert page.headers["Location"] == address


def test_a_discard_comes_back_to_the_filtered_list(admin_client: Client) -> None:
    failed = finished(Status.FAILED, handler_name="fail")
    text = admin_client.get(link_to(admin_client, failed)).text
    [back] = re.findall(
        r'name="ids" value="\d+">\s*<input type="hidden" name="back" value="([^"]*)"', text
    )
    question = admin_client.post(act("discard"), {"ids": failed.pk, "back": unescape(back)})
    page = confirm(admin_client, question)
    assert page.redirect_chain == [(LIST, 302)]


def test_a_retry_with_other_params_comes_back_with_the_filter(admin_client: Client) -> None:
    failed = finished(Status.FAILED, handler_name="echo")
    query = f"?_changelist_filters={quote('status=dead')}"
    address = reverse("admin:jobu_jobexecution_retry", args=[failed.pk]) + query
    assert address in admin_client.get(page_of(failed) + query).text
    page = admin_client.post(address, {"params": "{}"})
    assert page.headers["Location"] == page_of(failed) + query


def test_a_discarded_message_comes_back_to_the_filtered_list(admin_client: Client) -> None:
    letter = DeadLetter.objects.create(adapter="kafka", source_id="1", body=b"x", reason="x")
    query = f"?_changelist_filters={quote('state=all')}"
    address = reverse("admin:jobu_deadletter_discard", args=[letter.pk]) + query
    assert address in admin_client.get(page_of(letter) + query).text
    page = admin_client.post(address)
    assert page.headers["Location"] == list_of(DeadLetter, state="all")


@pytest.mark.parametrize("kept", ["//evil.example/", "https://evil.example/", '"><script>', "\0"])
def test_a_made_up_filter_leads_nowhere_else(admin_client: Client, kept: str) -> None:
    execution = pending()
    page = admin_client.get(page_of(execution), {"_changelist_filters": kept})
    assert page.context["list_url"].startswith("/admin/jobu/jobexecution/?")
    assert '"><script>' not in page.text
