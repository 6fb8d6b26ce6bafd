"""Old runs: what Dagster remembers of them is deleted once newer ones have done all of it again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from assets.project import Project

KEPT = timedelta(days=90)
BETWEEN_LOOKS = timedelta(hours=1)
MOST_AT_ONCE = 10
"""A sensor has a minute for each look."""
ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION


def old_runs_sensor(project: Project) -> dg.SensorDefinition:
    """Looks every hour for runs that are older than 90 days; its cursor is where the last look ended."""

    @dg.sensor(
        name="old_runs",
        minimum_interval_seconds=int(BETWEEN_LOOKS.total_seconds()),
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Deletes runs older than {KEPT.days} days. A run that was the last to read a partition "
        "stays, so that the partition stays green.",
    )
    def old_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        after = datetime.fromtimestamp(float(context.cursor or 0), UTC)
        before = project.run_context.clock.utc_now() - KEPT
        looked_at = list(delete_old_runs(project, context.instance, after, before))
        if looked_at:
            context.update_cursor(str(max(created.timestamp() for created, _ in looked_at)))
        return dg.SkipReason(f"{sum(gone for _, gone in looked_at)} of {len(looked_at)} old runs deleted.")

    return old_runs


def delete_old_runs(
    project: Project, instance: dg.DagsterInstance, after: datetime, before: datetime
) -> Iterator[tuple[datetime, bool]]:
    """Delete some runs created in this time, oldest first; when each was created, and whether it is gone."""
    wanted = project.runs(statuses=ENDED, created_after=after, created_before=before)
    for record in instance.get_run_records(wanted, limit=MOST_AT_ONCE, ascending=True):
        run_id = record.dagster_run.run_id
        if gone := not _is_last_reader(instance, run_id):
            instance.delete_run(run_id)
            _remove_files(instance, run_id)
        yield record.create_timestamp, gone


def _is_last_reader(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether an asset or a partition was materialized by this run and by none since."""
    partitions: dict[dg.AssetKey, set[str]] = {}
    for record in instance.get_records_for_run(run_id, of_type=MATERIALIZATION).records:
        event = record.event_log_entry.dagster_event
        if event and event.asset_key:
            partitions.setdefault(event.asset_key, set()).update({event.partition} if event.partition else ())
    for key, of_asset in partitions.items():
        if of_asset:
            latest = instance.get_latest_storage_id_by_partition(key, MATERIALIZATION, of_asset)
            wanted = dg.AssetRecordsFilter(key, storage_ids=list(latest.values()))
            records = instance.fetch_materializations(wanted, limit=len(latest)).records
            readers = {one.run_id for one in records}
        else:
            newest = instance.get_latest_materialization_event(key)
            readers = {newest.run_id} if newest else set()
        if run_id in readers:
            return True
    return False


def _remove_files(instance: dg.DagsterInstance, run_id: str) -> None:
    """Dagster empties a run's file of events and forgets its logs, but leaves both where they are."""
    for path in Path(instance.root_directory).glob(f"history/runs/{run_id}.db*"):
        path.unlink(missing_ok=True)
    shutil.rmtree(Path(instance.storage_directory()) / run_id, ignore_errors=True)
