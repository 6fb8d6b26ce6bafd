"""The marts, their checks and the published file, made by the run that fetches last or one of their own."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from assets.metadata import OWNERS, ROW_COUNT, freshness_policy, markdown_table
from assets.project import Project
from assets.report_checks import check_keys, report_check_results
from assets.resources import WAREHOUSE, store_of
from assets.runs.run_results import event_files_open
from assets.runs.under_way import unfinished_runs
from pipelines.diagnosis.health import note_daemon, observed
from pipelines.planning.plan import planned_now
from pipelines.sync.causes import causes, lines
from pipelines.upkeep.finish import Finished, finish
from pipelines.upkeep.report_page import ReportPage, refresh_operators_page
from pipelines.words import count, counted, size
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Condition, Kind
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.status import Coverage, coverage, overview, unwritable
from warehouse.marts.build import MartError
from warehouse.publishing.publish import Unpublished, loaded_since_publication
from warehouse.store.database import Store

PUBLISH = "publish"
SECONDS_BETWEEN_LOOKS = 5
AT_LEAST_EVERY = timedelta(hours=1)
"""So long fetching may go on without a new published file."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
"""Between the first two runs that could not write the file of a load, and at most between any two of them."""
MOST_TRIES = 20
LOAD = "brokerbi/load"
"""Run tag: the newest load that a run was requested to publish."""
ROWS_BY_REPORT = "rows_by_report"
MOST_LINES = 100


