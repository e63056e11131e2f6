"""The door to the queue for handlers and cron jobs, which are below it.

Imports point down only, so neither can import the queue. `jobu.apps` opens the door when Django
starts: it hands in the functions of `jobu.queue`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from jobu.exceptions import JobuError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from jobu.models import JobExecution


class Door:
    enqueue: Callable[..., JobExecution]
    enqueue_many: Callable[..., int]
    aenqueue: Callable[..., Awaitable[JobExecution]]
    aenqueue_many: Callable[..., Awaitable[int]]
    enqueue_row: Callable[[dict[str, Any]], JobExecution]
    enqueue_ticks: Callable[[Sequence[dict[str, Any]]], None]

    def __getattr__(self, name: str) -> NoReturn:
        raise JobuError(f"{name} works only after django.setup(): is 'jobu' in INSTALLED_APPS?")


door = Door()
