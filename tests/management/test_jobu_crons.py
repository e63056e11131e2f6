"""List cron jobs on the command line."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from tests.builders import cron

pytestmark = pytest.mark.django_db


def test_jobu_crons_lists_the_next_times_in_their_zone() -> None:
    cron("weekly", "0 9 * * 1", timezone="Asia/Seoul")
    cron("broken", "nonsense", timezone="UTC")
    cron("off", is_enabled=False, timezone="UTC")
    out = StringIO()
    call_command("jobu_crons", "--count", "2", stdout=out)
    lines = out.getvalue().splitlines()
    assert sum("T09:00:00+09:00" in line for line in lines) == 2
    assert any(line.startswith("broken: nonsense (UTC), ") for line in lines)
    assert "off: 0 2 * * * (UTC), disabled." in lines
