"""The benchmarks run, with sizes whose figures mean nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import tally
from benchmarks.figures import Results, SubjectResult, load
from benchmarks.picture import draw
from benchmarks.targets import Verdict, verdicts

ROOT = Path(__file__).parent.parent

pytestmark = [pytest.mark.pure, pytest.mark.processes]


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_jobu_is_measured_on_sqlite_and_its_targets_are_listed(tmp_path: Path) -> None:
    output = tmp_path / "figures.json"
    only_sqlite = ("--peers", "none", "--databases", "sqlite")
    done = bench(*only_sqlite, "--sizes", "tiny", "--rounds", "1", "--output", str(output))

    assert done.returncode == 0, done.stderr
    subjects = json.loads(output.read_text())["subjects"]
    assert subjects["jobu.sqlite"]["problems"] == {}
    figures = subjects["jobu.sqlite"]["figures"]
    assert all(value >= 0 for values in figures.values() for value in values)
    assert {"drain sync", "drain async", "drain 2 processes", "latency p50", "enqueue"} <= set(
        figures
    )
    assert subjects["raw.sqlite"]["figures"]["batch 100"][0] > 0
    assert subjects["extremes.sqlite"]["problems"] == {}
    extremes = subjects["extremes.sqlite"]["figures"]
    assert {"sync beside the raw limit", "backlog pending", "backlog finished"} <= set(extremes)
    # Of its start and end there are some, whatever it runs.
    assert 0 < extremes["statements for 1,000 jobs"][0] < 100
    targets = done.stdout.partition("Targets")[2]
    assert "3. SQLite, beside huey on SQLite" in targets
    assert "not measured" in targets
    assert "4. latency p50 on SQLite" in targets


def test_an_unknown_peer_is_refused_with_the_names_of_the_known() -> None:
    done = bench("--peers", "celery,sidekiq")

    assert done.returncode == 2
    assert "unknown: sidekiq; known are pgqueuer, chancy, procrastinate, celery" in done.stderr


def results(**subjects: dict[str, list[float]]) -> Results:
    found = {
        name.replace("__", "."): SubjectResult(name, "1.0", figures)
        for name, figures in subjects.items()
    }
    machine = {"processor": "2 × fast & cheap", "Python": "3.13"}
    return Results("tiny", "2026-11-16 06:00 UTC", machine, found)


def verdict(found: Results, text: str) -> Verdict:
    return next(each for each in verdicts(found) if each.target.text == text)


def test_a_target_takes_the_best_round_of_the_best_way_of_a_peer() -> None:
    found = results(
        jobu__postgres={"drain sync": [900.0, 1200.0]},
        celery={"drain prefork 2": [50.0, 40.0], "drain prefork 2, no results": [70.0, 80.0]},
    )
    judged = verdict(found, "PostgreSQL, sync handlers, beside Celery")

    assert judged.measured == 15
    assert judged.holds is True


def test_a_low_latency_is_the_better_one() -> None:
    found = results(jobu__sqlite={"latency p50": [31.0, 29.0]})

    assert verdict(found, "latency p50 on SQLite").holds is True


def test_a_target_without_its_peer_is_listed_as_not_measured() -> None:
    judged = verdict(
        results(jobu__postgres={"drain sync": [900.0]}), "PostgreSQL, sync handlers, beside Celery"
    )

    assert judged.holds is None
    assert judged.row[2:] == ("no celery: drain*", "not measured")


def test_results_survive_their_file(tmp_path: Path) -> None:
    found = results(jobu__postgres={"drain sync": [900.0]})
    found.left_out["celery"] = "Redis: nothing answers"
    found.save(tmp_path / "figures.json")

    assert load(tmp_path / "figures.json") == found


def test_the_picture_shows_the_best_of_each() -> None:
    found = results(
        jobu__postgres={"drain sync": [900.0], "drain async": [1100.0]},
        raw__postgres={"batch 100": [2000.0]},
        extremes__postgres={"drain, empty table": [5.0]},
    )
    texts = [element.text for element in ElementTree.fromstring(draw(found)).iter()]

    assert "1,100" in texts
    assert "2,000" in texts
    assert "900" not in texts
    assert "5" not in texts


def test_every_thread_of_a_worker_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = tally.Tally(tmp_path / "tally")
    monkeypatch.setenv(tally.VARIABLE, str(watched.path))

    def work() -> None:
        for _ in range(1000):
            tally.note()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert watched.count() == 4000


def test_a_stamp_is_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = tally.Tally(tmp_path / "tally")
    monkeypatch.setenv(tally.VARIABLE, str(watched.path))
    assert watched.take_stamp() is None
    thread = threading.Thread(target=tally.stamp)
    thread.start()
    thread.join()

    assert watched.take_stamp() is not None
    assert watched.take_stamp() is None


def test_a_busy_machine_is_told() -> None:
    found = results()
    assert found.warning == ""
    found.machine["load before"] = "3.10"

    assert "its load 3.1 before the run" in found.warning
