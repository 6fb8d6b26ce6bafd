"""The marts, their checks and the published file, made by the job `publish`, which one sensor launches."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections.abc import Iterator, Sequence
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
from assets.metadata import OWNERS, ROW_COUNT, freshness_policy, table
from assets.project import Project
from assets.runs import moment, show_alive, unfinished_runs
from assets.schedules import HIGH_PRIORITY, NIGHTLY
from pipelines.diagnosis.health import note_daemon, observed
from pipelines.planning.plan import planned_now
from pipelines.sync.causes import causes, lines
from pipelines.upkeep.finish import Finished, finish
from pipelines.upkeep.report_page import ReportPage
from pipelines.words import counted, size
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Condition, Kind
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.status import overview, unwritable
from warehouse.marts.build import MartError
from warehouse.publishing.publish import Unpublished, loaded_since_publication
from warehouse.store.lock import work_lock

PUBLISH = "publish"
SECONDS_BETWEEN_LOOKS = 5
AT_LEAST_EVERY = timedelta(hours=2)
"""How long analysts wait for a new file at most while runs follow each other."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
"""Before a publication that could not write its file is tried again: the first time, and at most."""
MOST_TRIES = 20
LOAD = "brokerbi/load"
"""Run tag: the newest load that a run was requested to publish."""
MOST_LINES = 100


