"""Seeding twice is seeding once."""

from io import StringIO

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import TestCase

from jobu.models import CronJob, JobExecution


class SeedTest(TestCase):
    def test_a_second_seed_changes_nothing(self) -> None:
        counts = []
        for _ in range(2):
            call_command("seed_demo", stdout=StringIO())
            models = (CronJob, JobExecution, get_user_model())
            counts.append([model.objects.count() for model in models])
        self.assertEqual(counts[0], counts[1])
        self.assertTrue(all(counts[0]))

    def test_what_was_edited_in_the_admin_stays(self) -> None:
        call_command("seed_demo", stdout=StringIO())
        CronJob.objects.filter(name="sqlite_crud").update(cron_expression="0 5 * * *")
        call_command("seed_demo", stdout=StringIO())
        self.assertEqual(CronJob.objects.get(name="sqlite_crud").cron_expression, "0 5 * * *")
