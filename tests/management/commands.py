"""Run a management command, here or in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.core.management import call_command

from jobu import QueueMessage
from jobu.messages.store import store
from jobu.models import DeadLetter
from tests.workers import MANAGE


def run(*arguments: str, **options: Any) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output, stderr=output, **options)
    return output.getvalue()


def manage(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py in its own process, on SQLite files in a folder of its own."""
    return subprocess.run(
        [sys.executable, str(MANAGE), *arguments],
        env={
            **os.environ,
            "JOBU_TEST_PROCESS": "1",
            "JOBU_TEST_DATABASE": "sqlite",
            "JOBU_TEST_RUN": "commands",
            "TMPDIR": str(folder),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def letters(*bodies: bytes) -> list[int]:
    """Make dead letters of these; return their ids."""
    store([QueueMessage(id=f"t:{n}", body=body) for n, body in enumerate(bodies)], "kafka")
    return list(DeadLetter.objects.order_by("id").values_list("id", flat=True))
