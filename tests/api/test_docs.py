"""The page of the API's documentation: nothing inline, nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from jobu import enqueue
from jobu.api.docs import ASSETS
from tests.api.callers import ROOT, Api, session, user

pytestmark = pytest.mark.django_db

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


class Parts(HTMLParser):
    """Collects what a browser would load, and what it would run inline."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.inline += [name for name in values if name.startswith("on") or name == "style"]
        if tag in ("script", "link", "img"):
            self.loaded.append(values.get("src") or values.get("href") or "")
        self._in_script = tag == "script"

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.inline.append(data)


@pytest.fixture
def staff() -> Client:
    return session(user("staff"))


def test_the_page_loads_only_its_own_files_and_runs_nothing_inline(staff: Client) -> None:
    page = staff.get(ROOT + "docs")
    parts = Parts(page.text)
    assert not parts.inline
    assert set(parts.loaded) == {f"{ROOT}docs/{name}" for name in ASSETS}


def test_the_page_brings_a_strict_policy_of_its_own(staff: Client, settings: Any) -> None:
    settings.MIDDLEWARE = [each for each in settings.MIDDLEWARE if "strict_policy" not in each]
    policy = staff.get(ROOT + "docs")["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy and "data:" not in policy


@pytest.mark.parametrize("name", ASSETS)
def test_its_files_need_neither_collectstatic_nor_a_session(name: str, client: Client) -> None:
    response = client.get(f"{ROOT}docs/{name}")
    assert response.status_code == 200
    assert response["Content-Type"] == ("text/css" if name.endswith("css") else "text/javascript")
    assert "max-age" in response["Cache-Control"]
    body = b"".join(response).decode()
    # Comments and messages may name other sites; nothing is loaded from one.
    assert not re.search(r"""(@import|url\(|importScripts\()\s*["']?https?:""", body)


def test_who_is_not_staff_is_sent_to_the_login(client: Client) -> None:
    response = client.get(ROOT + "docs")
    assert (response.status_code, response["Location"]) == (
        302,
        "/admin/login/?next=/api/jobu/docs",
    )


def test_the_document_names_the_paths_of_this_project(staff: Client) -> None:
    document = Api(staff).get("openapi.json").body
    assert all(path.startswith(ROOT) for path in document["paths"])
    assert f"{ROOT}jobs/{{job_id}}/retry" in document["paths"]
    assert set(document["components"]["securitySchemes"]) == {"BearerToken", "StaffSession"}


def test_what_handlers_and_people_write_is_data_to_a_browser(api: Api) -> None:
    job = enqueue("echo", {"text": HOSTILE}, queue=HOSTILE[:90]).pk
    cron = {"name": HOSTILE, "cron_expression": "0 2 * * *", "handler_name": "echo"}
    made = api.post("crons", {**cron, "description": HOSTILE}).body["id"]
    for path in (f"jobs/{job}", f"crons/{made}", "jobs", f"no{HOSTILE}", "jobs?status=" + HOSTILE):
        response = api.client.get(ROOT + path, headers=api.headers)
        assert response["Content-Type"].startswith("application/json")
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Cache-Control"] == "no-store"
    assert HOSTILE not in session(user("staff")).get(ROOT + "openapi.json").text
