"""How much is measured: for a quick look, by default, and with the slow parts."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Sizes:
    drain_seconds: float
    """How long a drain should last; with a subject's expected rate it makes the number of jobs."""

    raw_seconds: float
    """How long each raw statement is repeated."""

    latency_jobs: int
    latency_seconds: float
    """One or the other ends the measure of latency."""

    enqueue_seconds: float
    idle_seconds: float
    crons: int
    pending: int
    """Rows of the backlog that waits."""

    finished: int
    """Rows of the history that is in the way."""

    lanes: int
    """Queues and priorities with one execution each."""

    backlog_jobs: int
    """How many of a backlog are drained."""

    turns: int = 5
    """How often what is compared is measured in turns; the median of their ratios counts."""

    nap_seconds: float = 4
    """How long slots are watched while jobs sleep in them."""

    soak_jobs: int = 2_000_000
    quiet_seconds: float = 90
    """How long to wait, before it begins, for a machine that is busy."""

    has_ten_times: bool = False
    """Whether ten times that history and the soak are tried, too, which takes many minutes."""

    def jobs(self, expected_rate: float) -> int:
        return max(100, int(expected_rate * self.drain_seconds))


QUICK = Sizes(
    drain_seconds=0.7,
    raw_seconds=0.3,
    latency_jobs=50,
    latency_seconds=1,
    enqueue_seconds=0.3,
    idle_seconds=2,
    crons=10_000,
    pending=100_000,
    finished=100_000,
    lanes=20_000,
    backlog_jobs=10_000,
)
DEFAULT = Sizes(
    drain_seconds=3,
    raw_seconds=1.5,
    latency_jobs=300,
    latency_seconds=5,
    enqueue_seconds=1.5,
    idle_seconds=10,
    crons=100_000,
    pending=1_000_000,
    finished=1_000_000,
    lanes=20_000,
    backlog_jobs=20_000,
)
FULL = replace(DEFAULT, has_ten_times=True)
TINY = Sizes(
    drain_seconds=0.4,
    raw_seconds=0.02,
    latency_jobs=3,
    latency_seconds=1,
    enqueue_seconds=0.02,
    idle_seconds=0.1,
    crons=200,
    pending=10_000,
    finished=400,
    lanes=600,
    backlog_jobs=2_000,
    turns=1,
    nap_seconds=0.2,
    quiet_seconds=0,
)
"""For the test of the benchmarks themselves; its figures mean nothing."""

SIZES = {"quick": QUICK, "default": DEFAULT, "full": FULL, "tiny": TINY}
