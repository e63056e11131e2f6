"""The sample project, and a generated one, as newcomers start them and with every database."""

from __future__ import annotations

import json
import urllib.error
from pathlib import Path

import pytest

from jobu.cli import main
from tests.kafka import Kafka, Topic
from tests.sample.browser import Browser
from tests.sample.databases import mysql_database, postgres_database
from tests.sample.project import FOLDER, SampleProject
from tests.waiting import wait_until

pytestmark = [pytest.mark.pure, pytest.mark.processes]

NINE = (
    "sqlite_crud",
    "postgres_crud",
    "mysql_crud",
    "sync_sqlite_to_postgres",
    "sync_postgres_to_mysql",
    "multi_db_report",
    "service_layer",
    "do_work_pattern",
    "concurrent_queries",
)


@pytest.fixture(params=["sample_project", "generated"])
def code(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample project, or what `jobu init` makes of the same apps."""
    if request.param == "sample_project":
        return FOLDER
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_shop", "--template", "example"]) == 0
    return tmp_path / "my_shop"


def test_its_own_tests_pass_on_sqlite_alone(code: Path, tmp_path: Path) -> None:
    output = SampleProject(tmp_path, code).manage("test")
    assert "\nOK (skipped=3)\n" in output, output


@pytest.mark.timeout(300)
def test_its_own_tests_pass_on_every_database(code: Path, tmp_path: Path) -> None:
    with postgres_database() as postgres, mysql_database() as mysql:
        sample = SampleProject(tmp_path, code, POSTGRES_1_URL=postgres, MYSQL_1_URL=mysql)
        output = sample.manage("test", "--noinput")
    # Left out: what is said of a database that is not configured.
    assert "\nOK (skipped=1)\n" in output, output


@pytest.mark.timeout(300)
def test_all_nine_handlers_succeed_from_crons_of_the_admin_and_from_kafka(
    kafka: Kafka, code: Path, tmp_path: Path
) -> None:
    topic = Topic(kafka)
    with postgres_database() as postgres, mysql_database() as mysql:
        sample = SampleProject(
            tmp_path, code, POSTGRES_1_URL=postgres, MYSQL_1_URL=mysql, **topic.environment
        )
        sample.manage("migrate_all")
        sample.manage("shell", "-v0", "-c", MAKE_USER)
        topic.send(json.dumps({"handler_name": name}).encode() for name in NINE)
        with sample.running("--queue-dispatcher"):
            browser = Browser(sample.port)
            assert_the_addresses_of_the_documents_answer(browser)
            for name in NINE:
                page = browser.submit(
                    "/admin/jobu/cronjob/add/",
                    name=f"{name} each minute",
                    cron_expression="* * * * *",
                    handler_name=name,
                )
                assert f"{name} each minute" in page
            for source in ("event", "cron"):
                wait_until(
                    lambda source=source: succeeded(sample, source) >= {*NINE},
                    f"the executions from {source}",
                    lambda: f"{sample.executions()}\n{sample.log}",
                    timeout=90,
                )
            wait_until(lambda: topic.lag() == 0, "the commit of all messages", lambda: sample.log)
            jobs = json.loads(browser.get("/api/jobs?limit=100"))
            assert {*NINE} <= {job["handler_name"] for job in jobs["items"]}
        assert {status for _, status in sample.executions()} == {"SUCCESS"}, sample.log
    topic.drop()


def assert_the_addresses_of_the_documents_answer(browser: Browser) -> None:
    """See what they show to nobody, then log in and see it all."""
    for path in ("/api/crons", "/api/jobs"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            browser.get(path)
        assert caught.value.code == 401
        caught.value.close()
    for path in ("/docs", "/crons", "/jobs"):
        assert "Log in" in browser.get(path)
    browser.log_in("admin", "admin")
    assert "swagger-ui" in browser.get("/docs")
    assert "<title>Cron jobs |" in browser.get("/crons")
    assert "<title>Job executions |" in browser.get("/jobs")
    for path in ("/api/crons", "/api/jobs"):
        assert "items" in json.loads(browser.get(path))


def succeeded(sample: SampleProject, source: str) -> set[str]:
    done = sample.executions(f"param_source = '{source}' AND status = 'SUCCESS'")
    return {name for name, _status in done}


MAKE_USER = """
from django.contrib.auth.models import User
User.objects.create_superuser("admin", password="admin")
"""
