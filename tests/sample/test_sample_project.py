"""The sample project as a newcomer starts it, and with every database there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kafka import Kafka, Topic
from tests.sample.browser import Browser
from tests.sample.databases import mysql_database, postgres_database
from tests.sample.project import SampleProject
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


def test_its_own_tests_pass_on_sqlite_alone(tmp_path: Path) -> None:
    output = SampleProject(tmp_path).manage("test")
    assert "\nOK (skipped=2)\n" in output, output


@pytest.mark.timeout(300)
def test_all_nine_handlers_succeed_from_crons_of_the_admin_and_from_kafka(
    kafka: Kafka, tmp_path: Path
) -> None:
    topic = Topic(kafka)
    with postgres_database() as postgres, mysql_database() as mysql:
        sample = SampleProject(
            tmp_path, POSTGRES_1_URL=postgres, MYSQL_1_URL=mysql, **topic.environment
        )
        sample.manage("migrate_all")
        sample.manage("shell", "-v0", "-c", MAKE_USER)
        topic.send(json.dumps({"handler_name": name}).encode() for name in NINE)
        with sample.running("--queue-dispatcher"):
            browser = Browser(sample.port)
            browser.log_in("admin", "admin")
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
                    lambda source=source: succeeded(sample, source) == {*NINE},
                    f"the executions from {source}",
                    lambda: f"{sample.executions()}\n{sample.log}",
                    timeout=90,
                )
            wait_until(lambda: topic.lag() == 0, "the commit of all messages", lambda: sample.log)
        assert {status for _, status in sample.executions()} == {"SUCCESS"}, sample.log
    topic.drop()


def succeeded(sample: SampleProject, source: str) -> set[str]:
    done = sample.executions(f"param_source = '{source}' AND status = 'SUCCESS'")
    return {name for name, _status in done}


MAKE_USER = """
from django.contrib.auth.models import User
User.objects.create_superuser("admin", password="admin")
"""
