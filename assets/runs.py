"""Runs of this code location: nightly, backfill, dead and old runs."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg

from assets.partitions import ReportPartition, parse_partition_key, partition_key
from assets.project import Project
from pipelines.words import counted
from warehouse.store.files import make_folder
from warehouse.store.lock import is_locked

NIGHTLY = "nightly"
HIGH_PRIORITY = {"dagster/priority": "10"}
NIGHT_TAG = "brokerbi/night"
"""Run tag: the day of a nightly run."""
BACKFILL = "dagster/backfill"
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
MAX_RUNS = 1000
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
UNFINISHED = tuple(status for status in dg.DagsterRunStatus if status not in ENDED)
MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION
DELETED_AFTER = timedelta(days=90)
MAX_EXAMINED = 10
"""A tick examines at most this many old runs, because a sensor must finish within a minute."""
RUNS = Path("work", "runs")
JOB_OF_SELECTED_ASSETS = "__ASSET_JOB"
"""Dagster's own name for the job of backfills and selected assets."""
TIME_TO_START = timedelta(minutes=1)
"""A run whose file in RUNS is not locked this long after its start counts as silent."""
DIED = (
    "The process of this run disappeared, as after a restart of the code server or a kill. Its loads stay. "
    "Dagster retries it once. If that fails as well, re-execute it from failure."
)

_LOCKED: dict[str, int] = {}
"""The descriptors of the files that this process has locked, by run id; open until the process ends."""


