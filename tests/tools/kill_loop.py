"""Kills and stops at random moments under faulty answers; every table is compared with an undisturbed run.

Run it with `python -m tests.tools.kill_loop --kills 200`. A third of the jobs that are still running are
stopped for some seconds (SIGSTOP, then SIGCONT) before they are killed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.months import Month
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.server import serving
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from tests.scenarios.processes import KILLED, Job, process, run
from tests.scenarios.scenario import TODAY, Cell, Rows, contents, wrong_cells
from tests.tools.messages import say

KINDS = "500 502 503 429 reset reset_inside half half_without_length html empty".split()
TRIES = 5
LOOK_EVERY = 10
MOST_ROUNDS = 10
LONGEST_JOB = 7200  # a replay of 200 runs builds the marts with a history 200 times
LONGEST_LIFE, LONGEST_STOP = 6.0, 4.0
OFFICES, FAULTY, STOPPED = 7, 0.25, 1 / 3
JOBS = ("sync",) * 6 + ("refresh",) * 3 + ("publish", "publish", "replay", "compact", "rollback")
BOTH_FILES = ("working file", "published file")


@dataclass
class KillLoop:
    """A data directory whose jobs are killed again and again, and the contents of an undisturbed one."""

    service: Service
    job: Job
    truth: dict[Cell, Rows]
    random: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    stops: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    faulty: int = 0
    beyond_bound: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def kill_one(self, what: str) -> None:
        """Start a job, and kill it at a random moment unless it has ended by then.

        A killed replay is repeated, because nothing can be published before it has succeeded.
        """
        job = replace(self.job, what="sync" if what == "refresh" else what, refresh=what == "refresh")
        self.service.log.clear()
        working = process(job)
        working.start()
        working.join(self.random.uniform(0.05, LONGEST_LIFE))
        if working.is_alive() and self.random.random() < STOPPED:
            self.stop_for_a_while(working)
        if working.is_alive():
            working.kill()
        working.join()
        (self.kills if working.exitcode == KILLED else self.ended)[what] += 1
        if what == "replay" and working.exitcode == KILLED and run(job, LONGEST_JOB):
            self.wrong.append("a repeated replay failed")
        self.count_requests()

    def stop_for_a_while(self, working: ForkServerProcess) -> None:
        """Stop a job for some seconds, as a suspended machine does, then let it run for some seconds."""
        assert working.pid is not None
        os.kill(working.pid, signal.SIGSTOP)
        time.sleep(self.random.uniform(1, LONGEST_STOP))
        os.kill(working.pid, signal.SIGCONT)
        self.stops += 1
        working.join(self.random.uniform(0.05, LONGEST_LIFE))

    def count_requests(self) -> None:
        """Add the requests of a job to the totals, and compare them with TRIES for each planned request."""
        entries = self.service.log.entries
        self.requests += len(entries)
        self.faulty += sum(bool(entry.faults) for entry in entries)
        plan = self.job.plan
        if plan and plan.exists():
            planned = json.loads(plan.read_text("utf-8"))["requests"]
            if len(entries) > TRIES * planned:
                self.beyond_bound.append(f"{len(entries)} requests where {planned} were planned")
            plan.unlink()

    def complete(self) -> int:
        """Sync without kills, still under faults, until nothing is missing; then publish, replay and compact.

        The first sync requests stored months again, as `refresh` jobs did. Returns the number of syncs.
        """
        rounds, code = 0, 1
        while code and rounds < MOST_ROUNDS:
            self.service.log.clear()
            code = run(replace(self.job, refresh=rounds == 0), LONGEST_JOB)
            self.count_requests()
            rounds += 1
        if code:
            raise AssertionError(f"after {MOST_ROUNDS} syncs something is still missing")
        for what in ("publish", "replay", "compact"):
            if run(replace(self.job, what=what), LONGEST_JOB):
                self.wrong.append(f"{what} failed")
            self.wrong += wrong_cells(self.job.data_dir, self.truth)
        return rounds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--from", dest="start", default="2024-01")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    world = World.build(start=Month.parse(options.start), as_of=TODAY, offices=OFFICES)
    service = Service(world)
    with TemporaryDirectory() as temporary, serving(service) as server:
        folder = Path(temporary)
        job = Job(
            "sync", folder / "undisturbed", world.customers, options.start, base_url=server.base_url,
            refresh=False, plan=folder / "plan.json",
        )  # fmt: skip
        return _kill_and_compare(options, service, job, folder)


def _kill_and_compare(options: argparse.Namespace, service: Service, job: Job, folder: Path) -> int:
    began = time.monotonic()
    undisturbed = (job, replace(job, refresh=True), replace(job, what="publish"))
    if any(run(first_job, LONGEST_JOB) for first_job in undisturbed):
        raise AssertionError("the undisturbed run failed")
    truth = contents(job.data_dir)["working file"]
    rows = sum(count for count, _ in truth.values())
    say(f"undisturbed: {len(service.log.entries)} requests, {rows} rows")
    rate = 1 - (1 - FAULTY) ** (1 / len(KINDS))
    service.faults.switch([Fault(kind, rate=rate, seconds=1) for kind in KINDS])
    killed = replace(job, data_dir=folder / "killed")
    loop = KillLoop(service, killed, truth, random.Random(options.seed))
    while loop.kills.total() < options.kills:
        loop.kill_one(loop.random.choice(JOBS))
        if loop.kills.total() % LOOK_EVERY == 0:
            loop.wrong += wrong_cells(killed.data_dir, truth, may_lack=BOTH_FILES)
            say(f"killed {dict(loop.kills)}, ended {dict(loop.ended)}, wrong cells {len(loop.wrong)}")
    rounds = loop.complete()
    say(f"{loop.kills.total()} kills: {dict(loop.kills)}; completed in {rounds} further syncs")
    say(f"{loop.stops} jobs were stopped for a while")
    say(f"{loop.requests} requests, {loop.faulty} of them with faulty answers")
    say(f"{len(loop.wrong)} wrong cells {loop.wrong[:5]}; beyond the bound: {loop.beyond_bound}")
    say(f"{time.monotonic() - began:.0f} s")
    return 1 if loop.wrong or loop.beyond_bound else 0


if __name__ == "__main__":
    sys.exit(main())
