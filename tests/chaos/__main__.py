"""Run scenarios: `python -m tests.chaos [SCENARIO …] [--seed N] [--seconds N]`.

Each starts servers and jobu processes of its own, breaks something, and checks in the end what
became of everything that was enqueued. Its seed, which is printed, decides what is enqueued and
when something breaks.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from _pytest.outcomes import Skipped

from tests.chaos.fleet import Chaos
from tests.chaos.scenarios import SCENARIOS


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("scenario", nargs="*", help="all, if none is named; see --list")
    parser.add_argument("--list", action="store_true", help="list the scenarios and stop")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--seconds", type=float, default=20, help="how long each one takes, about")
    parser.add_argument("--times", type=int, default=1, help="how often, each with the next seed")
    options = parser.parse_args(arguments)
    if options.list:
        for name, scenario in SCENARIOS.items():
            print(f"{name:32} {scenario.__doc__}")
        return 0
    names = options.scenario or list(SCENARIOS)
    if unknown := set(names) - set(SCENARIOS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; see --list")
    seeds = range(options.seed, options.seed + options.times)
    failed = [
        f"{name} --seed {seed}"
        for seed in seeds
        for name in names
        if not _passes(name, seed, options.seconds)
    ]
    print(f"FAILED: {', '.join(failed)}" if failed else "All scenarios passed.")
    return 1 if failed else 0


def _passes(name: str, seed: int, seconds: float) -> bool:
    print(f"{name}, seed {seed}: {SCENARIOS[name].__doc__}", flush=True)
    say = _voice()
    folder = Path(tempfile.mkdtemp(prefix="jobu-chaos-"))
    try:
        figures = SCENARIOS[name](Chaos(folder, seed, seconds, say))
    except Skipped as reason:
        say(f"left out: {reason}")
    except AssertionError:
        say(f"FAILED; the logs are in {folder}")
        traceback.print_exc()
        return False
    else:
        say(f"passed: {figures}")
    shutil.rmtree(folder)
    return True


def _voice() -> Callable[[str], None]:
    began = time.monotonic()
    return lambda text: print(f"  {time.monotonic() - began:5.1f} s  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
