"""The dashboard's page and data: who may see them, and what they say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import reverse

import jobu
from jobu import enqueue
from jobu.models import Status, Summary
from tests.builders import finished, process

pytestmark = pytest.mark.django_db

PAGE = "/admin/jobu/dashboard/"
DATA = "/admin/jobu/dashboard/data/"


@pytest.fixture
def staff(client: Client, django_user_model: type[User]) -> User:
    user = django_user_model.objects.create_user("staff", password="x", is_staff=True)
    client.force_login(user)
    return user


def may(user: User, *codenames: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))


def data_of(client: Client, **query: str) -> Any:
    return client.get(DATA, query).json()


def test_it_stands_in_the_index_of_any_admin_site(admin_client: Client) -> None:
    assert reverse("admin:jobu_dashboard_changelist") == PAGE
    assert f'href="{PAGE}"' in admin_client.get("/admin/").text
    assert admin_client.get(PAGE).status_code == 200


@pytest.mark.parametrize("address", [PAGE, DATA])
def test_strangers_are_sent_to_the_login(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("address", [PAGE, DATA])
def test_staff_needs_the_permission(client: Client, staff: User, address: str) -> None:
    may(staff, "view_jobexecution")
    assert client.get(address).status_code == 403
    assert PAGE not in client.get("/admin/").text
    may(staff, "view_dashboard")
    assert client.get(address).status_code == 200
    assert PAGE in client.get("/admin/").text


def test_links_lead_only_where_the_reader_may_go(client: Client, staff: User) -> None:
    def urls() -> dict[str, str]:
        context = client.get(PAGE).context
        found: dict[str, str] = context["config"]["urls"]
        return found

    may(staff, "view_dashboard")
    assert urls() == {}
    may(staff, "view_jobexecution", "change_cronjob")
    assert urls() == {
        "executions": "/admin/jobu/jobexecution/",
        "failures": "/admin/jobu/jobexecution/failures/",
        "cron": "/admin/jobu/cronjob/0/change/",
    }


def test_the_page_has_no_inline_script_or_style(admin_client: Client) -> None:
    text = admin_client.get(PAGE).text
    scripts = text.split("<script")[1:]
    assert all(
        each.startswith((" src=", ' id="board-config" type="application/json"')) for each in scripts
    )
    assert " style=" not in text
    assert "<style" not in text
    assert "onclick" not in text


def test_the_data_tell_what_ran_what_waits_and_who_works(admin_client: Client) -> None:
    finished()
    finished(Status.TIMEOUT, handler_name="slow")
    enqueue("echo", queue="mail")
    process(slots=5)
    data = data_of(admin_client)
    assert data["range"] == "hour"
    assert len(data["steps"]) == 60
    assert data["total"]["outcomes"] == {"SUCCESS": 1, "FAILED": 0, "TIMEOUT": 1, "CANCELLED": 0}
    assert [(each["name"], each["failure_rate"]) for each in data["handlers"]] == [
        ("slow", 1),
        ("echo", 0),
    ]
    assert [(each["queue"], each["due"]) for each in data["waiting"]] == [("mail", 1)]
    assert [each["slots"] for each in data["processes"]] == [5]


@pytest.mark.parametrize(("asked", "steps"), [("day", 96), ("week", 84), ("century", 60), ("", 60)])
def test_the_range_is_one_of_those_there_are(admin_client: Client, asked: str, steps: int) -> None:
    assert len(data_of(admin_client, range=asked)["steps"]) == steps


def test_where_nobody_works_looking_at_it_summarises(admin_client: Client) -> None:
    finished(days_ago=3)
    assert data_of(admin_client, range="week")["total"]["outcomes"]["SUCCESS"] == 0
    while data_of(admin_client, range="week")["unsummarized"]:
        pass
    assert data_of(admin_client, range="week")["total"]["outcomes"]["SUCCESS"] == 1


def test_where_somebody_works_looking_at_it_writes_nothing(admin_client: Client) -> None:
    finished(days_ago=3)
    process()
    assert data_of(admin_client, range="week")["unsummarized"]
    assert not Summary.objects.exists()


@pytest.mark.pure
def test_its_files_can_be_collected_with_hashed_names(tmp_path: Path) -> None:
    backend = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    storages = {"staticfiles": {"BACKEND": backend}}
    with override_settings(STATIC_ROOT=tmp_path, STORAGES=storages):
        call_command("collectstatic", interactive=False, verbosity=0)
    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert {name for name in names if name.startswith("jobu/dashboard/")} == {
        f"jobu/dashboard/{name}"
        for name in ("charts.js", "dashboard.css", "dashboard.js", "format.js", "tables.js")
    }
    assert "jobu/vendor/chart.js-4.6.1/LICENSE.md" in names


@pytest.mark.pure
def test_the_files_of_others_are_those_that_were_recorded() -> None:
    folder = Path(jobu.__file__).parent / "static" / "jobu" / "vendor"
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    recorded = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert recorded == {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*/*")
    }
