"""System checks: say at start what would go wrong later, and what to do about it."""

from django.core.checks import Tags, register

from jobu.checks.commands import check_commands
from jobu.checks.database import check_bounds, check_database
from jobu.checks.handlers import check_handlers
from jobu.checks.settings import check_settings

TAG = "jobu"

register(check_settings, TAG)
register(check_handlers, TAG)
register(check_commands, TAG)
register(check_bounds, TAG, deploy=True)
register(check_database, TAG, Tags.database)

__all__ = [
    "TAG",
    "check_bounds",
    "check_commands",
    "check_database",
    "check_handlers",
    "check_settings",
]
