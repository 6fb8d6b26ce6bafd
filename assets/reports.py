"""Reports as assets: one for each report that is on, fetched by one sync per step of a run."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any

import dagster as dg

from assets.metadata import (
    COLUMN_SCHEMA,
    OWNERS,
    TablePreview,
    column_schema,
    documented_columns,
    freshness_policy,
    read_previews,
)
from assets.partitions import (
    ReportPartition,
    customer_months,
    customers_table,
    months_by_pair,
    parse_partition_key,
)
from assets.project import Project
from assets.results import (
    RED,
    LedgerComparison,
    PartitionResult,
    PartitionState,
    conditions_of,
    failure,
    materializations,
    may_pass,
    newest_fetched,
    partitions_beyond,
    plan_what_is_left,
    summary_line,
)
from assets.run_log import RunLog
from assets.runs import BACKFILL, NIGHT_OF, show_alive, squares_of_backfill
from pipelines.catalogue.model import Report, declared_columns
from pipelines.planning.selection import Selection
from pipelines.settings.messages import SettingsError
from pipelines.shapes.shapes_file import ShapesError
from pipelines.upkeep.report_page import refresh_operators_page
from pipelines.upkeep.shapes import sync_in_shape
from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import ledger_of, read_ledger
from warehouse.ledger.status import ColumnNews, column_news, read_conditions
from warehouse.ledger.window_result import WindowResult
from warehouse.store.duckdb_file import literal, quoted
from warehouse.store.lock import work_lock

SERVICE = "connect_service"
SNAPSHOT_REPORTS, MONTHLY_REPORTS, REPORTS_BY_ID = STEPS = (
    "snapshot_reports",
    "monthly_reports",
    "reports_by_id",
)
"""The steps that fetch, in their order: users are read first, and what is requested by id last, when its
ids are known."""
ACCEPT_SHRINK = "brokerbi/accept_shrink"
YES = "yes"
"""Run tag brokerbi/accept_shrink=yes: answers that the guard would hold back are loaded."""
RETRY_NUMBER = "dagster/retry_number"

NOTHING_SELECTED = (
    "Nothing was requested: the run names no customers and months. For all that is due, launch the run of "
    "the schedule (Automation, `nightly`, Preview tick result, Launch all) or use `brokerbi sync`; for "
    "anything else select partitions."
)
SWITCHED_OFF = (
    "Nothing was requested: {} are switched off or not in the settings. Correct BROKERBI_CUSTOMERS, or "
    "select other customers."
)


def monthly_reports(project: Project, customers: Sequence[str]) -> dg.AssetsDefinition:
    """The reports with months; any rectangle of customers and months is one run.

    One sync for all reports finds a denied login, a customer without access and a service that is down once
    and not once for each report, and no request waits for another report to end.
    """
    partitions_def = customer_months(project.settings, customers)
    who = {"customers": customers_table(project.settings, customers)}

    @dg.multi_asset(
        name=MONTHLY_REPORTS,
        specs=[
            report_spec(project, report, partitions_def).merge_attributes(metadata=who)
            for report in project.monthly_reports
        ],
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        if not (context.has_partition_key or context.has_partition_key_range):
            raise dg.Failure(NOTHING_SELECTED)
        places = [parse_partition_key(key) for key in context.partition_keys]
        reports = _selected(project, context, project.monthly_reports)
        fetch_partitions(
            project, context, [ReportPartition(report, *place) for report in reports for place in places]
        )
        yield from ()  # every partition is logged on its own

    return fetch


def reports_without_months(project: Project, step: str, reports: Sequence[Report]) -> dg.AssetsDefinition:
    """Reports of the present state, or of ids: no months, all customers together."""
    priority = STEPS.index(MONTHLY_REPORTS) - STEPS.index(step)

    @dg.multi_asset(
        name=step,
        specs=[report_spec(project, report, None) for report in reports],
        can_subset=True,
        op_tags={"dagster/priority": str(priority)},
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        customers = [customer.id for customer in project.settings.customers]
        selected = _selected(project, context, reports)
        fetch_partitions(
            project,
            context,
            [ReportPartition(report, name, None) for report in selected for name in customers],
        )
        yield from ()  # every partition is logged on its own

    return fetch


def service_spec(project: Project) -> dg.AssetSpec:
    """The service itself, where all lineage begins; Dagster only knows of it."""
    return dg.AssetSpec(
        key=project.key(SERVICE),
        description="The HTTP interface of the brokerage system, from which every report comes.",
        group_name="service",
        kinds={"http"},
        tags={"layer": "service"},
    )


def report_spec(
    project: Project, report: Report, partitions: dg.PartitionsDefinition[str] | None
) -> dg.AssetSpec:
    """A report as an asset; skippable, so that a partition that was not fetched stays as it is."""
    first, *others = report.tables
    is_history = report.stored_as == "history"
    metadata: dict[str, Any] = {
        "dagster/table_name": f"bi.{first.name}",
        "months_in_one_request": report.endpoint.request_months if report.has_months else 0,
        "kept": "as slowly changing history" if is_history else "month by month",
        "asked_at": dg.MetadataValue.text(report.endpoint.path),
    }
    if columns := documented_columns(first):
        metadata[COLUMN_SCHEMA] = column_schema(columns)
    for table in others:
        if columns := documented_columns(table):
            metadata[f"columns of bi.{table.name}"] = column_schema(columns)
    return dg.AssetSpec(
        key=project.key(report.name),
        description=_description(report),
        group_name=report.subject,
        owners=list(OWNERS),
        kinds={"polars", "duckdb"},
        tags={"layer": "report", "pii": "yes" if _is_about_persons(report) else "no"},
        deps=[project.key(SERVICE)],
        metadata=metadata,
        partitions_def=partitions,
        freshness_policy=None if report.is_by_id else freshness_policy(),
        skippable=True,
    )


def fetch_partitions(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> None:
    """Sync these partitions and log an event for each that is done; raises dg.Failure if any failed.

    Those that failed turn red, and others that were not requested stay as they are. Fetched ones are logged
    even if the run is cancelled or breaks down on the way. A run that failed at something that may pass is
    retried once, after some minutes, and requests only what is missing then.
    """
    run_log, windows = RunLog(context.log), list[WindowResult]()
    show_alive(project, context.run.run_id)
    try:
        _check_customers(project, partitions)
        comparison, stopped, news = _sync_and_compare(project, context, partitions, windows, run_log)
    except (SettingsError, ShapesError, WarehouseError) as error:
        plan_what_is_left(project, context)
        raise dg.Failure(str(error)) from None
    finally:
        if why := refresh_operators_page(project.settings, project.clock):
            context.log.warning(why)
    found = _results(context, comparison, partitions, windows)
    conditions = conditions_of(found, comparison.conditions)
    _log(
        project,
        context,
        [result for result in found if result.is_done or not result.partition.month],
        run_log.notes(news),
    )
    run_log.ended(news)
    context.log.info(summary_line(found))
    is_retried = may_pass(conditions) and not _is_automatic_retry(context)
    note = f"It is tried again in {project.retry_seconds:g} seconds." if is_retried else ""
    if failed := failure(found, stopped, conditions, note):
        if is_retried:
            context.log.warning(failed.description or "")
            # a RetryPolicy would also retry what a restart of the code server interrupts, in that server
            raise dg.RetryRequested(max_retries=1, seconds_to_wait=project.retry_seconds) from None
        plan_what_is_left(project, context, [result.partition for result in found if result.state in RED])
        raise failed


def _check_customers(project: Project, partitions: Sequence[ReportPartition]) -> None:
    """Raises SettingsError if no selected customer is active."""
    selected = {partition.customer for partition in partitions}
    if selected.isdisjoint(customer.id for customer in project.settings.active_customers):
        raise SettingsError([SWITCHED_OFF.format(", ".join(sorted(selected)))])


def _sync_and_compare(
    project: Project,
    context: dg.AssetExecutionContext,
    partitions: Sequence[ReportPartition],
    windows: list[WindowResult],
    run_log: RunLog,
) -> tuple[LedgerComparison, str, Sequence[ColumnNews]]:
    """The ledger before and after, why the sync stopped early, and the new columns.

    Every window is added to `windows`. If the sync breaks down, fetched partitions are logged.
    """
    earlier = _earlier_attempt(project, context)
    before, since = ledger_of(project.store), earlier or project.clock.utc_now()
    active = {customer.id for customer in project.settings.active_customers}
    comparison = LedgerComparison(before, before, since, project.calendar, active)
    try:
        if NIGHT_OF in context.run.tags:
            reports = tuple(dict.fromkeys(partition.report.name for partition in partitions))
            night = Selection(reports=reports, guided=True, fresh_since=earlier)
            stopped = _sync(project, context, night, windows, run_log)
        else:
            wanted = [*partitions, *_of_the_same_backfill(project, context, partitions)]
            if earlier:
                wanted = [partition for partition in wanted if not comparison.is_fresh(partition)]
            if _is_automatic_retry(context):  # a denied report stays denied for minutes
                denied = {pair for pair, moment in before.denied.items() if moment >= since}
                wanted = [partition for partition in wanted if partition.pair not in denied]
            stopped = _sync_by_customer(project, context, wanted, windows, run_log)
    except BaseException:
        with suppress(WarehouseError):
            so_far = replace(comparison, after=ledger_of(project.store))
            found = _results(context, so_far, partitions, windows)
            _log(project, context, [result for result in found if result.state is PartitionState.FETCHED])
        raise
    with project.store.reading() as connection:
        after, conditions = read_ledger(connection), read_conditions(connection)
        news = column_news(connection, since)
    return replace(comparison, after=after, conditions=conditions), stopped, news


def _of_the_same_backfill(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> list[ReportPartition]:
    """The partitions of these customers that other runs of the same backfill are to fetch.

    One request covers several months of a customer, never several customers.
    """
    if BACKFILL not in context.run.tags:
        return []
    reports = {report.name: report for report in project.monthly_reports}
    squares = squares_of_backfill(project, context.instance, context.run)
    own = {(partition.report.name, partition.customer, partition.month) for partition in partitions}
    customers = {partition.customer for partition in partitions}
    return [
        ReportPartition(reports[name], customer, month)
        for name, customer, month in sorted(squares - own)
        if customer in customers
    ]


def _sync_by_customer(
    project: Project,
    context: dg.AssetExecutionContext,
    partitions: Sequence[ReportPartition],
    windows: list[WindowResult],
    run_log: RunLog,
) -> str:
    """Sync customer by customer; between two of them a nightly run that waits goes first."""
    known = {customer.id for customer in project.settings.customers}
    in_order = sorted(partitions, key=lambda partition: partition.customer)
    selection = Selection(refresh=True)
    stopped = ""
    for customer, of_customer in groupby(in_order, key=lambda partition: partition.customer):
        if customer in known and not stopped:
            exact = months_by_pair(of_customer, project.calendar)
            stopped = _sync(project, context, replace(selection, exact=exact), windows, run_log)
    return stopped


def _sync(
    project: Project,
    context: dg.AssetExecutionContext,
    selection: Selection,
    windows: list[WindowResult],
    run_log: RunLog,
) -> str:
    """Sync under the work lock and add every window to `windows`; returns why it stopped, if early."""

    def note(window: WindowResult) -> None:
        windows.append(window)
        run_log.window_done(window)

    tags = context.run.tags
    what = f"run {context.run.run_id[:8]} of {context.run.job_name}"
    with work_lock(project.settings.data_dir, what, on_wait=context.log.info, now=project.clock.utc_now):
        summary = sync_in_shape(
            project.settings,
            replace(selection, accept_shrink=tags.get(ACCEPT_SHRINK) == YES),
            context=project.run_context,
            on_message=context.log.info,
            on_plan=run_log.planned,
            on_result=note,
        )
    return str(summary.stopped or "")


def _results(
    context: dg.AssetExecutionContext,
    comparison: LedgerComparison,
    partitions: Sequence[ReportPartition],
    windows: Sequence[WindowResult],
) -> list[PartitionResult]:
    """The results of these partitions, and of those that a nightly run read beyond them."""
    is_night = NIGHT_OF in context.run.tags
    beyond = partitions_beyond(partitions, windows, comparison.calendar) if is_night else []
    return comparison.results([*partitions, *beyond], windows)


def _log(
    project: Project,
    context: dg.AssetExecutionContext,
    results: Sequence[PartitionResult],
    notes: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Log a materialization for each of these results, the newest of each report with notes and a preview."""
    newest = newest_fetched(results)
    previews: dict[str, TablePreview] = {}
    with suppress(WarehouseError):
        previews = read_previews(
            project.store, {name: _rows_of(result.partition) for name, result in newest.items()}
        )
    for event in materializations(project, results, previews, notes or {}):
        context.log_event(event)
    monthly = {result.partition.report.name for result in results if result.partition.month}
    # Dagster counts materialized partitions onwards from its last look, and what one run logs while another
    # is being submitted can fall between two looks and be shown as missing for good. So let it count again.
    context.instance.wipe_asset_cached_status([project.key(name) for name in sorted(monthly)])


