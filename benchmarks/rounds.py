"""Measure all subjects once, then all of them again: what disturbs the machine disturbs no one
subject alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import metadata
from typing import IO, TYPE_CHECKING

from benchmarks import stores
from benchmarks.catalogue import load
from benchmarks.figures import Results, SubjectResult
from benchmarks.machine import describe
from benchmarks.measuring import MARK
from benchmarks.progress import Progress
from benchmarks.stores import StoreUnavailableError
from benchmarks.workers import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.subject import Subject


_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def begin(sizes: str) -> Results:
    return Results(sizes, f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", describe())


def run(results: Results, names: Sequence[str], rounds: int, log: IO[str]) -> Iterator[Results]:
    """Measure the subjects of these names, and yield the results as they grow.

    What the subjects print goes to `log`.
    """
    started = time.monotonic()
    classes = {name: load(name) for name in names}
    steps = [
        (number, name)
        for number in range(1, rounds + 1)
        for name in names
        if number <= classes[name].rounds
    ]
    progress = Progress(len(steps))
    for number, name in steps:
        progress.next(f"round {number}, {classes[name].title}")
        if name not in results.left_out:
            _measure(name, classes[name], results, progress, log)
        results.seconds = time.monotonic() - started
        yield results
    progress.close()


def _measure(
    name: str, subject: type[Subject], results: Results, progress: Progress, log: IO[str]
) -> None:
    try:
        version = metadata.version(subject.package) if subject.package else ""
    except metadata.PackageNotFoundError:
        results.left_out[name] = f"{subject.package} is not installed for Python {_PYTHON}"
        return
    with ExitStack() as stack:
        made = []
        for kind in subject.stores:
            try:
                store = stores.make(kind, name)
            except StoreUnavailableError as error:
                results.left_out[name] = str(error).strip()
                return
            stack.callback(store.drop)
            made.append(store)
        result = results.subjects.setdefault(name, SubjectResult(subject.title, version))
        _measure_in_process(name, results.sizes, stores.announce(made), result, progress, log)


def _measure_in_process(
    name: str,
    sizes: str,
    environment: dict[str, str],
    result: SubjectResult,
    progress: Progress,
    log: IO[str],
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.measuring", name, sizes],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    ) as process:
        for line in process.stdout or ():
            if not line.startswith(MARK):
                log.write(line)
                continue
            message = json.loads(line.removeprefix(MARK))
            if "figure" in message:
                result.add(message["figure"], message["value"])
            elif "problem" in message:
                result.problems[message["problem"]] = message["why"]
            else:
                progress.detail(message["measuring"])
    if process.returncode:
        result.problems["all"] = f"its process ended with {process.returncode}; see the log"
