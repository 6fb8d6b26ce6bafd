"""Processes that sync, replay, publish and read in one data directory at once."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.scenarios.processes import Job, do
from tests.scenarios.scenario import scenario

WRITERS = ("sync", "sync", "replay", "publish")
OLDER_THAN_LOADED = """
SELECT held.report, held.month FROM meta.months AS held JOIN meta.loads AS load USING (report, customer)
JOIN meta.loads AS in_force ON in_force.load_id = held.load_id
WHERE list_contains(load.months, held.month) AND load.status = 'loaded'
AND load.load_number > in_force.load_number
"""
_FORK_SERVER = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Crowd:
    """How often each job ended well, and everything that went wrong."""

    done: Counter[str]
    wrong: list[str]


def crowd(directory: Path, *, seconds: float, readers: int) -> Crowd:
    here = scenario(directory, offices=1, whole=True)
    here.sync()
    here.publish()
    with _FORK_SERVER.Manager() as manager:
        told = manager.list()
        jobs = [Job.of(what, here) for what in WRITERS] + [Job.of("read", here)] * readers
        processes = [_FORK_SERVER.Process(target=_repeat, args=(job, seconds, told)) for job in jobs]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        ended = list(told)
    wrong = [sentence for _, sentence in ended if sentence]
    wrong += [f"an older load replaced a newer one: {row}" for row in here.rows(OLDER_THAN_LOADED)]
    return Crowd(Counter(what for what, sentence in ended if not sentence), wrong)


def _repeat(job: Job, seconds: float, told: list[tuple[str, str]]) -> None:
    """Do a job until the time is over; whatever is raised is written down."""
    until = time.monotonic() + seconds
    work: Callable[[Job], int] = _read if job.what == "read" else do
    try:
        while time.monotonic() < until:
            code = work(job)
            told.append((job.what, f"{job.what} ended with {code}" if code else ""))
    except Exception as error:  # noqa: BLE001 - every error of every process is what this is about
        told.append((job.what, f"{job.what}: {type(error).__name__}: {error}"))


def _read(job: Job) -> int:
    with duckdb.connect(str(job.data_dir / "warehouse.duckdb"), read_only=True) as file:
        file.execute("SELECT count(*), sum(commission) FROM bi.sales_estates").fetchall()
        file.execute("SELECT count(*) FROM meta.publications").fetchall()
    return 0
