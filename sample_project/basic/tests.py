"""The basic handlers, on every database that is configured."""

from unittest import skipIf

from django.db import connections
from django.test import TestCase

from basic.models import Item
from config.databases import configured
from jobu import enqueue
from jobu.testing import run_pending

HANDLERS = {"sqlite_2": "sqlite_crud", "postgres_1": "postgres_crud", "mysql_1": "mysql_crud"}


class CrudTest(TestCase):
    databases = frozenset(["default", *configured()])

    def test_what_is_created_is_read_updated_and_deleted(self) -> None:
        for alias in configured():
            with self.subTest(alias):
                enqueue(HANDLERS[alias], {"rows": 4})
                [execution] = run_pending()
                self.assertEqual(execution.status, "SUCCESS", execution.error_message)
                self.assertEqual(set(execution.result.values()), {4})
                self.assertFalse(Item.objects.using(alias).exists())

    @skipIf("postgres_1" in connections, "POSTGRES_1_URL is set")
    def test_a_database_that_is_not_configured_is_named_and_not_retried(self) -> None:
        enqueue("postgres_crud")
        [execution] = run_pending(include_delayed=True)
        self.assertEqual((execution.status, execution.attempt), ("FAILED", 1))
        self.assertIn("Set POSTGRES_1_URL", execution.error_message)
