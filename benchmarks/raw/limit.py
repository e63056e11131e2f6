"""The loop that all raw subjects share: claim a batch, complete it, until the time is up."""

from __future__ import annotations

import time
from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.subject import Subject
from benchmarks.workers import MeasureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.sizes import Sizes
    from benchmarks.subject import Figure, Measure

_FEWEST_ROWS = 2_000


class RawLimit(Subject):
    """One connection on a table with few columns and one index, and no handler at all."""

    batches: ClassVar[tuple[int, ...]]
    fastest_rate: ClassVar[int] = 60_000
    """More rows a second than it can do; decides how many are filled in, and nothing else."""

    @abstractmethod
    def fill(self, rows: int) -> None:
        """Replace what the table holds by so many pending rows."""

    @abstractmethod
    def claim(self, batch: int) -> list[Any]:
        """Claim in one transaction; return the ids."""

    @abstractmethod
    def complete(self, ids: list[Any]) -> None:
        """Complete in one statement and one transaction."""

    def measures(self, sizes: Sizes) -> list[Measure]:
        return [
            (f"claim + complete, {batch}", partial(self._claim_and_complete, batch, sizes))
            for batch in self.batches
        ]

    def _claim_and_complete(self, batch: int, sizes: Sizes) -> Iterator[Figure]:
        def step() -> int:
            ids = self.claim(batch)
            self.complete(ids)
            return len(ids)

        yield f"batch {batch}", self.rate(step, sizes)

    def rate(self, step: Callable[[], int], sizes: Sizes) -> float:
        self.fill(max(_FEWEST_ROWS, int(self.fastest_rate * sizes.raw_seconds)))
        step()
        done, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < sizes.raw_seconds:
            count = step()
            if not count:
                break
            done += count
        if not done:
            raise MeasureError("nothing was claimed")
        return done / (time.perf_counter() - begin)
