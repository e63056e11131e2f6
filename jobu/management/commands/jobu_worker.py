"""manage.py jobu_worker: runworker under a name that no other app has."""

from jobu.management.commands.runworker import Command

__all__ = ["Command"]
