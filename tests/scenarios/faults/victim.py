"""How is a process killed while it works? Forked from a clean one, and dead at a moment or at a step."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import FrameType
from typing import Any

from pipelines.operations.erase import erase
from pipelines.operations.replay import replay
from pipelines.planning.plan import Plan
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
from tests.scenarios.faults.ground import Ground, HurriedClock, settings_for, world_of
from warehouse.errors import DiskFull
from warehouse.personal_data import PersonKind
from warehouse.publish import rollback
from warehouse.retention import compact

KILLED = -signal.SIGKILL
NO_ROOM = 77
"""How a process ends that was told, by the error meant for it, that the disk is full."""
_CLEAN = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Step:
    """A named step: the call or the return of a function; `turn` counts how often it is let pass."""

    file: str
    function: str
    event: str = "call"
    turn: int = 1

    def __str__(self) -> str:
        return f"{'before' if self.event == 'call' else 'after'} {self.function}"


@dataclass(frozen=True)
class Job:
    """What a process is to do: `what` on this directory, and where it is to die."""

    what: str
    data_dir: str
    customers: tuple[str, ...]
    start: str
    reports: tuple[str, ...] = ()
    base_url: str = "https://sandbox.example"
    refresh: bool = True
    step: Step | None = None
    says: str = ""
    largest_file: int | None = None
    person: tuple[PersonKind, str] = (PersonKind.USER, "")

    def settings(self) -> Settings:

        from pipelines.months import Month

        start = Month.parse(self.start)
        return settings_for(Path(self.data_dir), self.customers, start, self.reports, base_url=self.base_url)


def process(job: Job) -> ForkServerProcess:
    """A process of its own for a job, not yet started."""
    _CLEAN.set_forkserver_preload(
        ["__main__", "tests.scenarios.faults.victim", "polars", "warehouse.loading"]
    )
    return _CLEAN.Process(target=_work, args=(job,), daemon=True)


def run(job: Job, seconds: float = 120) -> int:
    """Do a job in a process of its own; its exit code is KILLED when it died where it was told to."""
    one = process(job)
    one.start()
    one.join(seconds)
    if one.exitcode is None:
        one.kill()
        one.join()
        raise TimeoutError(f"{job} has not ended after {seconds} seconds")
    return one.exitcode


def _work(job: Job) -> None:
    if job.step:
        _die_at(job.step)
    if job.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (job.largest_file, job.largest_file))
    try:
        code = do(job)
    except DiskFull:
        code = NO_ROOM
    sys.exit(code)


def do(job: Job) -> int:
    """Do a job in this process; 0 when all is well."""
    return _JOBS[job.what](job)


def _sync(job: Job) -> int:
    told = _Plans(job)
    summary = sync(job.settings(), Selection(refresh=job.refresh), context=_surroundings(job), on_plan=told)
    return len(summary.complaints())


def _publish(job: Job) -> int:
    from pipelines.operations.publish import finish

    return 0 if finish(job.settings(), HurriedClock()).publication.published else 1


def _replay(job: Job) -> int:
    return len(replay(job.settings()).failures)


def _rollback(job: Job) -> int:
    rollback(job.settings().data_dir, now=HurriedClock().utc_now())
    return 0


def _compact(job: Job) -> int:
    compact(job.settings().data_dir)
    return 0


def _erase(job: Job) -> int:
    return len(erase(job.settings(), *job.person, clock=HurriedClock()).problems)


_JOBS: dict[str, Callable[[Job], int]] = {
    "sync": _sync, "publish": _publish, "replay": _replay, "rollback": _rollback, "compact": _compact,
    "erase": _erase,
}  # fmt: skip


def _surroundings(job: Job) -> RunContext:
    if not job.base_url.endswith(".example"):
        return RunContext(HurriedClock())
    return Ground(world_of(job.start, len(job.customers)), job.settings()).context()


@dataclass(frozen=True)
class _Plans:
    """Writes down how many requests are planned, before the first is made."""

    job: Job

    def __call__(self, plan: Plan) -> None:
        if self.job.says:
            with Path(self.job.says).open("w", encoding="utf-8") as file:
                json.dump({"requests": plan.requests}, file)


def _die_at(step: Step) -> None:
    left = step.turn

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        code = frame.f_code
        if event == step.event and code.co_name == step.function and code.co_filename.endswith(step.file):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(watch)
    sys.setprofile(watch)


def killed_at(job: Job, step: Step) -> Job:
    """The same job, to die at this step."""
    return replace(job, step=step)