def publishing_sensor(project: Project) -> dg.SensorDefinition:
    """Requests a publication of what no fetching run has published; on by default.

    That is what a sync of the command line has loaded, or a run that was cancelled or killed, or that found a
    reason not to publish: the run it requests is red then. Where checks speak against a load, it requests one
    run for it; where the file could not be written, another one as soon as it can. As it ticks most often,
    it also notes that Dagster's daemon lives.
    """

    @dg.sensor(
        name="publishing",
        job_name=PUBLISH,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Publishes what was loaded and not published by the run that fetched last, as soon as "
        "nothing is being fetched any more, and every hour while fetching goes on for longer.",
    )
    def publishing(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        note_daemon(project.settings.data_dir)
        jobs = [run.job_name for run in unfinished_runs(project, context.instance)]
        if PUBLISH in jobs:
            return dg.SkipReason("A publication is under way.")
        try:
            loaded = loaded_since_publication(project.store_for_a_look)
        except WarehouseError as error:
            return dg.SkipReason(str(error))
        if loaded is None:
            return dg.SkipReason("Nothing was loaded since the last publication.")
        recently = project.clock.utc_now() - loaded.waiting_since_utc < AT_LEAST_EVERY
        if jobs and recently:
            return dg.SkipReason(f"{counted(len(jobs), 'run')} still fetching.")
        load = str(loaded.load_number)
        of_load = project.runs(job_name=PUBLISH, tags={LOAD: load})
        tries = context.instance.get_run_records(of_load, limit=MOST_TRIES)
        if tries:
            since = project.run_context.clock.utc_now() - tries[0].update_timestamp
            if why := reason_to_wait(loaded, len(tries), since, unwritable(project.settings.data_dir)):
                return dg.SkipReason(why)
        again = f", run {len(tries) + 1}" if tries else ""
        return dg.RunRequest(run_key=f"load {load}{again}", tags={LOAD: load})

    return publishing


def reason_to_wait(loaded: Unpublished, tries: int, since_last: timedelta, closed: Sequence[Path]) -> str:
    """Why no other run is requested yet for a load that `tries` runs did not publish; empty when one is.

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
    """The marts, their checks and the published file; the old file stays when an error check fails.

    It runs apart from the reports: a customer that fails must not keep the others' rows from analysts.
    """

    @dg.multi_asset(
        name="marts_and_file",
        specs=[*mart_specs(project, files), file_spec(project, files)],
        check_specs=check_specs(project, files),
        required_resource_keys={WAREHOUSE},
    )
    def publish(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        # Dagster may have lost partitions that were logged during a submission: let it count them anew.
        context.instance.wipe_asset_cached_status([project.key(one.name) for one in project.monthly_reports])
        try:
            finished = finish(project.settings, project.clock)
        except (MartError, WarehouseError) as error:
            raise dg.Failure(str(error)) from error
        yield from _results(project, files, context, finished)

    return publish


def _results(
    project: Project, files: SqlFiles, context: dg.AssetExecutionContext, finished: Finished
) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
    """Results of all marts, their checks and the file; raises dg.Failure when that was not published."""
    yield from mart_results(project, files, store_of(context), finished.marts)
    yield from (check_result(project, files, one) for one in finished.checks)
    yield _publication(project, context, finished)


def publish_after_fetching(
    project: Project, files: SqlFiles, context: dg.AssetExecutionContext, later: Sequence[str]
) -> None:
    """Publish in a run that has fetched, if nothing else is being fetched; draw a page if nothing was loaded.

    The file is there some twenty seconds earlier than by a run of its own. What speaks against publishing is
    left to such a run, which the sensor requests and which then fails. `later` are the steps that fetch after
    this one in runs that have them. Marts selected in the same run are skipped by Dagster, as reports have no
    outputs, so they are made here as well.
    """
    if not project.publishes_after_fetching or any(context.job_def.has_node_named(name) for name in later):
        return
    if any(run.run_id != context.run.run_id for run in unfinished_runs(project, context.instance)):
        return
    try:
        if loaded_since_publication(store_of(context)) is None:
            draw_operators_page(project, context)
            return
        context.log.info("Nothing else is being fetched: building the marts, checking and publishing.")
        finished = finish(project.settings, project.clock)
        if not finished.publication.published:
            context.log.warning(f"The job `{PUBLISH}` follows and says why the file stays as it was.")
            return
        of_reports = report_check_results(store_of(context), check_keys(project))
        results = [*_results(project, files, context, finished), *of_reports]
        with event_files_open(context):
            _log_results(context, results)
    except (MartError, WarehouseError) as error:
        context.log.warning(f"Not published by this run; the job `{PUBLISH}` follows. {error}")


def draw_operators_page(project: Project, context: dg.AssetExecutionContext) -> None:
    """Draw the operators' page as of now; no run fails of it."""
    if why := refresh_operators_page(project.settings, project.clock):
        context.log.warning(why)


def _log_results(
    context: dg.AssetExecutionContext, results: Iterable[dg.MaterializeResult[Any] | dg.AssetCheckResult]
) -> None:
    """Log results of assets and checks that the run did not plan."""
    for one in results:
        key = one.asset_key
        if key is None:
            continue
        if isinstance(one, dg.AssetCheckResult):
            event = dg.AssetCheckEvaluation(
                asset_key=key,
                check_name=one.check_name or "",
                passed=one.passed,
                metadata=one.metadata,
                severity=one.severity,
                description=one.description,
            )
            context.log_event(event)
        else:
            context.log_event(dg.AssetMaterialization(asset_key=key, metadata=dict(one.metadata or {})))


def file_spec(project: Project, files: SqlFiles) -> dg.AssetSpec:
    """The file that analysts open."""
    path = (project.settings.data_dir / "warehouse.duckdb").resolve()
    reports = [report_dep(project, report) for report in project.reports]
    return dg.AssetSpec(
        key=project.key(FILE),
        deps=[*reports, *(mart_key(project, query.name) for query in files.marts.values())],
        description="The file analysts open, replaced as a whole: open it at any time, nobody is blocked.\n\n"
        f"    duckdb -readonly {path}\n\n"
        "When a check of severity error fails the file of before stays, and this asset says why.",
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
    """The result of the file; raises dg.Failure when it was not published."""
    conditions = _conditions(project, finished)
    metadata = {
        "conditions": dg.MetadataValue.md(_conditions_table(conditions) or "All is well."),
        **_state_metadata(project.store, _rows_published_before(project, context.instance)),
    }
    publication = finished.publication
    if not publication.published:
        reasons = "\n".join(f"- {reason}" for reason in publication.reasons)
        said = lines(one for one in conditions if one.kind == Kind.UNPUBLISHED) or [publication.why]
        raise dg.Failure(
            "\n".join([*said, "The file of before stays."]),
            metadata={**metadata, "reasons": dg.MetadataValue.md(reasons)},
        )
    if finished.ping:
        context.log.warning(finished.ping)
    context.log.info(f"Published {publication.path}, {size(publication.bytes or 0)}.")
    return dg.MaterializeResult(
        asset_key=project.key(FILE),
        metadata={**_file_metadata(finished, project.settings.published_url), **metadata},
    )


def _file_metadata(finished: Finished, published_url: str) -> dict[str, Any]:
    """Where the file and the page are, and what the checks say; links where the settings name an address."""

    def place(path: Path) -> dg.MetadataValue[Any]:
        if published_url:
            return dg.MetadataValue.url(f"{published_url}/{path.name}")
        return dg.MetadataValue.path(str(path))

    page = finished.page
    if page is None or isinstance(page, str):  # a sentence that says why there is none
        page_place: dg.MetadataValue[Any] = dg.MetadataValue.text(page or "There is none.")
    else:
        page_place = place(page.path)
    warnings = [one.finding for one in finished.checks if not one.passed and not one.blocks]
    metadata: dict[str, Any] = {
        "page": page_place,
        "file": place(finished.publication.path),
        "bytes": finished.publication.bytes or 0,
        "checks_passed": sum(one.passed for one in finished.checks),
        "checks_warning": len(warnings),
    }
    if warnings:
        metadata["warnings"] = dg.MetadataValue.md("\n".join(f"- {one}" for one in warnings))
    sinks = {"export": finished.export, "lake": finished.lake}
    return {**metadata, **{name: why for name, why in sinks.items() if why and isinstance(why, str)}}


def _conditions(project: Project, finished: Finished) -> Sequence[Condition]:
    """What is not as it should be; the pages that were drawn know what a sync would ask for."""
    now, store = project.run_context.clock.utc_now(), project.store
    if isinstance(finished.page, ReportPage):
        planned = finished.page.planned
    else:
        planned = planned_now(project.settings, store, project.clock, project.run_context.catalogue)
    return observed(overview(store), project.settings, now, planned=planned).conditions


def _conditions_table(conditions: Iterable[Condition]) -> str:
    """What is not as it should be as a markdown table, errors first; empty without any."""
    rows = [
        (one.first.severity, one.first.kind, one.whom, one.first.error, one.first.remedy)
        for one in causes(conditions)
    ]
    return markdown_table(("how bad", "what", "of", "found", "what to do"), rows[:MOST_LINES])


def _state_metadata(store: Store, rows_before: Mapping[str, int]) -> dict[str, Any]:
    """What is held and missing, and what changed since the last publication."""
    rows: Counter[str] = Counter()
    for (report, _), months in ledger_of(store).held.items():
        rows[report] += sum(month.rows for month in months.values())
    covered = coverage(store)
    return {
        "coverage": dg.MetadataValue.md(coverage_table(covered)),
        "changed": dg.MetadataValue.md(changes(rows_before, rows)),
        "months_held": sum(one.held for one in covered),
        "months_missing": sum(one.missing for one in covered),
        ROW_COUNT: sum(rows.values()),
        ROWS_BY_REPORT: dg.MetadataValue.json(dict(sorted(rows.items()))),
    }


def coverage_table(found: Sequence[Coverage]) -> str:
    """Reports by customers as a markdown table: months held of all months."""
    customers = sorted({one.customer for one in found})
    cells = {(one.report, one.customer): _coverage_cell(one) for one in found}
    reports = sorted({one.report for one in found})
    rows = [(report, *(cells.get((report, customer), "") for customer in customers)) for report in reports]
    return markdown_table(("report", *customers), rows, right=customers)


def _coverage_cell(one: Coverage) -> str:
    if one.state:
        return one.state
    held = f"**{one.held} of {one.held + one.missing}**" if one.missing else f"{one.held}"
    refused = f"{one.refused} refused" if one.refused else ""
    return ", ".join(filter(None, (held, refused)))


def changes(before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """How the row count of every report changed, as a markdown table or a sentence."""
    if not before:
        return "This is the first publication that is known here."
    rows = []
    for name in sorted({*before, *now}):
        old, new = before.get(name, 0), now.get(name, 0)
        if old != new:
            sign = "+" if new > old else ""
            rows.append((name, count(old), count(new), f"{sign}{count(new - old)}"))
    if not rows:
        return "No report has more or fewer rows than before; rows themselves may have changed."
    headings = ("report", "rows before", "rows now", "change")
    return markdown_table(headings, rows, right=headings[1:])


def _rows_published_before(project: Project, instance: dg.DagsterInstance) -> Mapping[str, int]:
    """The rows of every report when the file was last published; empty when that is unknown."""
    event = instance.get_latest_materialization_event(project.key(FILE))
    materialization = event.asset_materialization if event else None
    entry = materialization.metadata.get(ROWS_BY_REPORT) if materialization else None
    rows = entry.value if entry is not None else None
    return {str(name): int(found) for name, found in rows.items()} if isinstance(rows, dict) else {}
