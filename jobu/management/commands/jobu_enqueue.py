"""manage.py jobu_enqueue"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError
from django.utils import translation

from jobu.conf import settings
from jobu.dialects import database_time
from jobu.exceptions import JobuError
from jobu.handlers.registry import handlers
from jobu.management.arguments import delay, moment, seconds
from jobu.management.database_command import DatabaseCommand
from jobu.masking import mask
from jobu.models import JobExecution
from jobu.outcomes import Status
from jobu.printable import printable, printable_lines
from jobu.queue.enqueue import enqueue_by_hand
from jobu.reading import Waits

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

EXIT_CODES = {Status.SUCCESS: 0, Status.FAILED: 3, Status.TIMEOUT: 4, Status.CANCELLED: 5}
STILL_UNFINISHED = 6
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_PATIENCE_SECONDS = 2.0


class Command(DatabaseCommand):
    help = (
        "Enqueue one execution of a handler, such as: jobu_enqueue report --params "
        "'{\"days\": 30}' --delay 5m. With --wait, wait for its end and print its result as JSON; "
        "the exit code is then 0 for SUCCESS, 3 for FAILED, 4 for TIMEOUT, 5 for CANCELLED and "
        "6 if it has not ended in time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("handler_name", metavar="NAME", help="of the handler")
        parser.add_argument("--params", default="{}", help="as JSON; - reads standard input")
        parser.add_argument("--queue", help="(default: the handler's)")
        parser.add_argument("--priority", type=int, help="higher goes first")
        when = parser.add_mutually_exclusive_group()
        when.add_argument("--delay", type=delay, help="not before this time: 90, 90s, 5m, 2h or 1d")
        when.add_argument(
            "--at",
            type=moment,
            help="not before this moment, such as 2030-01-31T09:00+09:00; without a zone, in that "
            "of the project",
        )
        parser.add_argument("--max-retry", type=int, help="how many runs at most")
        parser.add_argument("--timeout", type=int, metavar="SECONDS", help="of each run")
        parser.add_argument("--dedupe-key", help="if an execution has it already, that one counts")
        parser.add_argument(
            "--wait",
            nargs="?",
            type=seconds,
            const=float("inf"),
            metavar="SECONDS",
            help="wait for the end, at most so long if given",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        name, key = options["handler_name"], options["dedupe_key"]
        known = JobExecution.objects.filter(dedupe_key=key).first() if key else None
        try:
            execution = enqueue_by_hand(
                name,
                self._params(options["params"]),
                queue=options["queue"],
                priority=options["priority"],
                available_at=self._available_at(options),
                max_retry=options["max_retry"],
                timeout_seconds=options["timeout"],
                dedupe_key=key,
            )
        except JobuError as error:
            raise CommandError(str(error)) from error
        what = "has this dedupe key already" if known else f"is in the queue {execution.queue!r}"
        # With --wait, nothing but the result is on standard output, so that a script can read it.
        out = self.stdout if options["wait"] is None else self.stderr
        out.write(printable(f"Execution {execution.pk} of {name!r} {what}."))
        if options["wait"] is not None:
            sys.exit(self._wait(execution, options["wait"]))

    def _params(self, text: str) -> Any:
        text = sys.stdin.read() if text == "-" else text
        try:
            return json.loads(text)
        except ValueError as error:
            raise CommandError(
                f"--params is not JSON: {error}. "
                "Quote it for the shell: --params '{\"days\": 30}'"
            ) from error

    def _available_at(self, options: dict[str, Any]) -> Any:
        if options["delay"] is None:
            return options["at"]
        return database_time(settings.DATABASE) + options["delay"]

    def _wait(self, execution: JobExecution, longest: float) -> int:
        """Wait, and say why it takes long; return the exit code."""
        began, pause, said = time.monotonic(), _FIRST_PAUSE, ""
        while True:
            try:
                execution.refresh_from_db()
            except JobExecution.DoesNotExist:
                raise CommandError(f"Execution {execution.pk} was deleted.") from None
            if execution.is_finished:
                return self._report(execution)
            waited = time.monotonic() - began
            is_over = waited >= longest
            if waited >= _PATIENCE_SECONDS or is_over:
                why = self._why(execution)
                if why != said:
                    self.stderr.write(printable(why))
                said = why
            if is_over:
                self.stderr.write(f"It is still {execution.status}.")
                return STILL_UNFINISHED
            time.sleep(min(pause, longest - waited))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _why(self, execution: JobExecution) -> str:
        with translation.override(None):
            reasons = Waits().reasons(execution, database_time(settings.DATABASE), in_detail=False)
        return " ".join(each.text for each in reasons)

    def _report(self, execution: JobExecution) -> int:
        status = Status(execution.status)
        if status is Status.SUCCESS:
            result = mask(execution.result, handlers.sensitive_of(execution.handler_name))
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        else:
            self.stderr.write(
                printable(f"{status.value}: ") + printable_lines(execution.error_message)
            )
        return EXIT_CODES[status]
