"""The settings of processes whose admin runs elsewhere: they start in less time."""

from tests.project.settings import *  # noqa: F403
from tests.project.settings import INSTALLED_APPS as _ALL_APPS

INSTALLED_APPS = [app for app in _ALL_APPS if app != "django.contrib.admin"]
