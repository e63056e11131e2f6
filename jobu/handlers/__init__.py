"""Handlers: how to write and register them, how they are found, how they get their params."""

from jobu.handlers.base import BaseHandler, HandlerParams, HandlerResult
from jobu.handlers.context import current_job
from jobu.handlers.decorator import handler
from jobu.handlers.registry import handlers
from jobu.handlers.schedule import Schedule

__all__ = [
    "BaseHandler",
    "HandlerParams",
    "HandlerResult",
    "Schedule",
    "current_job",
    "handler",
    "handlers",
]
