"""Make the adapter that the settings name."""

from __future__ import annotations

from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from jobu.adapters.base import BaseQueueAdapter
from jobu.conf import PREFIX, settings


def is_configured() -> bool:
    """Tell whether the project says anywhere which queue system it has."""
    names = ("QUEUE_DISPATCHER_ADAPTER", "KAFKA_BOOTSTRAP_SERVERS")
    return any(hasattr(django_settings, PREFIX + name) for name in names)


def make_adapter() -> BaseQueueAdapter:
    path = settings.QUEUE_DISPATCHER_ADAPTER
    try:
        adapter_class = import_string(path)
    except ImportError as error:
        raise ImproperlyConfigured(
            f"JOBU_QUEUE_DISPATCHER_ADAPTER cannot be imported: {error}"
        ) from error
    if not (isinstance(adapter_class, type) and issubclass(adapter_class, BaseQueueAdapter)):
        raise ImproperlyConfigured(
            f"JOBU_QUEUE_DISPATCHER_ADAPTER is {path!r}, which is no subclass of "
            "jobu.BaseQueueAdapter."
        )
    return adapter_class()
