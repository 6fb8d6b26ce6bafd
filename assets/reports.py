"""Reports as assets: one asset for each enabled report; a run fetches the reports in up to three steps."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import dagster as dg

from assets.metadata import COLUMN_SCHEMA, column_schema, documented_columns, freshness_policy
from assets.partitions import ReportPartition, customer_months, customers_in_order, parse_partition_key
from assets.project import Project
from assets.results import (
    Outcome,
    PartitionResult,
    PartitionState,
    failure,
    is_fresh,
    materialization,
    snapshot_events,
    turn_red,
    with_earlier_months,
)
from assets.runs import (
    BACKFILL,
    MAX_RUNS,
    NIGHT_TAG,
    first_run,
    job_of,
    mark_alive,
    partitions_of_backfill,
    unfinished_runs,
)
from pipelines.catalogue.model import Report
from pipelines.causes import TRANSIENT, matching_conditions
from pipelines.months import Month
from pipelines.planning.selection import Pair, Selection
from pipelines.settings.messages import SettingsError
from pipelines.shapes.shapes_file import ShapesError
from pipelines.sync.guard import COLUMN_EMPTIED, ROWS_LOST
from pipelines.sync.progress import Progress
from pipelines.sync.summary import FAILING
from pipelines.sync.sync import sync
from pipelines.upkeep.report_page import draw_pages
from pipelines.upkeep.shapes import prepare_shapes
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import FORBIDDEN, Condition
from warehouse.ledger.ledger import ledger_of, read_ledger
from warehouse.ledger.status import read_conditions
from warehouse.ledger.window_result import WindowResult, WindowStatus, results_by_pair
from warehouse.store.lock import COMPLETE, work_lock

ACCEPT_SHRINK = "brokerbi/accept_shrink"
"""Run tag; `yes` loads answers that the guard would hold back."""
RETRY_NUMBER = "dagster/retry_number"
NOT_LOADED = FAILING | {WindowStatus.NO_ACCESS}
REMEDY = "Re-execute this run from failure: it requests only what is still missing."
NOTHING_SELECTED = (
    "Nothing was requested: the run names no customers or months. Select partitions; for everything due, "
    "launch the nightly run (Automation, `nightly`, Preview tick result)."
)


def report_steps(project: Project, customers: Sequence[str]) -> list[dg.AssetsDefinition]:
    """The steps that fetch reports, in order: snapshots, reports with months, and reports tracked by id.

    Each sync covers all reports of a step. A denied login or an outage is then met once, not once per report.
    """
    without_months = [report for report in project.reports if not report.has_months]
    steps = {
        "snapshot_reports": [report for report in without_months if not report.is_tracked_by_id],
        "monthly_reports": project.monthly_reports,
        "reports_by_id": [report for report in without_months if report.is_tracked_by_id],
    }
    return [
        report_step(project, name, -position, [report_spec(project, report, customers) for report in reports])
        for position, (name, reports) in enumerate(steps.items())
        if reports
    ]


def report_step(
    project: Project, name: str, priority: int, specs: Sequence[dg.AssetSpec]
) -> dg.AssetsDefinition:
    """A step that fetches the selected customers and months, or all customers for reports without months."""

    @dg.multi_asset(
        name=name,
        specs=specs,
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,
        op_tags={"dagster/priority": str(priority)},
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        selected: list[tuple[str, Month | None]]
        if all(spec.partitions_def is None for spec in specs):
            selected = [(customer, None) for customer in customers_in_order(project.settings)]
        elif context.has_partition_key or context.has_partition_key_range:
            selected = [parse_partition_key(key) for key in context.partition_keys]
        else:
            raise dg.Failure(NOTHING_SELECTED)
        keys = context.selected_asset_keys
        reports = [report for report in project.reports if project.key(report.name) in keys]
        partitions = [ReportPartition(report, *pair) for report in reports for pair in selected]
        yield from fetch_partitions(project, context, partitions)

    return fetch


def report_spec(project: Project, report: Report, customers: Sequence[str]) -> dg.AssetSpec:
    """A report as an asset."""
    metadata: dict[str, Any] = {"dagster/table_name": f"bi.{report.tables[0].name}"}
    if columns := documented_columns(report.tables[0]):
        metadata[COLUMN_SCHEMA] = column_schema(columns)
    tables = [f"- `bi.{table.name}`: {table.description}" for table in report.tables]
    return dg.AssetSpec(
        key=project.key(report.name),
        description="\n".join([report.description, "", *tables]),
        group_name=report.subject,
        kinds={"polars", "duckdb"},
        metadata=metadata,
        partitions_def=customer_months(project.settings, customers) if report.has_months else None,
        freshness_policy=None if report.is_tracked_by_id else freshness_policy(),
        skippable=True,  # a partition that was not fetched stays as it is
    )


def fetch_partitions(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> Iterator[dg.MaterializeResult[Any]]:
    """Sync the partitions, and turn finished ones green.

    Raises dg.RetryRequested or dg.Failure if a partition failed or a sync stopped. Raises dg.Failure for
    unusable settings, shapes or files. A cancelled run keeps the partitions that it has recorded.
    """
    mark_alive(project, context.run.run_id)
    began_utc = _work_began(project, context)
    since = began_utc or project.clock.utc_now()
    active = {customer.id for customer in project.settings.active_customers}
    results: list[PartitionResult] = []
    unrequested: list[ReportPartition] = []
    stopped = ""
    try:
        if off := sorted({partition.customer for partition in partitions} - active):
            context.log.info(f"Nothing was requested of {', '.join(off)}: switched off in the settings.")
        backfill_partitions = partitions_of_backfill(project, context.instance, context.run)
        for batch in _batches(context.run, partitions):
            windows: list[WindowResult] = []
            customer = batch[0].customer
            if customer in active and not stopped:
                in_backfill = [item for item in backfill_partitions if item.customer == customer]
                windows, stopped = _sync(project, context, [*batch, *in_backfill], began_utc)
            if NIGHT_TAG in context.run.tags and batch[0].month:
                # months that `brokerbi sync` fetched in the last 24 hours turn green too
                fetched = ledger_of(project.store).months_fetched_since(since - timedelta(days=1))
                batch = with_earlier_months(batch, windows, fetched)
            if windows:
                results += _record(project, context, batch, windows, stopped, since)[0]
            else:
                unrequested += batch
        unrequested_results, conditions = _record(project, context, unrequested, [], stopped, since)
        results += unrequested_results
    except (SettingsError, ShapesError, WarehouseError) as error:
        recorded = {(*result.partition.pair, result.partition.key) for result in results}
        turn_red(project, context, [item for item in partitions if (*item.pair, item.key) not in recorded])
        raise dg.Failure(str(error)) from None
    finally:
        if warning := draw_pages(project.settings, project.clock, only_operators=True):
            context.log.warning(warning)
    for event in snapshot_events(project, results):
        if isinstance(event, dg.AssetMaterialization):
            # if the run also builds marts, they wait for an output of this step; a logged event is not one
            yield dg.MaterializeResult(asset_key=event.asset_key, metadata=event.metadata)
        else:
            context.log_event(event)
    _raise_if_failed(project, context, results, stopped, conditions)


def _raise_if_failed(
    project: Project,
    context: dg.AssetExecutionContext,
    results: Sequence[PartitionResult],
    stopped: str,
    conditions: Sequence[Condition],
) -> None:
    partitions = [result.partition for result in results if result.state is PartitionState.FAILED]
    keys = {partition.ledger_keys(project.calendar)[0] for partition in partitions}
    conditions = matching_conditions(keys, conditions)
    causes = {condition.cause for condition in conditions}
    is_retried = not causes.isdisjoint(TRANSIENT) and not _is_automatic_retry(context)
    retry = f"The step is retried automatically in {project.retry_seconds:g} seconds."
    is_lasting = causes and causes <= {FORBIDDEN, ROWS_LOST, COLUMN_EMPTIED}  # a repetition changes nothing
    note = retry if is_retried else "" if is_lasting else REMEDY
    if failed := failure(results, stopped, conditions, note):
        if is_retried:
            context.log.warning(failed.description or "")
            # no RetryPolicy: it would also retry a step that a restart of the code server interrupted
            raise dg.RetryRequested(max_retries=1, seconds_to_wait=project.retry_seconds) from None
        turn_red(project, context, partitions)
        raise failed


def _batches(run: dg.DagsterRun, partitions: Sequence[ReportPartition]) -> list[Sequence[ReportPartition]]:
    """The partitions of each sync of this step: one sync in the nightly run, otherwise one per customer."""
    if NIGHT_TAG in run.tags:
        return [partitions]
    batches: dict[str, list[ReportPartition]] = {}
    for partition in partitions:
        batches.setdefault(partition.customer, []).append(partition)
    return list(batches.values())


def _selection(
    project: Project,
    context: dg.AssetExecutionContext,
    batch: Sequence[ReportPartition],
    fresh_since: datetime | None,
) -> Selection | None:
    """The selection of a sync: in the nightly run everything due, in any other run this batch.

    Months fetched since `fresh_since` are left out. A run of a backfill and an automatic retry also leave out
    reports denied since then. Returns None if nothing of the batch remains.
    """
    accept_shrink = context.run.tags.get(ACCEPT_SHRINK) == "yes"
    if NIGHT_TAG in context.run.tags:
        reports = tuple(dict.fromkeys(partition.report.name for partition in batch))
        return Selection(reports=reports, guided=True, fresh_since=fresh_since, accept_shrink=accept_shrink)
    ledger, since = ledger_of(project.store), fresh_since or project.clock.utc_now()
    is_first_try = BACKFILL in context.run.tags and not context.run.root_run_id
    is_automatic = is_first_try or _is_automatic_retry(context)
    denied = {pair for pair in ledger.denied if ledger.denied[pair] >= since and is_automatic}
    exact: dict[Pair, list[Month]] = {}
    for partition in batch:
        for *_, first_day in partition.ledger_keys(project.calendar):
            if partition.pair not in denied and not is_fresh(ledger.month(*partition.pair, first_day), since):
                exact.setdefault(partition.pair, []).extend([Month.of(first_day)] if first_day else [])
    months = {pair: tuple(sorted(set(months))) for pair, months in exact.items()}
    return Selection(refresh=True, exact=months, accept_shrink=accept_shrink) if exact else None


def _sync(
    project: Project,
    context: dg.AssetExecutionContext,
    batch: Sequence[ReportPartition],
    began_utc: datetime | None,
) -> tuple[list[WindowResult], str]:
    """Sync a batch under the work lock; returns the windows, and the reason if the sync stopped early.

    Months fetched since `began_utc` are skipped. If `began_utc` is None and this run had to wait for another
    command, months fetched since that command began are skipped.
    """
    settings, clock, log = project.settings, project.clock, context.log
    windows, progress, reported = list[WindowResult](), Progress(), set[str]()

    def on_window(window: WindowResult) -> None:
        windows.append(window)
        if progress.add(window) and window.status in NOT_LOADED and window.reason not in reported:
            reported.add(window.reason)
            label = f"{window.report} of {window.customer} ({window.when}) {window.status}"
            log.warning(f"{label}: {window.reason}")
        if line := progress.line():
            log.info(line)

    whom = "" if NIGHT_TAG in context.run.tags else f" for {batch[0].customer}"
    with work_lock(
        settings.data_dir,
        f"run {context.run.run_id[:8]}{whom} of {job_of(context.run)}",
        on_wait=log.info,
        task=f"{context.run.job_name}{whom}",
        remedy="If Dagster does not retry it within two minutes, re-execute it from failure.",
        completed_by=COMPLETE,
        now=clock.utc_now,
    ) as earlier_command_began_utc:
        selection = _selection(project, context, batch, began_utc or earlier_command_began_utc)
        if selection is None:
            return windows, ""
        summary = sync(
            settings,
            selection,
            context=prepare_shapes(settings, selection, project.run_context, log.info),
            on_plan=lambda plan: log.info(progress.begin(plan)),
            on_result=on_window,
        )
    return windows, str(summary.stopped or "")


def _record(
    project: Project,
    context: dg.AssetExecutionContext,
    partitions: Sequence[ReportPartition],
    windows: Sequence[WindowResult],
    stopped: str,
    since: datetime,
) -> tuple[list[PartitionResult], Sequence[Condition]]:
    with project.store.reading() as connection:
        ledger, conditions = read_ledger(connection), read_conditions(connection)
    active = {customer.id for customer in project.settings.active_customers}
    by_pair = results_by_pair(windows)
    outcome = Outcome(by_pair, ledger, conditions, bool(stopped), since, project.calendar, active)
    results = [outcome.result(partition) for partition in partitions]
    for result in results:
        if result.partition.month and result.is_done:
            context.log_event(materialization(project, result))
    return results, conditions


def _work_began(project: Project, context: dg.AssetExecutionContext) -> datetime | None:
    """When the work of this run began: months fetched since then count as done.

    It is the earliest of these times, or None if none of them exists:
    - the start of this run's backfill
    - the launch of the first attempt, if this run or step is a later attempt
    - the start of each backfill that ran after the launch of the first attempt, if this is the nightly run
    """
    run, instance = context.run, context.instance
    root = instance.get_run_record_by_id(run.root_run_id or run.run_id)
    runs = [run]
    if root and NIGHT_TAG in run.tags:
        latest = project.runs_filter(updated_after=root.create_timestamp)
        runs += [*unfinished_runs(project, instance), *instance.get_runs(latest, limit=MAX_RUNS)]
    backfills = {run.tags[BACKFILL] for run in runs if BACKFILL in run.tags}
    begun = [first_run(instance, backfill).create_timestamp for backfill in backfills]
    if root and (run.root_run_id or context.retry_number):
        begun.append(root.create_timestamp)
    return project.sync_time(min(begun)) if begun else None


def _is_automatic_retry(context: dg.AssetExecutionContext) -> bool:
    return bool(context.retry_number) or RETRY_NUMBER in context.run.tags