def _rows_of(partition: ReportPartition) -> tuple[str, str]:
    """The first table of a partition's report, and the condition for the partition's rows, as SQL."""
    table = f"bi.{quoted(partition.report.tables[0].name)}"
    if partition.month is None:
        return table, "true"
    return table, f"_customer = {literal(partition.customer)} AND _month = DATE '{partition.month.first_day}'"


def _earlier_attempt(project: Project, context: dg.AssetExecutionContext) -> datetime | None:
    """When this work began, if it did before this run: its backfill, or its first attempt.

    Months loaded since then are recorded and not requested again.
    """
    run, instance = context.run, context.instance
    if BACKFILL in run.tags:
        filters = dg.RunsFilter(tags={BACKFILL: run.tags[BACKFILL]})
        [record, *_] = instance.get_run_records(filters, limit=1, ascending=True)
        return project.as_of(record.create_timestamp)
    if run.root_run_id is None and not context.retry_number:
        return None
    root = instance.get_run_record_by_id(run.root_run_id or run.run_id)
    return project.as_of(root.create_timestamp) if root else None


def _is_automatic_retry(context: dg.AssetExecutionContext) -> bool:
    """Whether an earlier attempt failed and Dagster itself launched this one."""
    return bool(context.retry_number) or RETRY_NUMBER in context.run.tags


def _selected(project: Project, context: dg.AssetExecutionContext, reports: Sequence[Report]) -> list[Report]:
    return [report for report in reports if project.key(report.name) in context.selected_asset_keys]


def _is_about_persons(report: Report) -> bool:
    """Whether a documented column is personal; undocumented reports may be."""
    columns = [column for table in report.tables for column in declared_columns(table)]
    return not columns or any(column.personal or column.id_of for column in columns)


def _description(report: Report) -> str:
    lines = [report.description, ""]
    lines += [f"- `bi.{table.name}`: {table.description}" for table in report.tables]
    if report.has_months and report.month_of_row == "window":
        lines += ["", "Its rows carry no date, so every month is requested on its own."]
    elif report.has_months:
        most = f"up to {report.endpoint.request_months} in one request"
        lines += ["", f"Neighbouring months are requested together, {most}."]
    if report.timing.latest_months:
        kept = "older ones are never requested again, and what is stored of them stays."
        lines += ["", f"The service calculates only the latest {report.timing.latest_months} months; {kept}"]
    return "\n".join(lines)
