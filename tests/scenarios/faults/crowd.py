"""Do writers and readers stand in each other's way? Processes that sync, replay, publish and read at once.

`python -m tests.scenarios.faults.crowd --seconds 600` lets them work for long (part of `make soak`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from tests.scenarios.faults.ground import FEW, ground
from tests.scenarios.faults.victim import Job, do

WRITERS = ("sync", "sync", "replay", "publish")
_CLEAN = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Crowd:
    """What a crowd did: how often each job ended, and everything that went wrong."""

    done: Counter[str]
    wrong: list[str]


def crowd(directory: Path, *, seconds: float, readers: int) -> Crowd:
    """Let writers and readers loose on one data directory for so long."""
    here = ground(directory, offices=1)
    here.sync()
    here.publish()
    customers = tuple(customer.id for customer in here.settings.customers)
    job = Job("sync", str(directory), customers, "2026-10", FEW)
    with _CLEAN.Manager() as manager:
        told = manager.list()
        works = [(_write, (replace(job, what=what), seconds, told)) for what in WRITERS]
        works += [(_read, (job, seconds, told))] * readers
        processes = [_CLEAN.Process(target=target, args=given) for target, given in works]
        for one in processes:
            one.start()
        for one in processes:
            one.join()
        said = list(told)
    wrong = [sentence for what, sentence in said if sentence]
    wrong += _backwards(here.rows(_OLDER))
    return Crowd(Counter(what for what, sentence in said if not sentence), wrong)


_OLDER = """
SELECT held.report, held.month FROM meta.months AS held JOIN meta.loads AS load
ON (held.report, held.customer) = (load.report, load.customer) AND list_contains(load.months, held.month)
WHERE load.status = 'loaded' AND load.fetched_at_utc > held.fetched_at_utc
"""


def _backwards(rows: list[tuple[object, ...]]) -> list[str]:
    return [f"an older fetch stands over a newer one: {row}" for row in rows]


def _write(job: Job, seconds: float, told: list[tuple[str, str]]) -> None:
    with _telling(job.what, seconds, told) as again:
        for _ in again:
            code = do(job)
            told.append((job.what, f"{job.what} ended with {code}" if code else ""))


def _read(job: Job, seconds: float, told: list[tuple[str, str]]) -> None:
    with _telling("read", seconds, told) as again:
        for _ in again:
            with duckdb.connect(str(Path(job.data_dir, "warehouse.duckdb")), read_only=True) as file:
                file.execute("SELECT count(*), sum(commission) FROM bi.sales_estates").fetchall()
                file.execute("SELECT count(*) FROM meta.publications").fetchall()
            told.append(("read", ""))


@contextmanager
def _telling(what: str, seconds: float, told: list[tuple[str, str]]) -> Iterator[Iterator[int]]:
    """Rounds until the time is over; whatever is raised is written down."""
    until = time.monotonic() + seconds
    try:
        yield iter(_until(lambda: time.monotonic() < until))
    except Exception as error:  # noqa: BLE001 - every error of every process is what this is about
        told.append((what, f"{what}: {type(error).__name__}: {error}"))


def _until(goes_on: Callable[[], bool]) -> Iterator[int]:
    number = 0
    while goes_on():
        number += 1
        yield number


def main() -> int:
    """Run, say the figures, and end with 1 if anything went wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--readers", type=int, default=8)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = crowd(Path(folder) / "data", seconds=given.seconds, readers=given.readers)
    sys.stdout.write(f"{dict(found.done)}; wrong: {len(found.wrong)} {found.wrong[:5]}\n")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
