"""How fast are we, beside the best peer and the floor? Races on one machine, in turns; the middle counts.

`python -m tests.tools.bench.racing` (`make bench`) writes docs/speed.json and the table in docs/speed.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.bench.contestants import (
    ARROW,
    DEFAULTS,
    FLOOR,
    OURS,
    PARQUET,
    ROOT,
    contestants,
    installed_peer,
    race,
    service,
)
from tests.tools.bench.measuring import Cost
from tests.tools.bench.results import Result, keep, told
from tests.tools.bench.stages import STAGES

PEERS = {DEFAULTS, PARQUET, ARROW}


def races(name: str, size: int, given: argparse.Namespace) -> list[Result]:
    """Every contestant on one stage, in turns; dlt at its defaults, who takes minutes, once."""
    stage = STAGES[name](size)
    names = [one for one in contestants(stage) if not given.only or one in given.only]
    peer = installed_peer(ROOT / ".dev" / "peer") if PEERS & set(names) else None
    costs: dict[str, list[Cost]] = {one: [] for one in names}
    with service(stage, size, given.latency, given.port) as at:
        for number in range(given.rounds):
            for one in names[number % len(names) :] + names[: number % len(names)]:
                if one == DEFAULTS and number:
                    continue
                with TemporaryDirectory(prefix="race-", dir=given.directory) as directory:
                    costs[one].append(race(one, stage, at, Path(directory), peer))
                _say(f"{name} {size}, round {number + 1}: {one} took {costs[one][-1].seconds:.1f} s")
                time.sleep(given.pause)
        return [Result.of(stage, one, of_one, at.bytes, given.latency) for one, of_one in costs.items()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Race on every stage and write down what came of it."""
    given = _parser().parse_args(arguments)
    sizes = {name: getattr(given, name) for name in STAGES}
    measured: list[Result] = []
    for name, size in sizes.items():
        if size:
            measured += races(name, size, given)
    when = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    keep(measured, when, given.results)
    print(told(measured))  # noqa: T201


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--running", type=int, default=480_000, help="rows of RunningCommissions (0: none)")
    parser.add_argument("--sales", type=int, default=32_000, help="estates in the sales tree")
    parser.add_argument("--leads", type=int, default=120_000, help="tips and leads, paged")
    parser.add_argument("--single", type=int, default=0, help="rows of RunningCommissions in one answer")
    parser.add_argument("--small", type=int, default=0, help="rows of RunningCommissions in windows of 200")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--only", action="append", choices=sorted({OURS, FLOOR, *PEERS}))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--results", type=Path, default=ROOT / "docs", help="where the results are written")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds of rest between races")
    parser.add_argument(
        "--directory", type=Path, help="where the races write (default: where temporary files go)"
    )
    return parser


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
