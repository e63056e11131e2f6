"""Seeding twice is seeding once."""

import re
from datetime import timedelta
from io import StringIO

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import TestCase
from django.utils import timezone

from demo.history import TIMEOUT_SECONDS
from jobu.models import CronJob, JobExecution, Status


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

    def test_the_history_has_something_in_the_last_hour(self) -> None:
        call_command("seed_demo", stdout=StringIO())
        now = timezone.now()
        recent = JobExecution.objects.filter(finished_at__gt=now - timedelta(hours=1))
        self.assertGreater(recent.count(), 50)
        self.assertFalse(JobExecution.objects.filter(finished_at__gt=now).exists())

    def test_a_run_took_as_long_as_its_text_says(self) -> None:
        call_command("seed_demo", stdout=StringIO())
        dead = JobExecution.objects.filter(status__in=(Status.FAILED, Status.TIMEOUT))
        self.assertGreater(dead.count(), 3)
        for execution in JobExecution.objects.finished():
            seconds = (execution.finished_at - execution.started_at).total_seconds()
            self.assertEqual(execution.status == Status.TIMEOUT, seconds >= TIMEOUT_SECONDS)
            if said := re.search(r" (\d+) s", execution.error_message):
                self.assertAlmostEqual(seconds, int(said[1]), places=3)
