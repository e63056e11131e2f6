"""manage.py jobu_executions"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError
from django.utils import translation

from jobu.conf import settings
from jobu.dialects import database_time
from jobu.handlers.registry import handlers
from jobu.jsonable import ExactEncoder
from jobu.management.arguments import moment, whole
from jobu.management.database_command import DatabaseCommand
from jobu.management.subcommands import add_actions
from jobu.masking import mask
from jobu.models import JobExecution
from jobu.models.job_execution import ParamSource
from jobu.outcomes import DEAD, FINISHED, Status
from jobu.printable import printable, printable_lines
from jobu.queue.actions import CANCELLABLE, RETRIABLE, cancel_many, discard_many, retry_many
from jobu.queue.bulk import in_batches
from jobu.reading import Waits
from jobu.reading.filters import STATUS_FILTERS, status_filter
from jobu.reading.pages import find_executions, first_id_after, first_id_since

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.core.management.base import CommandParser

    from jobu.models.job_execution import JobExecutionQuerySet

_COLUMNS = (
    "id",
    "status",
    "handler_name",
    "queue",
    "priority",
    "job_id",
    "param_source",
    "attempt",
    "retry_count",
    "max_retry",
    "available_at",
    "created_at",
    "started_at",
    "finished_at",
    "dedupe_key",
    "error_message",
)
_DETAILS = (
    *_COLUMNS,
    "claimed_by",
    "timeout_seconds",
    "scheduled_time",
    "params",
    "result",
    "errors",
)
_MAX_COUNTED = 100_000
_ERROR_CHARACTERS = 80
_ACTIONS = {
    "retry": (RETRIABLE, retry_many, "put back into the queue"),
    "cancel": (CANCELLABLE, cancel_many, "cancelled"),
    "discard": (FINISHED, discard_many, "deleted"),
}


class Command(DatabaseCommand):
    help = (
        "List executions, show one, and retry, cancel or discard some. Choose them by their ids or "
        "by filters, the same as in the admin; several filters must all match. For example: "
        "jobu_executions retry --handler report --status DEAD --yes"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = add_actions(parser, dest="action", metavar="ACTION")
        listing = actions.add_parser("list", help="list them, newest first")
        listing.add_argument("--limit", type=whole, default=50, help="how many (default: 50)")
        listing.add_argument("--json", action="store_true", help="as a JSON array")
        _add_filters(listing)
        show = actions.add_parser("show", help="show all of one, masked")
        show.add_argument("id", type=whole)
        show.add_argument("--json", action="store_true", help="as a JSON object")
        for name, text in (
            ("retry", "put dead or cancelled ones back into the queue (by filters: dead ones)"),
            ("cancel", "cancel pending ones, and ask running ones to stop"),
            ("discard", "delete finished ones (by filters: dead ones, without --status)"),
        ):
            acting = actions.add_parser(name, help=text)
            acting.add_argument("id", type=whole, nargs="*")
            acting.add_argument(
                "--yes", action="store_true", help="do it to all that match the filters"
            )
            _add_filters(acting)

    def handle(self, *_args: Any, **options: Any) -> None:
        match options["action"]:
            case "list":
                self._list(options)
            case "show":
                self._show(options)
            case name:
                self._act(name, options)

    def _list(self, options: dict[str, Any]) -> None:
        found: list[JobExecution] = []
        before: int | None = None
        # A page may be short although there are more: it looks at a limited number of them.
        while len(found) < options["limit"]:
            page = find_executions(
                _lookups(options),
                cron_id=options["cron"],
                start=options["created_from"],
                end=options["created_to"],
                before=before,
                size=min(options["limit"] - len(found), 500),
            )
            found += page.executions
            before = page.older
            if before is None:
                break
        if options["json"]:
            self.stdout.write(_as_json([_values(each, _COLUMNS) for each in found]))
        elif found:
            self._table(found)
        else:
            self.stderr.write("No execution matches.")

    def _table(self, found: Iterable[JobExecution]) -> None:
        head = ("ID", "STATUS", "HANDLER", "QUEUE", "FAILED", "CREATED", "ERROR")
        rows = [head, *(_row(each) for each in found)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            self.stdout.write("  ".join([*cells, row[-1]]).rstrip())

    def _show(self, options: dict[str, Any]) -> None:
        execution = JobExecution.objects.select_related("job").filter(pk=options["id"]).first()
        if execution is None:
            raise CommandError(f"There is no execution {options['id']}.")
        with translation.override(None):
            reasons = Waits().reasons(execution, database_time(settings.DATABASE))
        values = {
            **_values(execution, _DETAILS),
            "waits_for": [{"code": each.code, "message": each.text} for each in reasons],
        }
        if options["json"]:
            self.stdout.write(_as_json(values))
            return
        errors, waits = values.pop("errors"), values.pop("waits_for")
        for each in waits:
            self.stdout.write(printable(f"waits_for: {each['message']}"))
        for name, value in values.items():
            shown = _as_json(value) if isinstance(value, dict | list) else value
            self.stdout.write(printable(f"{name}: {'' if shown is None else shown}"))
        for error in errors if isinstance(errors, list) else []:
            text = f"attempt {error.get('attempt')}: {error.get('message')}"
            self.stdout.write(f"\n{printable(text)}")
            self.stdout.write(printable_lines(error.get("traceback", ""), "    "))

    def _act(self, name: str, options: dict[str, Any]) -> None:
        statuses, act, done = _ACTIONS[name]
        if options["id"]:
            self._act_on_ids(name, options["id"])
            return
        if not _is_filtered(options):
            raise CommandError("Which ones? Give ids, or filters such as --handler and --status.")
        if options["status"] is None and name in ("retry", "discard"):
            statuses = DEAD
        matching = _matching(options)
        count = matching.filter(status__in=statuses).order_by().values("id")[: _MAX_COUNTED + 1]
        number = count.count()
        total = f"{number:,}" if number <= _MAX_COUNTED else f"more than {_MAX_COUNTED:,}"
        if not options["yes"]:
            raise CommandError(f"{total} match; add --yes to {name} them.")
        changed = 0
        for batch in in_batches(matching, statuses, act):
            changed += len(batch.changed)
            self.stderr.write(f"{changed:,} of {total}")
        self.stdout.write(f"{changed:,} {done}")

    def _act_on_ids(self, name: str, ids: list[int]) -> None:
        statuses, act, done = _ACTIONS[name]
        changed = set(act(ids))
        known = dict(JobExecution.objects.filter(pk__in=ids).values_list("id", "status"))
        for pk in ids:
            if pk in changed:
                self.stdout.write(f"{pk}: {done}")
            elif pk in known:
                allowed = ", ".join(status.value for status in statuses)
                self.stderr.write(f"{pk}: it is {known[pk]}, and only {allowed} can be")
            else:
                self.stderr.write(f"{pk}: there is no such execution")
        if len(changed) < len(set(ids)):
            raise CommandError(
                f"{len(set(ids)) - len(changed)} of {len(set(ids))} stay as they are."
            )


def _add_filters(parser: Any) -> None:
    parser.add_argument(
        "--status",
        type=str.upper,
        choices=STATUS_FILTERS,
        help="RETRY is pending after a failure, DEAD is failed or timeout",
    )
    parser.add_argument("--handler", metavar="NAME")
    parser.add_argument("--queue", metavar="NAME")
    parser.add_argument("--cron", type=whole, metavar="ID", help="of the cron job")
    parser.add_argument("--source", choices=ParamSource.values)
    parser.add_argument("--from", dest="created_from", type=moment, help="created then or later")
    parser.add_argument("--to", dest="created_to", type=moment, help="created then or before")


def _is_filtered(options: dict[str, Any]) -> bool:
    names = ("status", "handler", "queue", "cron", "source", "created_from", "created_to")
    return any(options[name] is not None for name in names)


def _lookups(options: dict[str, Any]) -> dict[str, Any]:
    wanted = {
        "handler_name": options["handler"],
        "queue": options["queue"],
        "param_source": options["source"],
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    return given if options["status"] is None else {**given, **status_filter(options["status"])}


def _matching(options: dict[str, Any]) -> JobExecutionQuerySet:
    matching = JobExecution.objects.filter(**_lookups(options))
    if options["cron"] is not None:
        matching = matching.filter(job_id=options["cron"])
    if (start := options["created_from"]) is not None:
        matching = matching.filter(id__gte=first_id_since(start), created_at__gte=start)
    if (end := options["created_to"]) is not None:
        matching = matching.filter(id__lt=first_id_after(end), created_at__lte=end)
    return matching


def _values(execution: JobExecution, names: Iterable[str]) -> dict[str, Any]:
    """Return the columns by the names of the HTTP API, masked."""
    sensitive = handlers.sensitive_of(execution.handler_name)
    values = {name: getattr(execution, name) for name in names}
    for name in ("params", "result"):
        if name in values:
            values[name] = mask(values[name], sensitive)
    return {"cron_id" if name == "job_id" else name: value for name, value in values.items()}


def _as_json(value: Any) -> str:
    return json.dumps(value, cls=_Encoder, ensure_ascii=False)


class _Encoder(ExactEncoder):
    def default(self, o: Any) -> Any:
        try:
            return super().default(o)
        except TypeError:
            return o.isoformat() if hasattr(o, "isoformat") else str(o)


def _row(execution: JobExecution) -> tuple[str, ...]:
    is_retry = execution.status == Status.PENDING and execution.retry_count > 0
    error = " ".join(execution.error_message.split())[:_ERROR_CHARACTERS]
    return (
        str(execution.pk),
        "RETRY" if is_retry else str(execution.status),
        printable(execution.handler_name),
        printable(execution.queue),
        f"{execution.retry_count}/{max(execution.max_retry, 1)}",
        f"{execution.created_at:%Y-%m-%d %H:%M:%S}",
        printable(error),
    )
