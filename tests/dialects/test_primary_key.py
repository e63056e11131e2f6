"""A query that is not to use the primary key, on databases that can be told so."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models.sql.datastructures import BaseTable

from jobu.models import JobExecution

pytestmark = pytest.mark.django_db


def test_django_has_the_table_of_a_query_in_its_alias_map_as_a_base_table() -> None:
    """Django documents neither `alias_map` nor `BaseTable`; `pass_over_primary_key` needs both."""
    query = JobExecution.objects.all().query
    assert type(query.alias_map[query.get_initial_alias()]) is BaseTable


def test_only_mysql_is_told_to_pass_over_the_primary_key() -> None:
    is_mysql = connection.vendor == "mysql" and not connection.mysql_is_mariadb  # type: ignore[attr-defined]
    query = JobExecution.objects.of_job(1)
    assert ("IGNORE INDEX (PRIMARY)" in str(query.query)) is is_mysql
    assert list(query.order_by("-id").select_related("job")) == []
    assert query.count() == 0
