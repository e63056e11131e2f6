"""Databases beside that of the tests, to build tables in by other ways than the tests' own."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import override_settings

from tests.project.settings import RUN


@contextmanager
def empty_database(purpose: str) -> Iterator[BaseDatabaseWrapper]:
    """Make a database without tables, make it jobu's, and drop it afterwards.

    A process of the test project that is started with `process_environment(purpose)` works on it.
    """
    settings = copy.deepcopy(connections.settings["default"])
    name = str(settings["TEST"]["NAME"]).replace(RUN, f"{RUN}_{purpose}")
    settings["TEST"]["NAME"] = name
    connections.settings[purpose] = settings
    connection = connections[purpose]
    creation: Any = connection.creation
    server_database = settings["NAME"]
    creation._create_test_db(verbosity=0, autoclobber=True)
    try:
        connection.close()
        settings["NAME"] = connection.settings_dict["NAME"] = name
        allowed = mock.patch.object(BaseDatabaseWrapper, "ensure_connection", _connect_if_needed)
        with allowed, override_settings(JOBU_DATABASE=purpose):
            yield connection
    finally:
        connection.close()
        settings["NAME"] = connection.settings_dict["NAME"] = server_database
        creation._destroy_test_db(name, verbosity=0)
        connection.close()
        del connections[purpose]
        del connections.settings[purpose]


def _connect_if_needed(connection: BaseDatabaseWrapper) -> None:
    """Do what Django does outside of tests: a test may use only what was there when it began."""
    if connection.connection is None:
        with connection.wrap_database_errors:
            connection.connect()


def process_environment(purpose: str) -> dict[str, str]:
    return {"JOBU_TEST_RUN": f"{RUN}_{purpose}"}
