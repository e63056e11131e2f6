"""Whatever an address asks for, by whomever: no 500, and nothing that holds a web process."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from jobu.models import ApiToken, CronJob, DeadLetter, JobExecution, Process, Status
from tests.admin.pages import act, list_of, page_of, staff
from tests.builders import (
    cron,
    dead_letter,
    finished,
    log_line,
    pending,
    process,
    running,
)

pytestmark = pytest.mark.django_db

# What the lists read from their address: Django's own, and their filters.
LISTS = {
    CronJob: (
        "q",
        "p",
        "o",
        "all",
        "e",
        "_facets",
        "_popup",
        "_to_field",
        "is_enabled",
        "failing",
        "handler_name",
        "queue",
    ),
    JobExecution: (
        *("q", "p", "o", "before", "after", "status", "handler_name", "cron", "queue"),
        *("param_source", "created", "from", "to", "failure", "range"),
    ),
    DeadLetter: ("q", "p", "o", "all", "state"),
    Process: ("p", "o", "kind"),
    ApiToken: ("q", "p", "o", "scope"),
}
OTHERS = (
    *("_popup", "_to_field", "_changelist_filters", "id", "copy", "range", "name", "term"),
    *("cron_expression", "timezone", "starts_at", "handler_params"),
    *("level", "before", "after"),
)
VALUES = (
    "",
    "x",
    "0",
    "9" * 19,
    "-" + "9" * 30,
    "9" * 5000,
    "٣",
    "\0",
    "\ufffd\uffff\U0010ffff\u202e",
    "'\"\\",
    "(" * 500,
    "0001-01-01T00:00",
    "9999-12-31T23:59:59.999999",
    "9999-12-31T23:59-14:00",
    "0001-01-01T00:00+14:00",
    "1.-2.999999999999999999999.x",
    "{}",
    '{"a": ' * 200,
    "a " * 2000,
)


@pytest.fixture
def pages() -> list[str]:
    """Return every page that is looked at, with something on it."""
    job = cron()
    worker = process(slots=1)
    failed = finished(Status.FAILED, job=job, claimed_by=worker.pk)
    runs = running(worker.pk)
    log_line(failed)
    letter = dead_letter()
    token = ApiToken.objects.create(name="ci")
    fields = {"jobexecution": "job", "deadletter": "execution"}
    return [
        *(page_of(row) for row in (job, runs, failed, worker, letter, token)),
        *(page_of(row, "history") for row in (job, failed, letter, worker, token)),
        *(page_of(job, name) for name in ("run", "backfill", "delete")),
        page_of(failed, "retry"),
        *(reverse(f"admin:jobu_cronjob_{name}") for name in ("add", "preview", "handler")),
        reverse("admin:jobu_apitoken_add"),
        reverse("admin:jobu_jobexecution_live"),
        reverse("admin:jobu_publish"),
        reverse("admin:jobu_failures"),
        reverse("admin:jobu_jobexecution_add"),
        reverse("admin:jobu_jobexecution_lines", args=[failed.pk]),
        reverse("admin:jobu_dashboard_changelist"),
        reverse("admin:jobu_dashboard_data"),
        *(
            reverse("admin:autocomplete") + f"?app_label=jobu&model_name={model}&field_name={field}"
            for model, field in fields.items()
        ),
    ]


@pytest.fixture
def visitors(admin_user: User) -> dict[str, Client]:
    root = Client()
    root.force_login(admin_user)
    return {
        "anonymous": Client(),
        "no permission": staff(),
        "viewer": staff(*(f"view_{model._meta.model_name}" for model in LISTS), "view_dashboard"),
        "root": root,
    }


def visit(client: Client, page: str, query: list[tuple[str, str]]) -> None:
    address = page + ("&" if "?" in page else "?") + urlencode(query)
    # An exception that no page handles is raised right here.
    assert client.get(address).status_code in (200, 302, 400, 403, 404), address


@pytest.mark.parametrize("model", LISTS)
def test_no_filter_of_a_list_is_a_500(model: type[Model], visitors: dict[str, Client]) -> None:
    cron()
    pending()
    for name in LISTS[model]:
        for value in VALUES:
            visit(visitors["viewer"], list_of(model), [(name, value)])
        visit(visitors["viewer"], list_of(model), [(name, "1"), (name, "x"), (name, "\0")])


# Over a thousand pages, of which the database hears nothing new.
@pytest.mark.pure
def test_no_query_of_any_other_page_is_a_500_to_anybody(
    pages: list[str], visitors: dict[str, Client]
) -> None:
    for client in visitors.values():
        for page in pages:
            for value in ("", "1", "9" * 30, "\0", "0001-01-01", "(" * 500):
                visit(client, page, [(name, value) for name in OTHERS])
                visit(client, page, [(name, value) for name in OTHERS if name != "_to_field"])


@pytest.mark.parametrize("date", ["0001-01-01", "1969-12-31", "9999-12-31", "x", "\0"])
def test_no_date_of_a_form_is_a_500(date: str, admin_client: Client) -> None:
    job = cron()
    times = {f"{name}_{part}": date for name in ("start", "end") for part in "0"}
    times |= {f"{name}_1": "00:00:00" for name in ("start", "end")}
    page = admin_client.post(page_of(job, "backfill"), times)
    assert page.context["form"].errors
    form = {"starts_at_0": date, "starts_at_1": "00:00", "ends_at_0": date, "ends_at_1": "00:00"}
    page = admin_client.post(page_of(job), form)
    assert {"starts_at", "ends_at"} <= set(page.context["adminform"].form.errors)


@pytest.mark.parametrize("verb", ["retry", "cancel", "raise_priority", "discard"])
def test_no_number_of_an_action_is_a_500(verb: str, admin_client: Client) -> None:
    execution = pending()
    for value in ("", "x", "-1", "9" * 30, "-" + "9" * 30, "9" * 5000, "\0"):
        for everything in ({}, {"everything": "1"}):
            numbers = dict.fromkeys(("after", "until", "done", "number"), value)
            form = {"ids": [value, str(execution.pk)], "confirmed": "1", "back": value}
            page = admin_client.post(act(verb), {**form, **numbers, **everything})
            assert page.status_code in (200, 302)


def test_a_search_that_cannot_be_understood_does_not_act_on_everything(
    admin_client: Client,
) -> None:
    execution = finished(Status.FAILED)
    for query in ({"q": "\0"}, {"from": "0001-01-01T00:00"}, {"queue": "\0"}):
        page = admin_client.post(act("discard", **query), {"everything": "1", "confirmed": "1"})
        assert page.status_code == 302
        assert JobExecution.objects.filter(pk=execution.pk).exists()
    page = admin_client.post(act("discard", error_message__regex="."), {"everything": "1"})
    assert page.status_code == 400


# Refused before the database is asked.
@pytest.mark.pure
@pytest.mark.parametrize("model", LISTS)
@pytest.mark.parametrize("lookup", ["regex", "iregex", "contains", "exact", "gt", "isnull", "in"])
def test_a_list_has_its_filters_and_no_other_lookup(
    lookup: str, model: type[Model], admin_client: Client
) -> None:
    for field in model._meta.get_fields():
        address = list_of(model, **{f"{field.name}__{lookup}": "1"})
        assert admin_client.get(address).status_code == 400, address
    assert admin_client.get(list_of(model, job__name__regex="^(a+)+z$")).status_code == 400


@pytest.mark.parametrize("term", ["a " * 1000, "\"'" * 3000, "%" * 3000, "x" * 100_000])
@pytest.mark.parametrize("model", [CronJob, ApiToken, JobExecution])
def test_a_long_search_finds_nothing(model: type[Model], term: str, admin_client: Client) -> None:
    cron()
    pending()
    page = admin_client.get(list_of(model, q=term))
    assert page.status_code == 200
    assert list(page.context["cl"].result_list) == []
