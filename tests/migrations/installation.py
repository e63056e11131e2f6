"""An installation of some time ago: rows of every model, made with that time's models.

What is stored in a form of jobu's own, such as a key or a hash, is written here as it was then.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model
from django.utils import timezone

LONG_AGO = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
OLD_PROCESS = uuid.UUID("11111111-2222-3333-4444-555555555555")
KEY = "invoice-7"
MESSAGE_KEY = "jobu:message:kafka:events:0:1"
TOKEN = "jobu_a-token"
TOKEN_HASH = "abeb6b28bb2c209ef8a2a73bf75521cdcbee16d370fd80b832886503c0948cfd"


class Installation:
    """The tables of `alias`, as the models of this migration see them."""

    def __init__(self, alias: str, migration: str) -> None:
        self._alias = alias
        self._apps = (
            MigrationExecutor(connections[alias]).loader.project_state(("jobu", migration)).apps
        )

    def models(self) -> list[type[Model]]:
        return [m for m in self._apps.get_models() if not m._meta.proxy]

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return all rows with the columns that there were then."""
        return {
            model.__name__: list(model._default_manager.using(self._alias).order_by("pk").values())
            for model in self.models()
        }

    def fill(self) -> None:
        """Insert what an installation has after a while; `test_upgrade` asks for every model."""
        create = self.create
        job = create("CronJob", **_cron("nightly"), is_enabled=False, planned="")
        create("CronJob", **_cron("every minute"), **_planned("every minute"))
        create("Process", id=OLD_PROCESS, kind="worker", host="here", pid=1, heartbeat_at=LONG_AGO)
        self._executions(create, job)
        finished = create("JobExecution", **_finished("SUCCESS"), job=job, scheduled_time=LONG_AGO)
        for kind in ("open", "requeued", "discarded"):
            create(
                "DeadLetter",
                adapter="kafka",
                source_id=f"events:0:{kind}",
                body=b'{"handler_name": "echo", "params": {"from": "a dead letter"}}',
                reason="There is no handler 'echo'.",
                received_at=timezone.now(),
                **{f"{kind}_at": LONG_AGO for _ in range(kind != "open")},
                execution=finished if kind == "requeued" else None,
            )
        line = {"attempt": 1, "logged_at": LONG_AGO, "level": 20, "logger": "shop", "message": "hi"}
        create("LogLine", execution=finished, **line)
        create("ApiToken", name="grafana", secret_hash=TOKEN_HASH, created_at=LONG_AGO)
        create("Summary", seconds=60, begins_at=LONG_AGO, content={"counts": {}})
        create("Tally", counted_until=LONG_AGO, totals={})

    def _executions(self, create: Callable[..., Any], job: Any) -> None:
        create("JobExecution", handler_name="echo", params={"big": 10**30, "ä": [1.5, None]})
        create("JobExecution", handler_name="echo", dedupe_key=KEY, priority=3)
        create("JobExecution", handler_name="echo", dedupe_key=MESSAGE_KEY, param_source="event")
        create("JobExecution", handler_name="fail", max_retry=1)
        create("JobExecution", handler_name="echo", available_at=LONG_AGO + timedelta(days=36_500))
        create("JobExecution", handler_name="echo", cancel_requested=False, job=job, queue="other")
        create(
            "JobExecution",
            handler_name="echo",
            params={"was": "running"},
            status="RUNNING",
            claimed_by=OLD_PROCESS,
            attempt=1,
            started_at=LONG_AGO,
        )
        for status in ("SUCCESS", "FAILED", "TIMEOUT", "CANCELLED"):
            create("JobExecution", **_finished(status))

    def create(self, model: str, **fields: Any) -> Any:
        manager = self._apps.get_model("jobu", model)._default_manager
        return manager.using(self._alias).create(**fields)


def _cron(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "cron_expression": "* * * * *",
        "timezone": "UTC",
        "handler_name": "echo",
        "handler_params": {"from": name},
    }


def _planned(name: str) -> dict[str, Any]:
    """Return the plan of a cron job whose tick has just come."""
    next_run_at = timezone.now().replace(second=0, microsecond=0)
    return {"planned": f"{name}\n* * * * *\nUTC", "next_run_at": next_run_at}


def _finished(status: str) -> dict[str, Any]:
    return {
        "handler_name": "echo",
        "status": status,
        "claimed_by": OLD_PROCESS,
        "attempt": 1,
        "started_at": LONG_AGO,
        "finished_at": LONG_AGO,
        "result": {"ok": True} if status == "SUCCESS" else None,
        "errors": [] if status == "SUCCESS" else [{"attempt": 1, "message": "why"}],
    }
