"""Runs of this code location: which have not ended, which have died, and what a backfill is to fetch."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from assets.partitions import ReportPartition, parse_partition_key
from assets.project import Project
from warehouse.store.files import make_folder
from warehouse.store.lock import is_locked

NIGHT_OF = "brokerbi/night"
"""Run tag: the day of a nightly run; such a run requests what is due, and asks the service for changes."""
BACKFILL = "dagster/backfill"
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
MOST_RUNS = 1000
UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
RUNS = Path("work", "runs")
SECONDS_BETWEEN_LOOKS = 30
TIME_TO_START = timedelta(minutes=1)
"""From the moment a run counts as started until its process must have locked its file."""
DIED = (
    "The process of this run ended without a word, as after a restart of the code server or a kill. What it "
    "loaded is kept. It is tried again once by itself; after that re-execute it from failure: it "
    "requests only what is missing, and so does the next nightly run."
)

_LOCKED: dict[str, int] = {}
"""The locked files of the runs of this process, which stay open until it ends."""


def moment(seconds: float) -> datetime:
    """The moment of Dagster's seconds of the Unix epoch."""
    return datetime.fromtimestamp(seconds, UTC)


def unfinished_runs(project: Project, instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Every run that waits or works."""
    return instance.get_runs(project.runs(statuses=list(UNFINISHED)), limit=MOST_RUNS)


def partitions_of_backfill(
    project: Project, instance: dg.DagsterInstance, run: dg.DagsterRun
) -> list[ReportPartition]:
    """The partitions that the first run of a backfill is to fetch; of its other runs none.

    Dagster cuts a backfill by customer or by month and submits its runs one by one; the run that comes first
    fetches for all of them, in the fewest windows, and the others record what is fetched.
    """
    if BACKFILL not in run.tags:
        return []
    filters = dg.RunsFilter(tags={BACKFILL: run.tags[BACKFILL]})
    [first] = instance.get_runs(filters, limit=1, ascending=True)
    backfill = instance.get_backfill(run.tags[BACKFILL])
    data = backfill.asset_backfill_data if backfill else None
    if first.run_id not in (run.run_id, run.root_run_id) or data is None:
        return []
    reports = {project.key(report.name): report for report in project.monthly_reports}
    return [
        ReportPartition(reports[square.asset_key], *parse_partition_key(square.partition_key))
        for square in data.target_subset.iterate_asset_partitions()
        if square.asset_key in reports and square.partition_key
    ]


def show_alive(project: Project, run_id: str) -> None:
    """Lock the file of a run until its process ends: the kernel unlocks it then, however it ends.

    Every step of ours begins with it. Between two tries of a step the run still works.
    """
    if run_id in _LOCKED:
        return
    path = project.settings.data_dir / RUNS / run_id
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # a look at it locks it for an instant
    _LOCKED[run_id] = descriptor


def dead_runs_sensor(project: Project) -> dg.SensorDefinition:
    """Fails runs whose process has died, which Dagster itself would call started for ever."""

    @dg.sensor(
        name="dead_runs",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Fails a run whose process has died, within two minutes.",
    )
    def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        suspects = silent_runs(project, context.instance)
        known = set((context.cursor or "").split())
        dead = [run for run in suspects if run.run_id in known]
        for run in dead:
            if run.status is dg.DagsterRunStatus.CANCELING:
                context.instance.report_run_canceled(run, DIED)
            else:
                context.instance.report_run_failed(run, DIED)
        context.update_cursor(" ".join(run.run_id for run in suspects))
        _forget_ended(project, context.instance)
        return dg.SkipReason(f"{len(dead)} runs had died.")

    return dead_runs


def silent_runs(project: Project, instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    """Runs that count as started for a minute and whose file no process has locked.

    One that starts slowly is silent at first, so a run is dead if it is silent at two looks.
    """
    statuses = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
    records = instance.get_run_records(project.runs(statuses=statuses), limit=MOST_RUNS)
    latest = project.run_context.clock.utc_now() - TIME_TO_START
    return [
        record.dagster_run
        for record in records
        if (record.start_time or record.create_timestamp.timestamp()) < latest.timestamp()
        and not is_locked(project.settings.data_dir / RUNS / record.dagster_run.run_id)
    ]


def _forget_ended(project: Project, instance: dg.DagsterInstance) -> None:
    """Remove the files of runs that have ended; one that is locked is of a run that has begun since."""
    unfinished = {run.run_id for run in unfinished_runs(project, instance)}
    for path in (project.settings.data_dir / RUNS).glob("*"):
        if path.name not in unfinished and not is_locked(path):
            path.unlink(missing_ok=True)