def nightly_schedule(project: Project) -> dg.ScheduleDefinition:
    """Launches the nightly run, which requests everything missing or due for all customers."""

    @dg.schedule(
        name=NIGHTLY,
        job_name=NIGHTLY,
        cron_schedule=project.settings.nightly,
        execution_timezone=project.settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Every night, in one run: all customers, everything that is missing or due.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        tick = context.scheduled_execution_time.astimezone(ZoneInfo(project.settings.timezone))
        tags = {**night_range(project), NIGHT_TAG: str(project.calendar.today), **HIGH_PRIORITY}
        return dg.RunRequest(run_key=f"night {tick:%Y-%m-%d %H:%M}", tags=tags)

    return nightly


def night_range(project: Project) -> dict[str, str]:
    """The tags that give a nightly run its partitions: the latest months of all active customers."""
    calendar = project.calendar
    first = max(calendar.start, calendar.this_month.plus(1 - calendar.due_months))
    customers = [customer.id for customer in project.settings.active_customers]
    return {
        RANGE_START: partition_key(customers[0], min(first, calendar.this_month)),
        RANGE_END: partition_key(customers[-1], calendar.this_month),
    }


def job_of(run: dg.DagsterRun) -> str:
    """The name of a run's job, or a description if Dagster named the job."""
    return "a backfill or selected assets" if run.job_name == JOB_OF_SELECTED_ASSETS else run.job_name


def to_datetime(seconds: float) -> datetime:
    """A Dagster timestamp as a datetime."""
    return datetime.fromtimestamp(seconds, UTC)


def unfinished_runs(project: Project, instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Every run that is queued or under way."""
    return instance.get_runs(project.runs_filter(statuses=list(UNFINISHED)), limit=MAX_RUNS)


def first_run(instance: dg.DagsterInstance, backfill: str) -> dg.RunRecord:
    """The first run of a backfill."""
    [record] = instance.get_run_records(dg.RunsFilter(tags={BACKFILL: backfill}), limit=1, ascending=True)
    return record


def partitions_of_backfill(
    project: Project, instance: dg.DagsterInstance, run: dg.DagsterRun
) -> list[ReportPartition]:
    """All monthly partitions of a backfill, if `run` is its first run or a retry of that run; otherwise none.

    Dagster splits a backfill by customer or by month, and submits the runs one by one. If it splits by month,
    the first run fetches all months in the fewest windows, and the other runs only record them.
    """
    if BACKFILL not in run.tags:
        return []
    first = first_run(instance, run.tags[BACKFILL]).dagster_run
    backfill = instance.get_backfill(run.tags[BACKFILL])
    data = backfill.asset_backfill_data if backfill else None
    if first.run_id not in (run.run_id, run.root_run_id) or data is None:
        return []
    reports = {project.key(report.name): report for report in project.monthly_reports}
    return [
        ReportPartition(reports[partition.asset_key], *parse_partition_key(partition.partition_key))
        for partition in data.target_subset.iterate_asset_partitions()
        if partition.asset_key in reports and partition.partition_key
    ]


def mark_alive(project: Project, run_id: str) -> None:
    """Lock the file of a run; the kernel unlocks it when the process ends for any reason.

    Every step calls this first. The file stays locked between two tries of a step.
    """
    if run_id in _LOCKED:
        return
    path = project.settings.data_dir / RUNS / run_id
    for folder in (path.parent.parent, path.parent):
        make_folder(folder)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # waits, because `is_locked` locks the file for an instant
    _LOCKED[run_id] = descriptor


def dead_runs_sensor(project: Project) -> dg.SensorDefinition:
    """Ends runs whose process has died, which Dagster would otherwise show as under way forever."""

    @dg.sensor(
        name="dead_runs",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Fails a run within two minutes of its process dying.",
    )
    def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        suspects = silent_runs(project, context.instance)
        dead = [run for run in suspects if run.run_id in (context.cursor or "").split()]
        for run in dead:
            if run.status is dg.DagsterRunStatus.CANCELING:
                context.instance.report_run_canceled(run, DIED)
            else:
                context.instance.report_run_failed(run, DIED)
        context.update_cursor(" ".join(run.run_id for run in suspects))
        _remove_files_of_ended_runs(project, context.instance)
        return dg.SkipReason(f"{counted(len(dead), 'run')} had died.")

    return dead_runs


def silent_runs(project: Project, instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    """Runs that started more than a minute ago and whose file no process has locked.

    A run that starts slowly is silent at first. So a run counts as dead only if it is silent at two
    successive ticks.
    """
    statuses = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
    records = instance.get_run_records(project.runs_filter(statuses=statuses), limit=MAX_RUNS)
    latest = project.run_context.clock.utc_now() - TIME_TO_START
    return [
        record.dagster_run
        for record in records
        if (record.start_time or record.create_timestamp.timestamp()) < latest.timestamp()
        and not is_locked(project.settings.data_dir / RUNS / record.dagster_run.run_id)
    ]


def _remove_files_of_ended_runs(project: Project, instance: dg.DagsterInstance) -> None:
    unfinished = {run.run_id for run in unfinished_runs(project, instance)}
    for path in (project.settings.data_dir / RUNS).glob("*"):
        # a run that began after `unfinished` was read has locked its file
        if path.name not in unfinished and not is_locked(path):
            path.unlink(missing_ok=True)


def old_runs_sensor(project: Project) -> dg.SensorDefinition:
    """Deletes old runs that no green partition needs.

    Its cursor is the time when the last examined run was created.
    """

    @dg.sensor(
        name="old_runs",
        minimum_interval_seconds=3600,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Deletes runs older than {DELETED_AFTER.days} days. The last run to materialize a "
        "partition stays, so that the partition stays green.",
    )
    def old_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        instance = context.instance
        before = project.run_context.clock.utc_now() - DELETED_AFTER
        after = to_datetime(float(context.cursor or 0))
        filters = project.runs_filter(statuses=ENDED, created_after=after, created_before=before)
        records = instance.get_run_records(filters, limit=MAX_EXAMINED, ascending=True)
        for record in records:
            run_id = record.dagster_run.run_id
            if not _is_last_materializer(instance, run_id):
                instance.delete_run(run_id)
                # Dagster empties a run's event file and forgets its logs, but deletes neither
                for path in Path(instance.root_directory).glob(f"history/runs/{run_id}.db*"):
                    path.unlink(missing_ok=True)
                shutil.rmtree(Path(instance.storage_directory()) / run_id, ignore_errors=True)
            context.update_cursor(str(record.create_timestamp.timestamp()))
        return dg.SkipReason(f"{counted(len(records), 'old run')} examined.")

    return old_runs


def _is_last_materializer(instance: dg.DagsterInstance, run_id: str) -> bool:
    partitions: dict[dg.AssetKey, set[str | None]] = {}
    for record in instance.get_records_for_run(run_id, of_type=MATERIALIZATION).records:
        event = record.event_log_entry.dagster_event
        if event and event.asset_key:
            partitions.setdefault(event.asset_key, set()).add(event.partition)
    for key, names in partitions.items():
        latest = instance.get_latest_storage_id_by_partition(key, MATERIALIZATION, set(filter(None, names)))
        newest = dg.AssetRecordsFilter(key, storage_ids=list(latest.values()) or None)
        materializations = instance.fetch_materializations(newest, limit=len(names)).records
        if run_id in {record.run_id for record in materializations}:
            return True
    return False
