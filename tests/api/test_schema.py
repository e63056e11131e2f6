"""Whatever is sent, by whomever: no 500, and no answer that the OpenAPI document does not have."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.middleware.csrf import get_token
from django.test import RequestFactory
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jobu.models import CronJob, JobExecution, Status
from tests.api.callers import KINDS, Api, caller
from tests.builders import DAY, cron, finished, pending, process, running

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(180)]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    negative_data_rejection,
]
EXAMPLES = int(os.environ.get("JOBU_TEST_API_EXAMPLES", "6"))
# Who is refused is refused alike on every database.
KINDS_HERE = KINDS if os.environ.get("JOBU_TEST_DATABASE", "sqlite") == "sqlite" else KINDS[-1:]
LIKELY = {
    "handler_name": ["echo", "fail"],
    "cron_expression": ["0 2 * * *", "*/5 * * * mon-fri"],
    "timezone": ["UTC", "Asia/Seoul"],
}
_ALLOWED = {200, 201, 204, 404, 409, 422}
EXPECTED = {
    "anonymous": {200, 401},
    "staff without permissions": {200, 403},
    "staff with permissions": _ALLOWED,
    "superuser": _ALLOWED,
    "read token": {200, 403, 404, 422},
    "write token": _ALLOWED,
}


@pytest.fixture
def document(settings: Any) -> dict[str, Any]:
    """The document; and something to find in the database."""
    settings.ALLOWED_HOSTS = ["*"]
    for make in (pending, running, finished):
        make(job=cron(make.__name__))
    finished(Status.FAILED)
    for process_kind in ("worker", "dispatcher"):
        process(kind=process_kind, beat_seconds_ago=-DAY)
    document: dict[str, Any] = caller("read token").get("openapi.json").body
    return document


@pytest.fixture
def app() -> Iterator[WSGIHandler]:
    """The project as a server runs it, except that a request's end leaves the test's connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield WSGIHandler()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("kind", KINDS_HERE)
def test_every_answer_is_one_that_the_document_has(
    kind: str, document: dict[str, Any], app: WSGIHandler
) -> None:
    credentials = credentials_of(caller(kind))
    statuses: set[int] = set()
    for mode, described in (
        (GenerationMode.POSITIVE, likely(document)),
        (GenerationMode.POSITIVE, document),
        (GenerationMode.NEGATIVE, document),
    ):
        schema = schemathesis.openapi.from_dict(described)
        schema.app = app
        schema.config.generation.update(with_security_parameters=False)
        for operation in (each.ok() for each in schema.get_all_operations()):
            statuses |= try_out(operation, mode, credentials)
    assert statuses >= EXPECTED[kind]


def likely(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what chance would not hit: ids that are there, names that exist."""
    narrowed = copy.deepcopy(document)
    ids = {
        "cron_id": list(CronJob.objects.values_list("id", flat=True)),
        "job_id": list(JobExecution.objects.values_list("id", flat=True)),
    }
    for operations in narrowed["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path":
                    parameter["schema"] = {"enum": ids[parameter["name"]]}
    for name in ("NewCron", "CronChange", "NewJob"):
        properties = narrowed["components"]["schemas"][name]["properties"]
        for field, values in LIKELY.items():
            if field in properties:
                properties[field] = {"enum": values}
    return narrowed


def try_out(operation: Any, mode: GenerationMode, credentials: dict[str, Any]) -> set[int]:
    """Send what the document allows, or what it does not; return the statuses that came back."""
    statuses: set[int] = set()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode))
    def send(case: Any) -> None:
        response = case.call_and_validate(checks=CHECKS, **credentials)
        statuses.add(response.status_code)

    # Where nothing can be sent, nothing wrong can be.
    with suppress(Unsatisfiable):
        send()
    return statuses


def credentials_of(api: Api) -> dict[str, Any]:
    """Return what makes a request one of this caller's, as a browser or a program sends it."""
    request = RequestFactory().get("/")
    token = get_token(request)
    cookies = {name: morsel.value for name, morsel in api.client.cookies.items()}
    return {
        "headers": {"X-CSRFToken": token, **api.headers},
        "cookies": {"csrftoken": request.META["CSRF_COOKIE"], **cookies},
    }
