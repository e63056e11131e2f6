"""The process that measures one subject: `python -m benchmarks.measuring NAME SIZES`.

It prints a line for each figure as soon as it has it, and goes on after a measure that failed.
"""

from __future__ import annotations

import json
import sys
import traceback

from benchmarks.catalogue import load
from benchmarks.sizes import SIZES

MARK = "@benchmark "
"""Begins the lines that are meant for `benchmarks.rounds`: peers print, too."""


def main(name: str, sizes_name: str) -> int:
    sizes = SIZES[sizes_name]
    subject = load(name)()
    subject.prepare()
    for what, measure in subject.measures(sizes):
        _tell(measuring=what)
        try:
            for figure, value in measure():
                _tell(figure=figure, value=value)
        except Exception as error:  # noqa: BLE001 - peers fail in their own ways
            traceback.print_exc()
            _tell(problem=what, why=_one_line(error))
    return 0


def _one_line(error: Exception) -> str:
    """Return the beginning of the message, and the end of a worker's log if it has one."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {' … '.join(dict.fromkeys([*lines[:1], *lines[-1:]]))}"


def _tell(**message: object) -> None:
    print(MARK + json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
