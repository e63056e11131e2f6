"""What the figures depend on: the machine, the versions, the servers' settings."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from benchmarks.figures import BUSY
from benchmarks.stores import STORES, StoreUnavailableError
from benchmarks.workers import ROOT

_DATABASES_TO_ASK = {"postgres": "postgres", "mysql": "", "sqlite": "", "redis": "0"}
_TITLES = {"postgres": "PostgreSQL", "mysql": "MariaDB", "sqlite": "SQLite", "redis": "Redis"}


def wait_for_quiet(seconds: float) -> None:
    """Wait, so long at most, while the machine is busy: with having installed the peers, say."""
    end = time.monotonic() + seconds
    if os.getloadavg()[0] >= BUSY and seconds:
        sys.stderr.write(f"The machine is busy; waiting for it, {seconds:.0f} s at most.\n")
    while os.getloadavg()[0] >= BUSY and time.monotonic() < end:
        time.sleep(1)


def describe() -> dict[str, str]:
    facts = {
        "processor": f"{os.cpu_count()} × {_processor()}",
        "memory": f"{_memory_gib():.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "Python": platform.python_version(),
        "Django": metadata.version("django"),
        "jobu": _commit(),
    }
    for kind, store_class in STORES.items():
        try:
            found = store_class(_DATABASES_TO_ASK[kind]).facts()
        except StoreUnavailableError as error:
            facts[_TITLES[kind]] = f"not used: {str(error).splitlines()[0]}"
        else:
            version, *others = (
                value if index == 0 else f"{name} {value or '(empty)'}"
                for index, (name, value) in enumerate(found.items())
            )
            facts[_TITLES[kind]] = "; ".join([version, *others])
    return facts


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gib() -> float:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


def _commit() -> str:
    version = metadata.version("django-jobu")
    with suppress(OSError, subprocess.CalledProcessError):
        command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        commit = subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).strip()
        return f"{version}, commit {commit}"
    return version
