"""manage.py seed_demo"""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from config.databases import VARIABLES, configured
from demo.crons import make_crons
from demo.history import make_history
from jobu import enqueue

USER = "admin"
PASSWORD = "admin"

EXECUTIONS: list[tuple[str, dict[str, Any]]] = [
    ("order_placed", {"order": 1, "email": "ada@example.com", "total": "12.50"}),
    ("order_placed", {"order": 2, "email": "minji@example.com", "total": "99.00"}),
    ("send_welcome_mail", {"to": "grace@example.com", "name": "Grace"}),
    ("import_products", {"products": 200, "pause_seconds": 0.03}),
    ("nightly_report", {}),
    ("sqlite_crud", {"rows": 3}),
    ("concurrent_queries", {}),
    ("multi_db_report", {}),
    ("postgres_crud", {"rows": 3}),
]


class Command(BaseCommand):
    help = "Make the demo's user, cron jobs, history and first executions; again changes nothing."

    def handle(self, *_args: Any, **_options: Any) -> None:
        users = get_user_model().objects
        if not users.filter(username=USER).exists():
            users.create_superuser(USER, password=PASSWORD)
        crons = make_crons()
        history = make_history(crons)
        for number, (name, params) in enumerate(EXECUTIONS, start=1):
            enqueue(name, params, dedupe_key=f"demo:{number}:{name}")
        self.stdout.write(f"{len(crons)} cron jobs, {history} executions of history added.")
        for alias in sorted(VARIABLES.keys() - configured()):
            self.stdout.write(f"{alias} is not configured; {VARIABLES[alias]} lets it join.")
        self.stdout.write(f"User {USER}, password {PASSWORD}.")
