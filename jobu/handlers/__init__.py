"""Handlers: how they are written, registered, found and given their params."""

from jobu.handlers.base import BaseHandler, HandlerParams, HandlerResult
from jobu.handlers.context import current_job
from jobu.handlers.registry import handler, handlers

__all__ = [
    "BaseHandler",
    "HandlerParams",
    "HandlerResult",
    "current_job",
    "handler",
    "handlers",
]
