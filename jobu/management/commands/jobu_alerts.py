"""manage.py jobu_alerts"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from jobu.alerts.config import find_mistakes, read_alerts
from jobu.alerts.sending import send
from jobu.alerts.telling import sample_alert
from jobu.exceptions import AlertError
from jobu.models import AlertState
from jobu.printable import printable

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

    from jobu.alerts.config import Alerts


class Command(BaseCommand):
    help = (
        "Show whom JOBU_ALERTS tells of what, and when it last did. With --test, send a message to "
        "each of them now, and say what happened."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--test", action="store_true", help="send a test message to each target; exit 1 if not"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if mistakes := list(find_mistakes()):
            raise CommandError("; ".join(f"JOBU_ALERTS {each}" for each in mistakes))
        alerts = read_alerts()
        if alerts is None:
            raise CommandError(
                "JOBU_ALERTS is empty, so nobody is told. For example: "
                'JOBU_ALERTS = {"email": "admins"}'
            )
        if options["test"]:
            self._test(alerts)
        else:
            self._show(alerts)

    def _test(self, alerts: Alerts) -> None:
        failures = 0
        for target in alerts.targets:
            try:
                send(target, sample_alert(alerts))
            except AlertError as error:
                failures += 1
                self.stderr.write(printable(f"{target.name}: {error}"))
            except Exception as error:  # noqa: BLE001 - the project's own body may raise anything
                failures += 1
                self.stderr.write(printable(f"{target.name}: {type(error).__name__}: {error}"))
            else:
                self.stdout.write(printable(f"{target.name}: sent"))
        if failures:
            raise CommandError(f"{failures} of {len(alerts.targets)} could not be told.")

    def _show(self, alerts: Alerts) -> None:
        self.stdout.write("To:")
        for target in alerts.targets:
            self.stdout.write(printable(f"    {target.name}"))
        self.stdout.write("Of:")
        told = {state.kind: state.told_at for state in AlertState.objects.all()}
        for kind in alerts.kinds:
            at = told.get(kind)
            when = f"last told {at:%Y-%m-%d %H:%M:%S %Z}" if at else "never told"
            self.stdout.write(f"    {kind}: {when}")
