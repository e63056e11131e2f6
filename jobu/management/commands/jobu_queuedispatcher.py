"""manage.py jobu_queuedispatcher: runqueuedispatcher under a name that no other app has."""

from jobu.management.commands.runqueuedispatcher import Command

__all__ = ["Command"]
