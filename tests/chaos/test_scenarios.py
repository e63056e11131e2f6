"""The quick scenarios, as short as they go; `make chaos` runs all of them, for longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.chaos.conftest import SCENARIOS_HERE
from tests.chaos.fleet import Chaos
from tests.chaos.scenarios import SCENARIOS


@pytest.mark.processes
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", SCENARIOS_HERE)
def test_nothing_is_lost_repeated_or_mixed_up(name: str, tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    SCENARIOS[name](Chaos(tmp_path, seed, seconds=6, say=print))
