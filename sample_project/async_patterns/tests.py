"""The async handler uses connections of its own, so it needs data that is committed."""

from django.test import TransactionTestCase

from config.databases import configured
from jobu import enqueue
from jobu.testing import run_pending
from multi_db.models import Customer


class ConcurrentQueriesTest(TransactionTestCase):
    databases = frozenset(["default", *configured()])

    def test_each_database_is_counted(self) -> None:
        for alias in configured():
            Customer.objects.using(alias).create(email="ada@example.com", name="Ada")
        enqueue("concurrent_queries")
        [execution] = run_pending()
        self.assertEqual(execution.status, "SUCCESS", execution.error_message)
        self.assertEqual(execution.result, dict.fromkeys(configured(), 1))
