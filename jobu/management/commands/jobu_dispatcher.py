"""manage.py jobu_dispatcher: rundispatcher under a name that no other app has."""

from jobu.management.commands.rundispatcher import Command

__all__ = ["Command"]