def publishing_sensor(project: Project) -> dg.SensorDefinition:
    """Launches the job `publish`; nothing else launches it by itself.

    It does so if something was loaded and not published, and nothing waits or works, or a nightly run has
    ended since, or analysts have waited for two hours. If checks speak against a load, it launches one run
    for it; if the file could not be written, another one as soon as it can. It ticks most often, so it also
    notes that Dagster's daemon lives.
    """

    @dg.sensor(
        name="publishing",
        job_name=PUBLISH,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Publishes what was loaded: after the nightly run, once nothing is queued or under way, "
        "and at least every two hours.",
    )
    def publishing(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        note_daemon(project.settings.data_dir)
        runs = unfinished_runs(project, context.instance)
        if any(run.job_name == PUBLISH for run in runs):
            return dg.SkipReason("A publication is under way.")
        try:
            loaded = loaded_since_publication(project.store_for_a_look)
        except WarehouseError as error:
            return dg.SkipReason(str(error))
        if loaded is None:
            return dg.SkipReason("Nothing was loaded since the last publication.")
        if runs and not _is_urgent(project, context.instance, loaded):
            return dg.SkipReason(f"{counted(len(runs), 'run')} queued or under way.")
        load = str(loaded.load_number)
        of_load = project.runs(job_name=PUBLISH, tags={LOAD: load})
        tries = context.instance.get_run_records(of_load, limit=MOST_TRIES)
        if tries:
            since = project.run_context.clock.utc_now() - tries[0].update_timestamp
            if why := reason_to_wait(loaded, len(tries), since, unwritable(project.settings.data_dir)):
                return dg.SkipReason(why)
        again = f", run {len(tries) + 1}" if tries else ""
        return dg.RunRequest(run_key=f"load {load}{again}", tags={LOAD: load, **HIGH_PRIORITY})

    return publishing


def _is_urgent(project: Project, instance: dg.DagsterInstance, loaded: Unpublished) -> bool:
    """Whether analysts have waited for two hours, or the latest nightly run has ended unpublished."""
    waited = project.clock.utc_now() - loaded.waiting_since_utc
    nights = instance.get_run_records(project.runs(job_name=NIGHTLY), limit=1)
    ended = [project.as_of(moment(night.end_time)) for night in nights if night.end_time]
    return waited >= AT_LEAST_EVERY or any(end > loaded.waiting_since_utc for end in ended)


def reason_to_wait(loaded: Unpublished, tries: int, since_last: timedelta, closed: Sequence[Path]) -> str:
    """Why no other run is launched yet for a load that `tries` runs did not publish; empty if one is.

    `closed` is what cannot be written to.
    """
    if loaded.is_refused:
        return f"Load {loaded.load_number} was refused; launch `{PUBLISH}`, or wait for the next load."
    if closed:
        return f"{closed[0]} cannot be written; load {loaded.load_number} is published as soon as it can."
    wait = min(SHORTEST_WAIT * 2 ** (tries - 1), LONGEST_WAIT)
    if since_last < wait:
        return f"Load {loaded.load_number} could not be published; it is tried again after {wait}."
    return ""


def published_file(project: Project, files: SqlFiles) -> dg.AssetsDefinition:
    """The marts, their checks and the published file; the old file stays if an error check fails.

    It is a run apart from the reports: a customer that fails must not keep the others' rows from analysts.
    """

    @dg.multi_asset(
        name="marts_and_file",
        specs=[*mart_specs(project, files), file_spec(project, files)],
        check_specs=check_specs(project, files),
    )
    def publish(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        show_alive(project, context.run.run_id)
        # Dagster may have lost partitions that were logged during a submission: let it count them again.
        context.instance.wipe_asset_cached_status(
            [project.key(report.name) for report in project.monthly_reports]
        )
        data_dir, what = project.settings.data_dir, f"run {context.run.run_id[:8]} of {PUBLISH}"
        try:
            with work_lock(data_dir, what, on_wait=context.log.info, now=project.clock.utc_now):
                finished = finish(project.settings, project.clock)
        except (MartError, WarehouseError) as error:
            raise dg.Failure(str(error)) from None
        yield from mart_results(project, files, project.store, finished.marts)
        yield from (check_result(project, files, check) for check in finished.checks)
        yield _publication(project, context, finished)

    return publish


def file_spec(project: Project, files: SqlFiles) -> dg.AssetSpec:
    """The file that analysts open."""
    path = (project.settings.data_dir / "warehouse.duckdb").resolve()
    reports = [report_dep(project, report) for report in project.reports]
    return dg.AssetSpec(
        key=project.key(FILE),
        deps=[*reports, *(mart_key(project, query.name) for query in files.marts.values())],
        description="The file analysts open, replaced as a whole: open it at any time, nobody waits.\n\n"
        f"    duckdb -readonly {path}\n\n"
        "If a check of severity error fails, the earlier file stays, and this asset says why.",
        group_name="published",
        owners=list(OWNERS),
        kinds={"duckdb"},
        tags={"layer": "published"},
        metadata={"dagster/uri": path.as_uri(), "path": dg.MetadataValue.path(str(path))},
        freshness_policy=freshness_policy(),
    )


def _publication(
    project: Project, context: dg.AssetExecutionContext, finished: Finished
) -> dg.MaterializeResult[Any]:
    """The result of the file; raises dg.Failure if it was not published."""
    conditions = _conditions(project, finished)
    shown = _conditions_table(conditions)
    publication = finished.publication
    if not publication.published:
        said = lines(row for row in conditions if row.kind == Kind.UNPUBLISHED) or [publication.why]
        reasons = "\n".join(f"- {reason}" for reason in publication.reasons)
        raise dg.Failure(
            "\n".join([*said, "The earlier file stays."]),
            metadata={"conditions": shown, "reasons": dg.MetadataValue.md(reasons)},
        )
    if finished.ping:
        context.log.warning(finished.ping)
    context.log.info(f"Published {publication.path}, {size(publication.bytes or 0)}.")
    months = [month for months in ledger_of(project.store).held.values() for month in months.values()]
    return dg.MaterializeResult(
        asset_key=project.key(FILE),
        metadata={
            **_file_metadata(finished, project.settings.published_url),
            "conditions": shown,
            "months_loaded": len(months),
            ROW_COUNT: sum(month.rows for month in months),
        },
    )


def _file_metadata(finished: Finished, published_url: str) -> dict[str, Any]:
    """The places of the file and the page (links if the settings name an address), and the warnings."""

    def place(path: Path) -> dg.MetadataValue[Any]:
        if published_url:
            return dg.MetadataValue.url(f"{published_url}/{path.name}")
        return dg.MetadataValue.path(str(path))

    page = finished.page
    page_place = place(page.path) if isinstance(page, ReportPage) else dg.MetadataValue.text(page or "none")
    warnings = [check.finding for check in finished.checks if not check.passed and not check.blocks]
    metadata: dict[str, Any] = {
        "page": page_place,
        "file": place(finished.publication.path),
        "bytes": finished.publication.bytes or 0,
        "checks_passed": sum(check.passed for check in finished.checks),
        "checks_warning": len(warnings),
    }
    if warnings:
        metadata["warnings"] = dg.MetadataValue.md("\n".join(f"- {warning}" for warning in warnings))
    sinks = {"export": finished.export, "lake": finished.lake}
    return {**metadata, **{name: why for name, why in sinks.items() if why and isinstance(why, str)}}


def _conditions(project: Project, finished: Finished) -> Sequence[Condition]:
    """All conditions; the pages that were drawn know what a sync would request."""
    now, store = project.run_context.clock.utc_now(), project.store
    if isinstance(finished.page, ReportPage):
        planned = finished.page.planned
    else:
        planned = planned_now(project.settings, store, project.clock, project.run_context.catalogue)
    return observed(overview(store), project.settings, now, planned=planned).conditions


def _conditions_table(conditions: Sequence[Condition]) -> dg.TableMetadataValue:
    """The causes of all conditions, errors first."""
    rows = [
        (cause.first.severity, cause.first.kind, cause.whom, cause.first.error, cause.first.remedy)
        for cause in causes(conditions)
    ]
    return table(("severity", "kind", "whom", "found", "what to do"), rows[:MOST_LINES])
