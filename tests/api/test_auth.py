"""Who may do what: sessions with permissions and CSRF, tokens with scopes."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory
from django.utils import timezone

from jobu.models import ApiToken, JobExecution, Status
from tests.api.callers import KINDS, ROOT, Api, bearer, caller, session, token, user
from tests.builders import cron, finished, pending

pytestmark = pytest.mark.django_db

# Each operation: how it is called, and the permissions that a user needs for it.
OPERATIONS = [
    ("GET", "crons", "", {"view_cronjob"}),
    (
        "POST",
        "crons",
        '{"name": "b", "cron_expression": "0 2 * * *", "handler_name": "echo"}',
        {"add_cronjob", "view_cronjob"},
    ),
    ("GET", "crons/{cron}", "", {"view_cronjob"}),
    ("PATCH", "crons/{cron}", '{"priority": 2}', {"change_cronjob"}),
    ("DELETE", "crons/{cron}", "", {"delete_cronjob", "view_cronjob"}),
    ("POST", "crons/{cron}/toggle", "", {"change_cronjob"}),
    ("POST", "crons/{cron}/run", "", {"run_cronjob", "view_cronjob", "view_jobexecution"}),
    ("GET", "jobs", "", {"view_jobexecution"}),
    ("POST", "jobs", '{"handler_name": "echo"}', {"add_jobexecution", "view_jobexecution"}),
    ("GET", "jobs/{failed}", "", {"view_jobexecution"}),
    ("POST", "jobs/{failed}/retry", "", {"retry_jobexecution", "view_jobexecution"}),
    ("POST", "jobs/{pending}/cancel", "", {"cancel_jobexecution", "view_jobexecution"}),
    ("DELETE", "jobs/{failed}", "", {"delete_jobexecution", "view_jobexecution"}),
    ("GET", "processes", "", {"view_process"}),
    ("GET", "stats", "", {"view_jobexecution", "view_cronjob"}),
    ("GET", "metrics", "", {"view_jobexecution"}),
    ("GET", "openapi.json", "", set()),
]
NAMES = [f"{method} {path}" for method, path, _, _ in OPERATIONS]


@pytest.fixture
def places() -> dict[str, int]:
    """What the paths of the operations are about."""
    return {
        "cron": cron().pk,
        "failed": finished(Status.FAILED).pk,
        "pending": pending().pk,
    }


@pytest.mark.parametrize(("method", "path", "body", "permissions"), OPERATIONS, ids=NAMES)
def test_each_operation_asks_for_its_own_permissions_and_no_others(
    method: str, path: str, body: str, permissions: set[str], places: dict[str, int]
) -> None:
    path = path.format(**places)
    everything = {each for *_, needed in OPERATIONS for each in needed}
    for missing in permissions:
        # As in the admin, who may change may also view.
        others = everything - {missing, missing.replace("view_", "change_")}
        refused = Api(session(user(f"without {missing}", *others))).send(method, path, body)
        assert (refused.status, refused.code) == (403, "forbidden")
        assert f"jobu.{missing}" in refused.message
    allowed = session(user("allowed", *permissions))
    answer = allowed.generic(method, ROOT + path, body, content_type="application/json")
    assert answer.status_code in (200, 201, 204)


@pytest.mark.parametrize(
    ("verb", "make"), [("retry", partial(finished, Status.FAILED)), ("cancel", pending)]
)
def test_who_may_act_but_not_view_learns_nothing_and_changes_nothing(verb: str, make: Any) -> None:
    execution = make(params={"card": "4111"}, error_message="no 4111")
    actor = Api(session(user("actor", f"{verb}_jobexecution", "add_jobexecution")))
    answer = actor.post(f"jobs/{execution.pk}/{verb}")
    assert answer.status == 403
    assert b"4111" not in answer.response.content
    status = execution.status
    execution.refresh_from_db()
    assert execution.status == status


def test_a_taken_dedupe_key_does_not_show_the_execution_to_who_may_only_add() -> None:
    pending(params={"card": "4111"}, dedupe_key="order:1")
    adder = Api(session(user("adder", "add_jobexecution")))
    answer = adder.post("jobs", {"handler_name": "echo", "dedupe_key": "order:1"})
    assert answer.status == 403
    assert b"4111" not in answer.response.content


@pytest.mark.parametrize(("method", "path", "body", "permissions"), OPERATIONS, ids=NAMES)
def test_anonymous_callers_are_asked_who_they_are(
    method: str, path: str, body: str, permissions: set[str], places: dict[str, int]
) -> None:
    answer = caller("anonymous").send(method, path.format(**places), body)
    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert answer.response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path", "body", "permissions"), OPERATIONS, ids=NAMES)
def test_a_read_token_reads_and_a_write_token_does_everything(
    method: str, path: str, body: str, permissions: set[str], places: dict[str, int]
) -> None:
    path = path.format(**places)
    for kind, allowed in [
        ("read token", [200] if method == "GET" else [403]),
        ("write token", [200, 201, 204]),
    ]:
        api = caller(kind)
        answer = api.client.generic(
            method, ROOT + path, body, content_type="application/json", headers=api.headers
        )
        assert answer.status_code in allowed


def test_who_may_change_may_view() -> None:
    assert Api(session(user("editor", "change_cronjob"))).get("crons").status == 200


def test_a_user_who_is_not_staff_is_refused_whatever_the_permissions() -> None:
    outsider = user("outsider", "view_jobexecution", is_staff=False)
    assert Api(session(outsider)).get("jobs").code == "forbidden"


def test_a_user_who_was_deactivated_is_nobody() -> None:
    former = user("former", is_superuser=True)
    client = session(former)
    former.is_active = False
    former.save()
    assert Api(client).get("jobs").status == 401


@pytest.mark.parametrize("path", ["jobs", "openapi.json", "docs", "ready"])
def test_a_deactivated_user_is_refused_even_if_the_project_lets_such_users_log_in(
    path: str, settings: Any
) -> None:
    settings.AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.AllowAllUsersModelBackend"]
    settings.JOBU_API_HEALTH_OPEN = False
    former = user("former", is_superuser=True, is_active=False)
    assert session(former).get(ROOT + path).status_code in (302, 403)


def test_an_unknown_and_a_revoked_token_get_the_same_answer() -> None:
    revoked = caller("read token")
    ApiToken.objects.all().revoke()
    unknown = Api(Client(), Authorization="Bearer jobu_unknown")
    assert revoked.get("jobs").body == unknown.get("jobs").body


def test_a_session_needs_the_csrf_token_to_write_and_not_to_read() -> None:
    client = session(user("root", is_superuser=True), enforce_csrf_checks=True)
    assert Api(client).get("jobs").status == 200
    refused = Api(client).post("jobs", {"handler_name": "echo"})
    assert (refused.status, refused.code) == (403, "csrf_failed")
    assert not JobExecution.objects.exists()
    request = RequestFactory().get("/")
    secret = get_token(request)
    client.cookies["csrftoken"] = request.META["CSRF_COOKIE"]
    with_token = Api(client, **{"X-CSRFToken": secret})
    assert with_token.post("jobs", {"handler_name": "echo"}).status == 201


def test_a_token_needs_no_csrf_token_even_if_a_session_comes_along() -> None:
    client = session(user("root", is_superuser=True), enforce_csrf_checks=True)
    assert Api(client, **bearer()).post("jobs", {"handler_name": "echo"}).status == 201


def test_a_wrong_token_is_not_made_good_by_a_session() -> None:
    client = session(user("root", is_superuser=True))
    for header in ("Bearer jobu_wrong", "Bearer", "bearer x", "Bearer " + "x" * 5000):
        assert Api(client, Authorization=header).get("jobs").status == 401


def test_a_header_that_is_for_somebody_else_does_no_harm() -> None:
    """Such as the password of a proxy, which a browser sends along with the session."""
    client = session(user("root", is_superuser=True))
    assert Api(client, Authorization="Basic cm9vdDpyb290").get("jobs").status == 200
    assert Api(Client(), Authorization="Basic cm9vdDpyb290").get("jobs").status == 401


def test_a_revoked_token_is_refused_from_then_on() -> None:
    api = caller("write token")
    assert api.get("jobs").status == 200
    assert ApiToken.objects.all().revoke() == 1
    assert api.get("jobs").status == 401
    assert ApiToken.objects.all().revoke() == 0


def test_of_a_token_the_database_knows_a_hash() -> None:
    secret = token()
    [row] = ApiToken.objects.values()
    assert secret.startswith("jobu_") and len(secret) > 40
    assert all(secret.removeprefix("jobu_") not in str(value) for value in row.values())


def test_when_a_token_was_last_used_is_known_to_the_minute() -> None:
    api = caller("read token")
    assert ApiToken.objects.get().last_used_at is None
    api.get("jobs")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    api.get("jobs")
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    api.get("jobs")
    assert ApiToken.objects.get().last_used_at >= first


def test_who_wrote_what_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="jobu"):
        Api(session(user("root", is_superuser=True))).post("jobs", {"handler_name": "echo"})
        caller("write token").delete("jobs/9000000")
        caller("read token").get("jobs")
    assert [record.getMessage() for record in caplog.records if record.name == "jobu"] == [
        "HTTP API: POST '/api/jobu/jobs' by 'root' answered 201",
        "HTTP API: DELETE '/api/jobu/jobs/9000000' by 'write 0' answered 404",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_finds_anything_at_an_unknown_path(kind: str) -> None:
    api = caller(kind)
    for path in ("", "job", "jobs/", "jobs/1/rerun", "docs/../../settings.py", "a/b/c"):
        answer = api.get(path)
        assert (answer.status, answer.code) == (404, "not_found")
        assert answer.response.headers["X-Content-Type-Options"] == "nosniff"
    assert ROOT == "/api/jobu/"
