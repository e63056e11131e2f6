"""The settings of processes that run tomorrow's code."""

from tests.project.settings import *  # noqa: F403
from tests.project.settings import INSTALLED_APPS as _ALL_APPS

INSTALLED_APPS = [*_ALL_APPS, "tests.project.later"]
MIGRATION_MODULES = {"jobu": "tests.project.later.jobu_migrations"}
