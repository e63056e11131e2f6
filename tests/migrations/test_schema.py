"""The same tables by every way: a dump that is migrated, all migrations, the models alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import override_settings

from jobu import enqueue
from tests.migrations.databases import empty_database
from tests.migrations.dumps import DUMPED, DUMPS, load_dump, migrate_to, newest_migration
from tests.migrations.schema import schema_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def database() -> Any:
    with empty_database("schema") as made:
        yield made


def test_each_dump_is_of_every_database() -> None:
    files = {(file.parent.name, file.stem) for file in DUMPS.glob("*/*.sql")}
    databases = ("mariadb", "mysql", "postgres", "sqlite")
    assert files == {(migration, each) for migration in DUMPED for each in databases}


@pytest.mark.parametrize("migration", DUMPED)
def test_migrations_still_make_the_tables_that_they_made_when_they_landed(
    database: BaseDatabaseWrapper, vendor: str, migration: str
) -> None:
    migrate_to(database, migration)
    made = schema_of(database)
    with empty_database("dump") as dumped:
        load_dump(dumped, migration, vendor)
        assert made == schema_of(dumped)


@pytest.mark.parametrize("migration", DUMPED)
def test_a_dump_that_is_migrated_comes_to_what_the_tests_run_on(
    database: BaseDatabaseWrapper, vendor: str, migration: str
) -> None:
    load_dump(database, migration, vendor)
    migrate_to(database, newest_migration())
    assert schema_of(database) == schema_of(connection)


def test_tables_made_without_migrations_are_those_that_migrations_make(
    database: BaseDatabaseWrapper,
) -> None:
    with override_settings(MIGRATION_MODULES={"jobu": None}):
        for _ in range(2):
            call_command("migrate", database=database.alias, run_syncdb=True, verbosity=0)
    assert schema_of(database) == schema_of(connection)
    assert enqueue("echo")._state.db == database.alias


def test_migrating_back_to_nothing_leaves_nothing(database: BaseDatabaseWrapper) -> None:
    migrate_to(database, newest_migration())
    migrate_to(database, None)
    assert schema_of(database) == {}
    migrate_to(database, newest_migration())
    assert schema_of(database) == schema_of(connection)
