"""Check the database: its connection's bounds, its version, and the cron jobs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core import checks
from django.core.checks import CheckMessage, Error
from django.db import Error as DatabaseFailure
from django.db import connections

from jobu.conf import settings
from jobu.dialects import dialect_of
from jobu.exceptions import ParamsError
from jobu.handlers.registry import handlers
from jobu.models import CronJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def check_bounds(**_kwargs: Any) -> list[CheckMessage]:
    """Handlers use the project's own connections; jobu bounds those of its processes itself."""
    alias = settings.DATABASE
    if alias not in connections:
        return []
    connection = connections[alias]
    bounds = dialect_of(connection).bounds()
    missing = {
        name: bounds[name] for name in bounds if name not in connection.settings_dict["OPTIONS"]
    }
    if not missing:
        return []
    return [
        checks.Warning(
            f"DATABASES[{alias!r}] does not bound how long a handler waits for a lost server.",
            hint=f"Add to its OPTIONS, with seconds that suit your longest statement: {missing}",
            id="jobu.W004",
        )
    ]


def check_database(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Runs with `migrate`, `check --database` and jobu's own commands."""
    alias = settings.DATABASE
    if alias not in (databases or ()) or alias not in connections:
        return []
    connection = connections[alias]
    try:
        missing = dialect_of(connection).missing_requirement(connection)
        if missing:
            return [Error(missing + ".", hint="Upgrade the database server.", id="jobu.E006")]
        if CronJob._meta.db_table not in connection.introspection.table_names():
            return []
        return list(_cron_problems())
    except DatabaseFailure:
        # Unreachable for now: whoever needs it will say so.
        return []


def _cron_problems() -> Iterator[CheckMessage]:
    # No more than the first thousand: a check must not delay a start by much.
    for job in CronJob.objects.filter(is_enabled=True).order_by("id")[:1000]:
        found = job.find_problems()
        if missing := job.find_missing_handler():
            found.append(missing)
        elif isinstance(job.handler_params, dict):
            try:
                handlers[job.handler_name].check(job.handler_params)
            except ParamsError as error:
                found.append(f"its handler does not take its params: {error}")
        for problem in found:
            yield checks.Warning(
                f"The cron job {job.name!r} cannot run: {problem}.",
                hint="Correct or disable it in the admin.",
                id="jobu.W003",
            )
