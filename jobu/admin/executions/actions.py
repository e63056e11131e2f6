"""The four actions on executions: retry, cancel, raise priority, discard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import CHANGE, DELETION
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from jobu.outcomes import FINISHED, Status
from jobu.queue.actions import (
    CANCELLABLE,
    RETRIABLE,
    cancel_many,
    discard_many,
    raise_priority_many,
    retry_many,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.http import HttpRequest

Text = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action: who may do it, to executions of which statuses, and the words for it.

    `run` takes ids and a number, and returns the ids that it changed. The number is how much to
    raise the priority by; only an action with `takes_number` uses it.
    """

    name: str
    permission: str
    statuses: tuple[Status, ...]
    label: Text
    question: Any
    done: Any
    history: Text
    run: Callable[[Sequence[int], int], list[int]]
    flag: int = CHANGE
    takes_number: bool = False

    def is_allowed(self, request: HttpRequest) -> bool:
        return request.user.has_perm(f"jobu.{self.permission}")


_RETRY = Action(
    name="retry",
    permission="retry_jobexecution",
    statuses=RETRIABLE,
    label=_("Retry"),
    question=ngettext_lazy(
        "Put %(count)s execution back into the queue, with all its attempts?",
        "Put %(count)s executions back into the queue, with all their attempts?",
        "number",
    ),
    done=ngettext_lazy(
        "%(count)s execution will run again.", "%(count)s executions will run again.", "number"
    ),
    history=_("Retried."),
    run=lambda ids, _number: retry_many(ids),
)
_CANCEL = Action(
    name="cancel",
    permission="cancel_jobexecution",
    statuses=CANCELLABLE,
    label=_("Cancel"),
    question=ngettext_lazy(
        "Cancel %(count)s execution? If it waits it will not run, if it runs it is asked to stop.",
        "Cancel %(count)s executions? Those that wait will not run, those that run are asked to "
        "stop.",
        "number",
    ),
    done=ngettext_lazy(
        "%(count)s execution was cancelled, or asked to stop.",
        "%(count)s executions were cancelled, or asked to stop.",
        "number",
    ),
    history=_("Cancelled."),
    run=lambda ids, _number: cancel_many(ids),
)
_RAISE = Action(
    name="raise_priority",
    permission="change_jobexecution",
    statuses=(Status.PENDING,),
    label=_("Raise priority"),
    question=ngettext_lazy(
        "Let %(count)s execution that waits go before others?",
        "Let %(count)s executions that wait go before others?",
        "number",
    ),
    done=ngettext_lazy(
        "The priority of %(count)s execution was raised.",
        "The priority of %(count)s executions was raised.",
        "number",
    ),
    history=_("Raised the priority."),
    run=raise_priority_many,
    takes_number=True,
)
_DISCARD = Action(
    name="discard",
    permission="delete_jobexecution",
    statuses=FINISHED,
    label=_("Discard"),
    question=ngettext_lazy(
        "Delete %(count)s finished execution, with its history, for good?",
        "Delete %(count)s finished executions, with their history, for good?",
        "number",
    ),
    done=ngettext_lazy(
        "%(count)s execution was discarded.", "%(count)s executions were discarded.", "number"
    ),
    history=_("Discarded."),
    run=lambda ids, _number: discard_many(ids),
    flag=DELETION,
)

ACTIONS = {action.name: action for action in (_RETRY, _CANCEL, _RAISE, _DISCARD)}


def actions_for(request: HttpRequest) -> list[Action]:
    return [action for action in ACTIONS.values() if action.is_allowed(request)]
