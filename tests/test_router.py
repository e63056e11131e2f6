"""Where jobu's models live."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connections, router
from django.test import override_settings

from jobu.models import CronJob, JobExecution, Process
from jobu.router import JobuRouter
from tests.project.shop.models import Effect


@pytest.mark.parametrize("model", [CronJob, JobExecution, Process])
@pytest.mark.parametrize("alias", ["default", "other"])
def test_jobu_s_models_live_in_the_database_of_the_setting(model: Any, alias: str) -> None:
    with override_settings(JOBU_DATABASE=alias):
        assert router.db_for_read(model) == alias
        assert router.db_for_write(model) == alias


def test_the_router_has_no_opinion_on_other_models() -> None:
    with override_settings(JOBU_DATABASE="other"):
        assert JobuRouter().db_for_read(Effect) is None
        assert JobuRouter().db_for_write(Effect) is None
        assert JobuRouter().allow_migrate("default", "shop") is None
        assert router.db_for_write(Effect) == "default"


@pytest.mark.parametrize(("alias", "elsewhere"), [("default", "other"), ("other", "default")])
def test_jobu_migrates_only_in_its_own_database(alias: str, elsewhere: str) -> None:
    with override_settings(JOBU_DATABASE=alias):
        assert router.allow_migrate(alias, "jobu", model_name="jobexecution") is True
        assert router.allow_migrate(elsewhere, "jobu", model_name="jobexecution") is False


@pytest.mark.django_db(databases=["default", "other"])
def test_only_the_database_of_the_setting_has_jobu_s_tables() -> None:
    here = set(connections["default"].introspection.table_names())
    elsewhere = set(connections["other"].introspection.table_names())
    tables = {model._meta.db_table for model in (CronJob, JobExecution, Process)}
    assert tables <= here
    assert tables.isdisjoint(elsewhere)
    assert Effect._meta.db_table in elsewhere
