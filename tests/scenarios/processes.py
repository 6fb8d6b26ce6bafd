"""Jobs of the pipeline in processes of their own, killed at a named step or stopped by a full disk."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from pipelines.budgets.budget import BudgetPlan
from pipelines.budgets.push import push
from pipelines.planning.plan import Plan
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
from pipelines.upkeep.erase import erase
from pipelines.upkeep.finish import finish
from pipelines.upkeep.replay import replay
from tests.scenarios.scenario import FastClock, Scenario, service_of, settings_for
from warehouse.errors import WarehouseError
from warehouse.persons.personal_data import PersonKind
from warehouse.publishing.publish import publish, rollback
from warehouse.publishing.retention import compact

PATIENCE = 1.5
"""Seconds in which a budget that was set is shown."""
KILLED = -signal.SIGKILL
NO_ROOM = 77
"""The exit code of a process in which the error meant for it said that the disk is full."""
_FORK_SERVER = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Step:
    """An audit event of ours, without its prefix, for the `turn`th time."""

    name: str
    turn: int = 1


@dataclass(frozen=True)
class Job:
    """`what` is to be done in this directory.

    `plan` is where a sync writes how many requests it plans, or a plan of budgets that is pushed.
    """

    what: str
    data_dir: Path
    customers: tuple[str, ...]
    start: str = "2026-10"
    reports: tuple[str, ...] = ()
    base_url: str = "http://127.0.0.1:8080"
    refresh: bool = True
    killed_at: Step | None = None
    largest_file: int | None = None
    person: tuple[PersonKind, str] = ("user", "")
    plan: Path | None = None

    @classmethod
    def of(cls, what: str, here: Scenario, **more: Any) -> Job:
        """A job with the settings of a small scenario."""
        settings = here.settings
        names = tuple(customer.id for customer in settings.customers)
        reports = tuple(settings.reports or ())
        return cls(what, here.data_dir, names, str(settings.start), reports, **more)

    @property
    def settings(self) -> Settings:
        return settings_for(self.data_dir, self.customers, self.start, self.reports, base_url=self.base_url)


def process(job: Job) -> ForkServerProcess:
    _FORK_SERVER.set_forkserver_preload(["__main__", __name__, "polars", "tests.scenarios.warm"])
    return _FORK_SERVER.Process(target=_work, args=(job,), daemon=True)


def run(job: Job, seconds: float = 600) -> int:
    one = process(job)
    one.start()
    one.join(seconds)
    if one.exitcode is None:
        one.kill()
        one.join()
        raise TimeoutError(f"{job} has not ended after {seconds} seconds")
    return one.exitcode


def is_killed(job: Job, step: Step) -> bool:
    """Whether a job reached this step, where its process is killed."""
    return run(replace(job, killed_at=step)) == KILLED


def do(job: Job) -> int:
    """Do a job in this process; returns 0 if it succeeds."""
    return _JOBS[job.what](job)


def _work(job: Job) -> None:
    if job.killed_at:
        _die_at(job.killed_at)
    if job.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (job.largest_file, job.largest_file))
    try:
        code = do(job)
    except WarehouseError as error:
        if "no room left" not in str(error):
            raise
        code = NO_ROOM
    sys.exit(code)


def _sync(job: Job) -> int:
    def write_down(plan: Plan) -> None:
        if job.plan:  # whole or not at all: the process may be killed here as well
            unfinished = job.plan.with_suffix(".part")
            unfinished.write_text(json.dumps({"requests": plan.requests}), "utf-8")
            unfinished.replace(job.plan)

    context = RunContext(FastClock())
    if job.base_url == Job.base_url:  # else a sandbox serves another process too
        context = Scenario(service_of(job.start, len(job.customers)), job.settings).context
    summary = sync(job.settings, Selection(refresh=job.refresh), context=context, on_plan=write_down)
    return len(summary.failure_lines())


def _copy(job: Job) -> int:
    return int(not publish(job.data_dir, keep=2, now=FastClock().utc_now()).has_new_file)


def _rollback(job: Job) -> int:
    rollback(job.data_dir, now=FastClock().utc_now())
    return 0


def _compact(job: Job) -> int:
    compact(job.data_dir)
    return 0


def _push(job: Job) -> int:
    settings = job.settings.model_copy(update={"allow_budget_writes": True})
    plan = BudgetPlan.read(job.plan or Path())
    return int(not push(settings, plan, RunContext(), patience=PATIENCE).is_confirmed)


_JOBS: Mapping[str, Callable[[Job], int]] = {
    "sync": _sync,
    "publish": lambda job: int(not finish(job.settings, FastClock()).publication.has_new_file),
    "replay": lambda job: len(replay(job.settings).failures),
    "copy": _copy,
    "rollback": _rollback,
    "push": _push,
    "compact": _compact,
    "erase": lambda job: len(erase(job.settings, *job.person, clock=FastClock()).problems),
}


def _die_at(step: Step) -> None:
    left = step.turn

    def watch(event: str, _: tuple[object, ...]) -> None:
        nonlocal left
        if event == f"brokerbi.{step.name}":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
