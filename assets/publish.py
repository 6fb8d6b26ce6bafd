"""Publication: the job `publish` builds marts, runs checks and publishes; one sensor launches it."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from assets.marts import (
    FILE,
    SqlFiles,
    check_result,
    check_specs,
    mart_key,
    mart_results,
    mart_specs,
    report_dep,
)
from assets.metadata import freshness_policy, table
from assets.project import Project
from assets.results import CAUSES
from assets.runs import HIGH_PRIORITY, NIGHTLY, mark_alive, to_datetime, unfinished_runs
from pipelines.causes import causes
from pipelines.diagnosis.health import REPORT_PAGE, observe, record_daemon
from pipelines.planning.plan import plan_full_sync
from pipelines.upkeep.finish import Finished, finish
from pipelines.words import size
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Kind
from warehouse.ledger.status import overview
from warehouse.publishing.publish import Unpublished, loaded_since_publication
from warehouse.store.database import Store
from warehouse.store.lock import WORK, is_locked, work_lock

PUBLISH = "publish"
LOCK_SECONDS = 2.0
"""How long a tick of the sensor waits if another process has the working file open."""
MAX_WAIT = timedelta(hours=2)
SECONDS_BETWEEN_TRIES = 30 * 60
LATEST_BACKFILLS = 10


def publishing_sensor(project: Project) -> dg.SensorDefinition:
    """Launches the job `publish` if the newest load is neither published nor blocked by a check or mart.

    The sensor waits while a command is running. While a run or backfill is queued or under way, it waits too,
    until a nightly run has ended since the last attempt to publish, or that attempt is two hours old. If the
    job fails, but no check or mart blocks the load, it is launched again every half hour.
    """

    @dg.sensor(
        name="publishing",
        job_name=PUBLISH,
        minimum_interval_seconds=5,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Publishes what was loaded: when the nightly run ends, when nothing is queued or under "
        "way, or two hours after the last attempt.",
    )
    def publishing(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        data_dir = project.settings.data_dir
        record_daemon(data_dir)
        runs = unfinished_runs(project, context.instance)
        if any(run.job_name == PUBLISH for run in runs):
            return dg.SkipReason("A publication is under way.")
        if not runs and is_locked(data_dir / WORK):
            return dg.SkipReason("A command is running, which may publish.")
        try:
            load = loaded_since_publication(Store(data_dir, lock_seconds=LOCK_SECONDS))
        except WarehouseError as error:
            return dg.SkipReason(str(error))
        if load is None:
            return dg.SkipReason("Nothing was loaded since the last publication.")
        if load.is_blocked:
            again = f"launch `{PUBLISH}` to try again, or wait for a new load."
            return dg.SkipReason(f"A check or mart blocks this load; {again}")
        is_busy = bool(runs) or any(
            backfill.status.name == "REQUESTED"
            for backfill in context.instance.get_backfills(limit=LATEST_BACKFILLS)
        )
        if is_busy and not _is_urgent(project, context.instance, load):
            return dg.SkipReason("A run or a backfill is queued or under way.")
        half_hour = int(project.run_context.clock.utc_now().timestamp() // SECONDS_BETWEEN_TRIES)
        return dg.RunRequest(run_key=f"load {load.load_number}, {half_hour}", tags=HIGH_PRIORITY)

    return publishing


def _is_urgent(project: Project, instance: dg.DagsterInstance, load: Unpublished) -> bool:
    waited = project.clock.utc_now() - load.waiting_since_utc
    nights = instance.get_run_records(project.runs_filter(job_name=NIGHTLY), limit=1)
    ended = [project.sync_time(to_datetime(night.end_time)) for night in nights if night.end_time]
    return waited >= MAX_WAIT or any(end > load.waiting_since_utc for end in ended)


def published_file(project: Project, files: SqlFiles) -> dg.AssetsDefinition:
    """The marts, their checks and the published file; the old file stays if a mart or blocking check fails.

    The marts are not in the job of the reports: there, they would not be built if one customer failed.
    """

    @dg.multi_asset(
        name="marts_and_file",
        specs=[*mart_specs(project, files), file_spec(project, files)],
        check_specs=check_specs(project, files),
    )
    def publish(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        mark_alive(project, context.run.run_id)
        # Dagster's cache may lack partitions that were recorded while runs were submitted, so it is cleared.
        context.instance.wipe_asset_cached_status(
            [project.key(report.name) for report in project.monthly_reports]
        )
        name = f"{PUBLISH}, run {context.run.run_id[:8]}"
        data_dir, on_wait, now = project.settings.data_dir, context.log.info, project.clock.utc_now
        try:
            with work_lock(data_dir, name, on_wait=on_wait, now=now):
                finished = finish(project.settings, project.clock)
            yield from mart_results(project, files, finished.marts)
            yield from (check_result(project, files, check) for check in finished.checks)
            yield _publication(project, context, finished)
            if finished.failed_steps:
                raise dg.Failure(" ".join(["The file is published.", *finished.failed_steps]))
        except WarehouseError as error:
            raise dg.Failure(str(error)) from None

    return publish


def file_spec(project: Project, files: SqlFiles) -> dg.AssetSpec:
    """The asset of the file that analysts open."""
    path = (project.settings.data_dir / "warehouse.duckdb").resolve()
    reports = [report_dep(project, report) for report in project.reports]
    return dg.AssetSpec(
        key=project.key(FILE),
        deps=[*reports, *(mart_key(project, query.name) for query in files.marts)],
        description="The published file, replaced as a whole: open it at any time.\n\n"
        f"    duckdb -readonly {path}\n\n"
        "If a mart or a check that blocks it fails, the earlier file stays, and this asset says why.",
        group_name="published",
        kinds={"duckdb"},
        metadata={"dagster/uri": path.as_uri()},
        freshness_policy=freshness_policy(),
    )


def _publication(
    project: Project, context: dg.AssetExecutionContext, finished: Finished
) -> dg.MaterializeResult[Any]:
    planned = plan_full_sync(project.settings, project.store, project.clock)
    view = observe(overview(project.store), project.settings, project.clock.utc_now(), planned=planned)
    all_causes = causes(view.conditions)
    rows = [
        (cause.first.severity, cause.first.kind, cause.affected, cause.error, cause.remedy)
        for cause in all_causes
    ]
    headings = ("severity", "kind", "affected", "issue", "what to do")
    conditions = {"conditions": table(headings, rows)} if rows else {}
    publication = finished.publication
    if not publication.has_new_file:
        lines = [cause.line for cause in all_causes if cause.first.kind == Kind.UNPUBLISHED]
        raise dg.Failure(
            "\n".join([*(lines or publication.reasons), "The earlier file stays."]),
            metadata=conditions | ({CAUSES: len(lines)} if lines else {}),
        )
    for warning in finished.warnings:
        context.log.warning(warning)
    context.log.info(f"Published {publication.path}, {size(publication.bytes or 0)}.")
    page = publication.path.with_name(REPORT_PAGE)
    return dg.MaterializeResult(
        asset_key=project.key(FILE),
        metadata={
            "page": _location(project, page) if page.is_file() else "none",
            "file": _location(project, publication.path),
            "bytes": publication.bytes or 0,
            **conditions,
        },
    )


def _location(project: Project, path: Path) -> dg.MetadataValue[Any]:
    if url := project.settings.published_url:
        return dg.MetadataValue.url(f"{url}/{path.name}")
    return dg.MetadataValue.path(str(path))
