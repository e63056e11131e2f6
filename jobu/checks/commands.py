"""Check that `manage.py` starts jobu's commands under their names, not another app's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core import checks
from django.core.management import get_commands

if TYPE_CHECKING:
    from django.core.checks import CheckMessage

SECOND_NAMES = {
    "runworker": "jobu_worker",
    "rundispatcher": "jobu_dispatcher",
    "runqueuedispatcher": "jobu_queuedispatcher",
}
"""Names that other apps may give to commands of theirs, and the names that they will not."""


def check_commands(**_kwargs: Any) -> list[CheckMessage]:
    owners = get_commands()
    return [
        checks.Warning(
            f"manage.py {name} is the command of {owners[name]!r}, which comes before 'jobu' in "
            "INSTALLED_APPS.",
            hint=f"Start jobu's own with manage.py {second_name}. (SILENCED_SYSTEM_CHECKS hides "
            'this; "jobu" further up in INSTALLED_APPS gives the name to jobu.)',
            id="jobu.W006",
        )
        for name, second_name in SECOND_NAMES.items()
        if owners.get(name, "jobu") != "jobu"
    ]
