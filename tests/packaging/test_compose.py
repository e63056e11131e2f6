"""docker-compose.yml and the Dockerfile, as far as they can be checked without an engine."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from jobu.conf import PREFIX, setting_types
from tests.packaging.distributions import ROOT

pytestmark = pytest.mark.pure

SAMPLE_COMMANDS = {
    path.stem for path in (ROOT / "sample_project").glob("*/management/commands/*.py")
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def test_it_has_every_part(compose: dict[str, Any]) -> None:
    parts = {"postgres", "mysql", "kafka", "web", "worker", "dispatcher", "queue-dispatcher"}
    assert parts <= compose["services"].keys()


def test_what_services_refer_to_is_there(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert "image" in service, name
        for other, condition in service.get("depends_on", {}).items():
            if condition["condition"] == "service_healthy":
                assert "healthcheck" in services[other]
            assert other in services
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in compose["volumes"]
        for config in service.get("configs", []):
            assert config["source"] in compose["configs"]


def test_the_sample_runs_commands_that_exist_and_gets_their_signals(
    compose: dict[str, Any],
) -> None:
    known = get_commands().keys() | SAMPLE_COMMANDS
    for name, service in compose["services"].items():
        if "build" in service:
            command = service["command"]
            assert isinstance(command, list), f"{name}: a shell would keep the signals"
            for used in re.findall(r"manage\.py (\w+)", " ".join(command)):
                assert used in known, f"{name}: there is no {used}"
            assert service["stop_grace_period"] == "45s"


def test_its_settings_of_jobu_exist_and_its_urls_can_be_read(compose: dict[str, Any]) -> None:
    import environ

    environment = compose["services"]["worker"]["environment"]
    for name, value in environment.items():
        if name.startswith(PREFIX):
            assert name.removeprefix(PREFIX) in setting_types
        elif name.endswith("_URL"):
            assert environ.Env.db_url_config(value)["NAME"]


def test_what_the_dockerfile_copies_is_there_and_not_ignored() -> None:
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            *sources, _target = [word for word in line.split()[1:] if not word.startswith("--")]
            for source in sources:
                assert (ROOT / source).exists()
                assert f"!{source}" in ignore
