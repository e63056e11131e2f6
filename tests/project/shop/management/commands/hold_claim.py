"""Claim everything as a worker does, and never come to the commit."""

from __future__ import annotations

import threading
import uuid
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections

from jobu.conf import settings
from jobu.dialects import dialect_of
from jobu.queue.claim import claim
from jobu.queue.lanes import find_lanes
from jobu.transactions import write_transaction


class Command(BaseCommand):
    def handle(self, *_args: Any, **_options: Any) -> None:
        connection = connections[settings.DATABASE]
        dialect_of(connection).prepare_control_connection(connection)
        with write_transaction(settings.DATABASE):
            claimed = claim(find_lanes().lanes, 100, uuid.uuid4())
            self.stdout.write(f"claimed {len(claimed)}")
            self.stdout.flush()
            threading.Event().wait()
