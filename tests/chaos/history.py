"""What was promised to whoever enqueued, compared with what the database has in the end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

FINAL = {"SUCCESS", "FAILED", "TIMEOUT", "CANCELLED"}
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Figures:
    """What a history came to, if it is one that may be."""

    executions: int
    runs: int
    ticks: int
    vanished: int
    reused: int

    def __str__(self) -> str:
        return (
            f"{self.executions} executions, {self.ticks} of them ticks, in {self.runs} runs; "
            f"{self.vanished} vanished, {self.reused} ids given twice"
        )


class History:
    """The producer's journal and the database's rows."""

    def __init__(self, journal: Path, report: dict[str, Any]) -> None:
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        self._acknowledged = [line for line in lines if "id" in line]
        self._crons = [line for line in lines if "cron" in line]
        self._rows: list[dict[str, Any]] = report["executions"]
        self._notes: list[tuple[int, str]] = [(pk, note) for pk, note in report["notes"] if pk]

    def check(self, *, may_lose: bool = False) -> Figures:
        """Fail on anything that must not be; `may_lose` what was acknowledged last."""
        self._check_rows()
        self._check_effects()
        vanished = self._vanished()
        assert may_lose or not vanished, f"vanished: {vanished}"
        ids = Counter(line["id"] for line in self._acknowledged)
        reused = [pk for pk, times in ids.items() if times > 1]
        assert may_lose or not reused, f"given twice: {reused}"
        return Figures(
            executions=len(self._rows),
            runs=sum(row["attempt"] for row in self._rows),
            ticks=self._check_ticks(may_lose=may_lose),
            vanished=len(vanished),
            reused=len(reused),
        )

    def _check_rows(self) -> None:
        """Each is final, as its handler wants to end, with a result that is its own."""
        assert self._acknowledged, "nothing was enqueued"
        wrong = [row for row in self._rows if row["status"] != "SUCCESS"]
        assert not wrong, f"not SUCCESS: {wrong[:5]} and {len(wrong)} in all"
        foreign = [row for row in self._rows if row["result"]["token"] != row["params"]["token"]]
        assert not foreign, f"with another's result: {foreign}"
        enqueued = Counter(row["params"]["token"] for row in self._rows if not row["job__name"])
        assert not [token for token, times in enqueued.items() if times > 1]

    def _check_effects(self) -> None:
        """What atomic handlers wrote is there once, for the execution that it was written for."""
        atomic = [row for row in self._rows if row["handler_name"] == "atomic_token"]
        expected = Counter((row["id"], row["params"]["token"]) for row in atomic)
        assert Counter(self._notes) == expected, Counter(self._notes) - expected

    def _vanished(self) -> list[dict[str, Any]]:
        tokens = {row["id"]: row["params"]["token"] for row in self._rows}
        return [line for line in self._acknowledged if tokens.get(line["id"]) != line["token"]]

    def _check_ticks(self, *, may_lose: bool) -> int:
        """Return how many ticks there are: of each cron job every minute's, once."""
        ticks: dict[str, list[datetime]] = {}
        for row in self._rows:
            if row["job__name"]:
                tick = datetime.fromisoformat(row["scheduled_time"])
                ticks.setdefault(row["job__name"], []).append(tick)
        for cron in self._crons:
            found = sorted(ticks.get(cron["cron"], []))
            if may_lose and not found:
                continue
            first = datetime.fromisoformat(cron["first"])
            assert found == [first + number * MINUTE for number in range(len(found))], cron
            assert len(found) > 1, cron
        return sum(map(len, ticks.values()))
