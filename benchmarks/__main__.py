"""Measure jobu, its peers and the databases themselves, and say what jobu's targets came to.

Each subject is measured in a process of its own, started fresh, on a database made for it and
dropped after it; its workers are processes of their own. JOBU_TEST_* says where the servers are,
as for the tests. What cannot be measured here is said, and left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from benchmarks import documentation
from benchmarks.catalogue import OURS, SUBJECTS, family, peers
from benchmarks.figures import LATEST, PUBLISHED, Results, load
from benchmarks.machine import wait_for_quiet
from benchmarks.rounds import begin, run
from benchmarks.sizes import SIZES
from benchmarks.tables import tables

_DATABASES = ("postgres", "mysql", "sqlite")


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    if options.write_docs:
        results = load(options.output)
        results.save(PUBLISHED)
        documentation.write(results)
        print(f"Wrote {documentation.PAGE}, {documentation.PICTURE} and {PUBLISHED}.")
        return 0
    log = Path(tempfile.gettempdir()) / "jobu-bench.log"
    wait_for_quiet(SIZES[options.sizes].quiet_seconds)
    results = begin(options.sizes)
    with log.open("w") as stream, suppress(KeyboardInterrupt):
        for grown in run(results, _subjects(options), options.rounds, stream):
            grown.save(options.output)
    _print(results)
    print(f"\nFigures: {options.output}. What the subjects printed: {log}.")
    return 0


def _subjects(options: argparse.Namespace) -> list[str]:
    chosen = OURS | options.peers
    return [
        name
        for name in SUBJECTS
        if family(name) in chosen
        and not (family(name) == "extremes" and options.no_extremes)
        and (family(name) not in OURS or name.partition(".")[2] in options.databases)
    ]


def _print(results: Results) -> None:
    for name, fact in results.machine.items():
        print(f"{name:12} {fact}")
    print(f"{'sizes':12} {results.sizes}; took {results.seconds / 60:.1f} min")
    if results.warning:
        print(f"\n{results.warning}")
    print("\nThe best of all rounds; spread: how far they are apart. Under 25 % means nothing.")
    for table in tables(results):
        print(f"\n{table.text()}")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--peers",
        type=_names(peers()),
        default=frozenset(peers()),
        help=f"some of: {', '.join(peers())}; or none (default: all)",
    )
    parser.add_argument(
        "--databases",
        type=_names(_DATABASES),
        default=frozenset(_DATABASES),
        help=f"what jobu and the raw limits are measured on: some of {', '.join(_DATABASES)}",
    )
    parser.add_argument("--rounds", type=int, default=2, help="(default: 2)")
    parser.add_argument(
        "--no-extremes",
        action="store_true",
        help="leave out what is measured in turns with the raw limits, large tables, idle workers",
    )
    parser.add_argument(
        "--quick", action="store_const", const="quick", dest="sizes", help="a rough look"
    )
    parser.add_argument(
        "--full",
        action="store_const",
        const="full",
        dest="sizes",
        help="with 10,000,000 finished rows, which takes many minutes more",
    )
    parser.add_argument("--sizes", choices=SIZES, help=argparse.SUPPRESS)
    parser.add_argument(
        "--output", type=Path, default=LATEST, metavar="FILE", help=f"(default: {LATEST})"
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="measure nothing; publish the figures of --output in docs/benchmarks.md",
    )
    parser.set_defaults(sizes="default")
    return parser.parse_args(arguments)


def _names(known: list[str] | tuple[str, ...]) -> object:
    def parse(text: str) -> frozenset[str]:
        names = frozenset(filter(None, text.split(",")))
        if text == "none":
            return frozenset()
        if unknown := names - set(known):
            raise argparse.ArgumentTypeError(
                f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(known)}"
            )
        return names or frozenset(known)

    return parse


if __name__ == "__main__":
    sys.exit(main())
