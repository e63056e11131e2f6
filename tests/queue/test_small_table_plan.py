"""A small table that nobody has analysed: where planners would rather read all of it."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection, transaction

from jobu import enqueue_many
from jobu.dialects import dialect_of
from jobu.outcomes import succeeded
from jobu.queue.settle import settle
from tests.builders import claim_now
from tests.plans import caught, plan_of


@pytest.mark.django_db(transaction=True)
def test_a_batch_reaches_its_rows_by_primary_key_among_some_ten_thousand() -> None:
    enqueue_many("echo", ({} for _ in range(20_000)))
    with caught() as statements:
        settle([succeeded(attempt, None) for attempt in claim_now(100, process_id=uuid.uuid4())])
    updates = [statement for statement in statements if "UPDATE" in statement.sql.split()[0]]
    assert len(updates) == 2
    with transaction.atomic():
        dialect_of(connection).reach_rows_by_key(connection, 100)
        for update in updates:
            plan = plan_of(update)
            assert plan.indexes == {"PRIMARY"}, plan.text
            assert not plan.scans, plan.text
