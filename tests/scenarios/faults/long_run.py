"""Does it hold for hours? Kills at random moments under faulty answers, and every table compared.

Not collected; `python -m tests.scenarios.faults.long_run --kills 200` runs it (part of `make soak`).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.months import Month
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.server import serving
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from tests.scenarios.faults.ground import TODAY, Cell, Rows, content
from tests.scenarios.faults.victim import KILLED, Job, process, run
from warehouse.database import Store
from warehouse.duckdb_file import connect

KINDS = "500 502 503 429 reset reset_inside half half_without_length html empty".split()
TRIES = 5
LOOK_EVERY = 10
MOST_ROUNDS = 10
JOBS = ("sync",) * 6 + ("refresh",) * 3 + ("publish", "publish", "replay", "compact", "rollback")


def say(sentence: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {sentence}\n")
    sys.stdout.flush()


def faults(rate: float) -> list[Fault]:
    """So many of all answers are spoiled, by every healing kind alike."""
    each = 1 - (1 - rate) ** (1 / len(KINDS))
    return [Fault(kind, rate=each, seconds=1) for kind in KINDS]


@dataclass
class LongRun:
    """One directory that is killed over and over, beside one that never is."""

    service: Service
    job: Job
    random: random.Random
    truth: dict[Cell, Rows] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    faulty: int = 0
    out_of_bounds: list[str] = field(default_factory=list)

    def one(self, what: str, longest: float) -> None:
        """Start a job, and kill it at a random moment unless it has ended by then."""
        job = replace(self.job, what="sync" if what == "refresh" else what, refresh=what == "refresh")
        Path(job.says).unlink(missing_ok=True)
        self.service.log.clear()
        working = process(job)
        working.start()
        working.join(self.random.uniform(0.05, longest))
        if working.is_alive():
            working.kill()
        working.join()
        (self.kills if working.exitcode == KILLED else self.ended)[what] += 1
        self.count(job)

    def count(self, job: Job) -> None:
        """Add up the requests of a job, and hold them against the bound."""
        entries = self.service.log.entries
        self.requests += len(entries)
        self.faulty += sum(bool(entry.faults) for entry in entries)
        if entries and Path(job.says).exists():
            planned = json.loads(Path(job.says).read_text("utf-8"))["requests"]
            if len(entries) > TRIES * planned:
                self.out_of_bounds.append(f"{len(entries)} requests where {planned} were planned")

    def wrong(self, *, whole: bool) -> list[str]:
        """Cells that hold anything but the truth; missing ones only count when everything must be in."""
        folder = Path(self.job.data_dir)
        working, published = folder / "work" / "warehouse.duckdb", folder / "warehouse.duckdb"
        found = []
        for path in filter(Path.exists, (working, published)):
            reading = Store(folder).reading() if path == working else connect(path, read_only=True)
            with reading as file:
                cells = content(file)
            found += [f"{path.name} {cell}" for cell in cells if cells[cell] != self.truth.get(cell)]
            if whole:
                found += [f"{path.name} {cell} missing" for cell in self.truth.keys() - cells.keys()]
        return found

    def complete(self) -> int:
        """Sync without kills, still under faults, until nothing is missing; answers how many it took."""
        for number in range(1, MOST_ROUNDS + 1):
            self.service.log.clear()
            code = run(replace(self.job, refresh=False), seconds=900)
            self.count(self.job)
            if code == 0:
                return number
        raise AssertionError(f"after {MOST_ROUNDS} syncs something is still missing")


def main() -> int:
    """Run, say the figures, and end with 1 if anything is lost, doubled, stale or beyond its bound."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--offices", type=int, default=7)
    parser.add_argument("--from", dest="start", default="2024-01")
    parser.add_argument("--faulty", type=float, default=0.25)
    parser.add_argument("--longest", type=float, default=6.0, help="seconds a job lives at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="where everything is kept, to be looked at afterwards")
    given = parser.parse_args()
    world = World.build(start=Month.parse(given.start), as_of=TODAY, offices=given.offices)
    service = Service(world)
    with TemporaryDirectory() as passing, serving(service) as server:
        folder = given.directory or Path(passing)
        never = f"{folder}/never"
        job = Job("sync", never, world.customers, given.start, (), server.base_url, refresh=False)
        return _run(given, service, job, folder)


def _run(given: argparse.Namespace, service: Service, job: Job, folder: Path) -> int:
    began = time.monotonic()
    if run(job, seconds=900) or run(replace(job, what="publish"), seconds=900):
        raise AssertionError("the undisturbed run failed")
    with Store(Path(job.data_dir)).reading() as file:
        truth = content(file)
    undisturbed = len(service.log.entries)
    say(f"undisturbed: {undisturbed} requests, {sum(rows for rows, _ in truth.values())} rows")
    service.faults.switch(faults(given.faulty))
    job = replace(job, data_dir=str(folder / "killed"), says=str(folder / "plan.json"))
    long_run = LongRun(service, job, random.Random(given.seed), truth)
    wrong: list[str] = []
    while sum(long_run.kills.values()) < given.kills:
        long_run.one(long_run.random.choice(JOBS), given.longest)
        if sum(long_run.kills.values()) % LOOK_EVERY == 0:
            wrong += long_run.wrong(whole=False)
            say(f"killed {dict(long_run.kills)}, ended {dict(long_run.ended)}, wrong cells {len(wrong)}")
    rounds = long_run.complete()
    for what in ("publish", "replay", "compact"):
        if run(replace(job, what=what), seconds=900):
            wrong.append(f"{what} failed")
        wrong += long_run.wrong(whole=True)
    say(f"{sum(long_run.kills.values())} kills: {dict(long_run.kills)}; completed in {rounds} further syncs")
    say(f"{long_run.requests} requests, {long_run.faulty} of them answered faultily")
    say(f"{len(wrong)} wrong cells {wrong[:5]}; beyond the bound: {long_run.out_of_bounds}")
    say(f"{time.monotonic() - began:.0f} s")
    return 1 if wrong or long_run.out_of_bounds else 0


if __name__ == "__main__":
    sys.exit(main())
