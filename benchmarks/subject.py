"""What is measured: a queue, or a database without one, each in a process of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from benchmarks.measures import drain, latency, percentiles, rate_of, timed_rate

if TYPE_CHECKING:
    from benchmarks.sizes import Sizes
    from benchmarks.workers import Way

Figure = tuple[str, float]
Measure = tuple[str, Callable[[], Iterable[Figure]]]


class Subject(ABC):
    """One row of the results; a subclass for each, found through the catalogue."""

    title: ClassVar[str]
    stores: ClassVar[tuple[str, ...]]
    """The kinds of stores that are made for it."""

    chosen: ClassVar[str] = ""
    """Its settings and why they were chosen, for the documentation."""

    package: ClassVar[str] = ""
    """The distribution whose version is shown."""

    rounds: ClassVar[int] = 2
    """In how many rounds it is measured at most."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the tables, connect."""

    @abstractmethod
    def measures(self, sizes: Sizes) -> Sequence[Measure]:
        """Return what to measure: a name, and a function that gives the figures."""


class QueueSubject(Subject):
    """A queue with workers: drained, asked for its latency, fed one by one and in bulk."""

    expected_rate: ClassVar[float]
    """About how many jobs a second it drains; decides how many it gets, and nothing else."""

    has_bulk: ClassVar[bool] = False
    """Whether `fill` is one call of the queue's own, worth a figure."""

    has_latency: ClassVar[bool] = True

    @abstractmethod
    def ways(self) -> Sequence[Way]:
        """Return the ways of running its workers; the first one is asked for the latency, too."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all jobs, finished ones included."""

    @abstractmethod
    def fill(self, jobs: int, way: Way) -> None:
        """Enqueue jobs that do nothing, as fast as the queue allows."""

    @abstractmethod
    def enqueue(self) -> object:
        """Enqueue one job that does nothing."""

    @abstractmethod
    def enqueue_stamp(self) -> object:
        """Enqueue one job that tells when it started."""

    @abstractmethod
    def settled(self) -> int:
        """Return how many jobs are done for good, their outcomes stored if the queue stores any."""

    def analyse(self) -> None:
        """Let the database look at what was filled in, as it would have in a running system."""

    def measures(self, sizes: Sizes) -> list[Measure]:
        found: list[Measure] = [
            (f"drain {way.name}", partial(self.drain, way, sizes)) for way in self.ways()
        ]
        if self.has_latency:
            found.append(("latency", partial(self.latency, sizes)))
        found.append(("enqueue", partial(self.enqueue_rate, sizes)))
        return found

    def drain(self, way: Way, sizes: Sizes) -> Iterator[Figure]:
        self.clear()
        jobs = sizes.jobs(self.expected_rate)
        bulk = timed_rate(lambda: self.fill(jobs, way), jobs)
        if self.has_bulk:
            yield "enqueue_many", bulk
        self.analyse()
        rates = drain(way, jobs, self.settled)
        yield f"drain {way.name}", rates.settled
        yield f"ran {way.name}", rates.ran

    def latency(self, sizes: Sizes) -> Iterator[Figure]:
        self.clear()
        return percentiles(latency(self.ways()[0], self.enqueue_stamp, sizes))

    def enqueue_rate(self, sizes: Sizes) -> Iterator[Figure]:
        self.clear()
        yield "enqueue", rate_of(self.enqueue, sizes.enqueue_seconds)
