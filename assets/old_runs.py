"""Old runs: what Dagster remembers of them is deleted once newer ones have done all of it again."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import dagster as dg

from assets.project import Project
from assets.runs import moment

DELETED_AFTER = timedelta(days=90)
MOST_AT_ONCE = 10
"""A sensor has a minute for each look."""
ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION


def old_runs_sensor(project: Project) -> dg.SensorDefinition:
    """Looks every hour for runs that are older than 90 days; its cursor is where the last look ended."""

    @dg.sensor(
        name="old_runs",
        minimum_interval_seconds=3600,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Deletes runs older than {DELETED_AFTER.days} days. A run that was the last to read a "
        "partition stays, so that the partition stays green.",
    )
    def old_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        instance, number = context.instance, 0
        before = project.run_context.clock.utc_now() - DELETED_AFTER
        after = moment(float(context.cursor or 0))
        filters = project.runs(statuses=ENDED, created_after=after, created_before=before)
        for record in instance.get_run_records(filters, limit=MOST_AT_ONCE, ascending=True):
            run_id = record.dagster_run.run_id
            if not _is_last_reader(instance, run_id):
                instance.delete_run(run_id)
                # Dagster empties a run's file of events and forgets its logs, but leaves both where they are
                for path in Path(instance.root_directory).glob(f"history/runs/{run_id}.db*"):
                    path.unlink(missing_ok=True)
                shutil.rmtree(Path(instance.storage_directory()) / run_id, ignore_errors=True)
                number += 1
            context.update_cursor(str(record.create_timestamp.timestamp()))
        return dg.SkipReason(f"{number} old runs were deleted.")

    return old_runs


def _is_last_reader(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether an asset or a partition was materialized by this run and by none since."""
    partitions: dict[dg.AssetKey, set[str | None]] = {}
    for record in instance.get_records_for_run(run_id, of_type=MATERIALIZATION).records:
        event = record.event_log_entry.dagster_event
        if event and event.asset_key:
            partitions.setdefault(event.asset_key, set()).add(event.partition)
    for key, names in partitions.items():
        latest = instance.get_latest_storage_id_by_partition(key, MATERIALIZATION, set(filter(None, names)))
        newest = dg.AssetRecordsFilter(key, storage_ids=list(latest.values()) or None)
        readers = instance.fetch_materializations(newest, limit=len(names)).records
        if run_id in {record.run_id for record in readers}:
            return True
    return False
