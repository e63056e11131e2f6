"""Handlers on several databases; those that are not configured are left out."""

from unittest import skipUnless
from unittest.mock import patch

from django.db import connections
from django.test import TransactionTestCase

from config.databases import configured
from jobu import enqueue
from jobu.models import JobExecution
from jobu.testing import run_pending
from multi_db.models import Customer


def run(name: str) -> JobExecution:
    enqueue(name)
    [execution] = run_pending()
    return execution


class MultiDbTest(TransactionTestCase):
    databases = frozenset(["default", *configured()])

    def test_the_report_counts_in_each_database_and_names_the_missing(self) -> None:
        Customer.objects.using("sqlite_2").create(email="ada@example.com", name="Ada")
        report = run("multi_db_report").result
        self.assertEqual(report["counts"]["sqlite_2"], {"customers": 1, "items": 0})
        self.assertEqual(len(report["counts"]) + len(report["not configured"]), 3)

    @skipUnless("postgres_1" in connections, "POSTGRES_1_URL is not set")
    def test_customers_are_copied_once_however_often_the_sync_runs(self) -> None:
        for _ in range(2):
            execution = run("sync_sqlite_to_postgres")
            self.assertEqual(execution.status, "SUCCESS", execution.error_message)
        emails = list(Customer.objects.using("postgres_1").values_list("email", flat=True))
        self.assertEqual(len(emails), 6)

    @skipUnless("postgres_1" in connections, "POSTGRES_1_URL is not set")
    def test_an_error_in_one_database_leaves_both_as_they_were(self) -> None:
        with patch("multi_db.jobs.sync.copy_customers", side_effect=OSError("cut off")):
            self.assertEqual(run("sync_sqlite_to_postgres").status, "PENDING")
        for alias in ("sqlite_2", "postgres_1"):
            self.assertFalse(Customer.objects.using(alias).exists())

    @skipUnless({"postgres_1", "mysql_1"} <= set(connections), "one of the URLs is not set")
    def test_what_is_in_postgres_comes_to_mysql(self) -> None:
        Customer.objects.using("postgres_1").create(email="ada@example.com", name="Ada")
        self.assertEqual(run("sync_postgres_to_mysql").result, {"copied": 1})
        self.assertEqual(Customer.objects.using("mysql_1").get().name, "Ada")
