"""Reports as assets: one for each report that is asked for, fetched by one sync per step of a run."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

import dagster as dg

from assets.marts import SqlFiles
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
    customers_in_order,
    customers_in_words,
    months_by_pair,
    parse_partition_key,
)
from assets.project import Project
from assets.publish import draw_operators_page, publish_after_fetching
from assets.resources import CONNECT_SERVICE, WAREHOUSE, ConnectService, store_of
from assets.runs.backfills import BACKFILL, cut_by_month, with_months_of_others
from assets.runs.run_log import RunLog
from assets.runs.run_results import (
    RED,
    LedgerComparison,
    PartitionResult,
    PartitionState,
    conditions_of,
    event_files_open,
    failure,
    materializations,
    may_pass,
    newest_fetched,
    partitions_beyond,
    plan_what_is_left,
    summary_line,
)
from assets.runs.under_way import CATCH_UP_OF, NIGHT_OF, being_fetched
from pipelines.catalogue.model import Report, declared_columns
from pipelines.diagnosis.health import left_customers
from pipelines.planning.selection import Selection
from pipelines.settings.messages import SettingsError
from pipelines.shapes.shapes_file import ShapesError
from pipelines.words import count
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Condition
from warehouse.ledger.ledger import ledger_of, read_ledger
from warehouse.ledger.status import ColumnNews, column_news, read_conditions
from warehouse.ledger.window_result import WindowResult
from warehouse.store.duckdb_file import literal, quoted

SERVICE = "connect_service"
SNAPSHOT_REPORTS, MONTHLY_REPORTS, REPORTS_BY_ID = STEPS = (
    "snapshot_reports",
    "monthly_reports",
    "reports_by_id",
)
"""The steps that fetch, in their order: users are read first, for some reports ask for them one by one, and
what is asked by id last, when its ids are known."""
HELD = "brokerbi/held"
SKIP = "skip"
"""Run tag brokerbi/held=skip: months that are held and not due are not asked for again."""
NO_NOTES: Mapping[str, Mapping[str, str]] = {}
RETRY_NUMBER = "dagster/retry_number"
ACCEPT_SHRINK = "brokerbi/accept_shrink"
YES = "yes"
"""Run tag brokerbi/accept_shrink=yes: answers that the guard would hold back are loaded."""

NOTHING_SELECTED = (
    "Nothing was asked: the run names no customers and months. For all that is due, launch the run of the "
    "schedule (Automation, `nightly`, Preview tick result, Launch all) or use `brokerbi sync`; for anything "
    "else select partitions."
)
NOBODY_ASKED = "Correct BROKERBI_CUSTOMERS, or select customers that are asked."


def monthly_reports(project: Project, customers: Sequence[str], files: SqlFiles) -> dg.AssetsDefinition:
    """The reports with months; any rectangle of customers and months is one sync.

    One sync for all reports finds a refused login, a customer without rights and a service that is down
    once and not once for each report, and no request waits for another report to end.
    """
    partitions_def = customer_months(project.settings, customers)
    who = {"customers": dg.MetadataValue.md(customers_in_words(project.settings, customers))}

    @dg.multi_asset(
        name=MONTHLY_REPORTS,
        specs=[
            report_spec(project, report, partitions_def).merge_attributes(metadata=who)
            for report in project.monthly_reports
        ],
        backfill_policy=dg.BackfillPolicy.single_run(),  # one run for each range: backfills.py
        required_resource_keys={CONNECT_SERVICE, WAREHOUSE},
        can_subset=True,
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        if not (context.has_partition_key or context.has_partition_key_range):
            raise dg.Failure(NOTHING_SELECTED)
        places = [parse_partition_key(key) for key in context.partition_keys]
        reports = _selected(project, context, project.monthly_reports)
        own = [ReportPartition(one, *place) for one in reports for place in places]
        with with_months_of_others(project, context, own) as partitions:
            _fetch_and_publish(project, files, context, partitions)
        yield from ()  # every partition is logged on its own

    return fetch


def reports_without_months(
    project: Project, step: str, reports: Sequence[Report], files: SqlFiles
) -> dg.AssetsDefinition:
    """Reports of the present state, or of ids: no months, all customers together."""
    priority = STEPS.index(MONTHLY_REPORTS) - STEPS.index(step)

    @dg.multi_asset(
        name=step,
        specs=[report_spec(project, report, None) for report in reports],
        can_subset=True,
        op_tags={"dagster/priority": str(priority)},
        required_resource_keys={CONNECT_SERVICE, WAREHOUSE},
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        customers = [customer.id for customer in project.settings.customers]
        selected = _selected(project, context, reports)
        partitions = [ReportPartition(one, name, None) for one in selected for name in customers]
        _fetch_and_publish(project, files, context, partitions)
        yield from ()  # every partition is logged on its own

    return fetch


def service_spec(project: Project) -> dg.AssetSpec:
    """The service itself, where all lineage begins; Dagster only knows of it."""
    return dg.AssetSpec(
        key=project.key(SERVICE),
        description="The HTTP interface of the brokerage system, which every report asks.",
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


def _fetch_and_publish(
    project: Project,
    files: SqlFiles,
    context: dg.AssetExecutionContext,
    partitions: Sequence[ReportPartition],
) -> None:
    """Fetch these partitions, then publish if that was the last of what is being fetched.

    What is right is published though something failed: a customer that fails must not keep the others' rows
    from analysts.
    """
    later = STEPS[STEPS.index(context.op_def.name) + 1 :]
    try:
        failed = fetch_partitions(project, context, partitions)
    except dg.RetryRequested:  # for some minutes nothing else says what the service does
        draw_operators_page(project, context)
        raise
    except Exception:
        plan_what_is_left(project, context)
        publish_after_fetching(project, files, context, later)
        raise
    publish_after_fetching(project, files, context, later)
    if failed:
        raise failed


def fetch_partitions(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> dg.Failure | None:
    """Sync these partitions and log an event for each that is done; the failure of the run, if any failed.

    Those that failed turn red, and what was not asked stays as it is. What was fetched is logged also when
    the run is cancelled or breaks down on the way. A service that is down is asked once more by the same run,
    after some minutes. A run that leaves alone what is held also leaves alone what another run is fetching.
    """
    run_log, windows = RunLog(context.log), list[WindowResult]()
    if context.run.tags.get(HELD) == SKIP:
        partitions = _not_under_way(project, context, partitions)
    try:
        _refuse_to_ask_nobody(project, context, partitions)
        found, stopped, conditions, news = _sync_and_compare(project, context, partitions, windows, run_log)
    except (SettingsError, ShapesError, WarehouseError) as error:
        raise dg.Failure(str(error)) from error
    is_tried_again = may_pass(conditions) and not _is_automatic_retry(context)
    tried_again = f"It is tried again in {project.retry_seconds:g} seconds." if is_tried_again else ""
    failed = failure(found, stopped, conditions, tried_again)
    # What a failed run planned and did not log turns red, and a backfill waits for all that it planned; after
    # another run, what is green stays so by itself.
    awaited = failed is not None or BACKFILL in context.run.tags
    green = {} if awaited else _green(project, context, found)
    _log(project, context, [one for one in found if one.is_news(green)], run_log.notes(news))
    run_log.ended(news)
    context.log.info(summary_line(found))
    if failed and is_tried_again:
        context.log.warning(failed.description or "")
        raise dg.RetryRequested(max_retries=1, seconds_to_wait=project.retry_seconds) from failed
    if failed:
        red = [one for one in found if one.state in RED]
        plan_what_is_left(project, context, [one.partition for one in red])
    return failed


def _sync_and_compare(
    project: Project,
    context: dg.AssetExecutionContext,
    partitions: Sequence[ReportPartition],
    windows: list[WindowResult],
    run_log: RunLog,
) -> tuple[list[PartitionResult], str, Sequence[Condition], Sequence[ColumnNews]]:
    """What became of these partitions, why the sync stopped early, what they failed at, and the new columns.

    Every window is added to `windows`. If the sync breaks down, what it had fetched is logged.
    """
    store, first_attempt = store_of(context), _first_attempt(project, context)
    before, since = ledger_of(store), first_attempt or project.clock.utc_now()
    active = {customer.id for customer in project.settings.active_customers}
    comparison = LedgerComparison(before, before, since, project.calendar, active)
    known = {customer.id for customer in project.settings.customers}
    asked = [one for one in partitions if one.customer in known]
    if first_attempt:  # what an earlier attempt of this run has fetched is not asked for again
        asked = [one for one in asked if not comparison.is_fresh(one)]
    if _is_automatic_retry(context):  # what was refused stays so for minutes
        denied = {pair for pair, moment in before.denied.items() if moment >= since}
        asked = [partition for partition in asked if partition.pair not in denied]
    try:
        stopped = _sync(project, context, asked, windows, run_log)
    except BaseException:
        with suppress(WarehouseError):
            found = _results(replace(comparison, after=ledger_of(store)), partitions, windows)
            _log(project, context, [one for one in found if one.state is PartitionState.FETCHED])
        raise
    with store.reading() as connection:
        everything = read_conditions(connection)
        comparison = replace(comparison, after=read_ledger(connection), conditions=everything)
        news = column_news(connection, since)
    found = _results(comparison, partitions, windows)
    return found, stopped, conditions_of(found, everything), news


def _results(
    comparison: LedgerComparison, partitions: Sequence[ReportPartition], windows: Sequence[WindowResult]
) -> list[PartitionResult]:
    """What became of these partitions, and of those that were read beyond them."""
    beyond = partitions_beyond(partitions, windows, comparison.calendar)
    return comparison.results([*partitions, *beyond], windows)


def _refuse_to_ask_nobody(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> None:
    """Warn of selected customers that are not asked; raises dg.Failure where all of them are such."""
    selected = {one.customer for one in partitions if one.month}
    silent = selected - {customer.id for customer in project.settings.active_customers}
    if not silent:
        return
    held = ledger_of(store_of(context)).held
    left = left_customers(project.settings, (customer for _, customer in held))
    sentences = [
        left.get(one, f"{one} is switched off (active = false in the settings); what is held of it stays.")
        for one in sorted(silent)
    ]
    for sentence in sentences:
        context.log.warning(f"Not asked: {sentence}")
    if silent == selected:
        raise dg.Failure(f"Nothing was asked. {' '.join(sentences)} {NOBODY_ASKED}")


def _not_under_way(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> Sequence[ReportPartition]:
    """The partitions that no backfill is fetching or is about to."""
    order = customers_in_order(project.settings, project.customers_with_data())
    others = [
        one for one in being_fetched(project, context.instance, order) if one.run_id != context.run.run_id
    ]
    left = [one for one in partitions if not any(other.covers(one) for other in others)]
    if len(left) < len(partitions):
        context.log.info(
            f"{count(len(partitions) - len(left))} partitions are left to runs that fetch them anyway."
        )
    return left


def _sync(
    project: Project,
    context: dg.AssetExecutionContext,
    partitions: Sequence[ReportPartition],
    windows: list[WindowResult],
    run_log: RunLog,
) -> str:
    """Ask for these partitions and add every window to `windows`; returns why the sync stopped, if early."""
    months = months_by_pair(partitions, project.calendar)
    if not months:
        return ""

    def on_result(window: WindowResult) -> None:
        windows.append(window)
        run_log.window_done(window)

    tags = context.run.tags
    service: ConnectService = context.resources.connect_service
    summary = service.sync(
        Selection(
            exact=months,
            refresh=tags.get(HELD) != SKIP,
            accept_shrink=tags.get(ACCEPT_SHRINK) == YES,
            guided=NIGHT_OF in tags,
            older=CATCH_UP_OF in tags,
        ),
        on_plan=run_log.planned,
        on_result=on_result,
    )
    return str(summary.stopped or "")


def _log(
    project: Project,
    context: dg.AssetExecutionContext,
    results: Sequence[PartitionResult],
    notes: Mapping[str, Mapping[str, str]] = NO_NOTES,
) -> None:
    """Log a materialization for each of these results, the newest of each report with notes and a preview."""
    newest = newest_fetched(results)
    previews: dict[str, TablePreview] = {}
    with suppress(WarehouseError):
        previews = read_previews(
            store_of(context), {name: _rows_of(one.partition) for name, one in newest.items()}
        )
    with event_files_open(context):
        for event in materializations(project, results, previews, notes):
            context.log_event(event)
    monthly = {one.partition.report.name for one in results if one.partition.month}
    # Dagster counts materialized partitions onwards from its last look, and what one run logs while another
    # is being submitted can fall between two looks and be shown as missing for good. So let it count anew.
    context.instance.wipe_asset_cached_status([project.key(name) for name in sorted(monthly)])


def _green(
    project: Project, context: dg.AssetExecutionContext, results: Sequence[PartitionResult]
) -> Mapping[str, Collection[str]]:
    """The keys of partitions that were green before, by report, but for the newest month.

    The newest is logged in every run that finds it held: the freshness of a report hangs on its last event.
    """
    with_months = [(one.partition.report.name, one.partition.month) for one in results if one.partition.month]
    newest = str(max((month for _, month in with_months), default="no month"))
    keys = [key for key in context.partition_keys if newest not in key] if with_months else []
    green = dg.AssetPartitionStatus.MATERIALIZED
    found = {}
    for name in {name for name, _ in with_months}:
        states = context.instance.get_status_by_partition(
            project.key(name), keys, context.assets_def.partitions_def
        )
        found[name] = {key for key, state in (states or {}).items() if state is green}
    return found


def _rows_of(partition: ReportPartition) -> tuple[str, str]:
    """The first table of a partition's report, and the condition for the partition's rows, as SQL."""
    table = f"bi.{quoted(partition.report.tables[0].name)}"
    if partition.month is None:
        return table, "true"
    return table, f"_customer = {literal(partition.customer)} AND _month = DATE '{partition.month.first_day}'"


def _first_attempt(project: Project, context: dg.AssetExecutionContext) -> datetime | None:
    """Since when months count as fetched: its first attempt, or the backfill that is cut by month."""
    if backfill := cut_by_month(project, context.instance, context.run):
        return backfill.since
    if context.run.root_run_id is None and not context.retry_number:
        return None
    record = context.instance.get_run_record_by_id(context.run.root_run_id or context.run.run_id)
    return project.as_of(record.create_timestamp) if record else None


def _is_automatic_retry(context: dg.AssetExecutionContext) -> bool:
    """Whether an earlier attempt failed and nobody but Dagster asks for this one."""
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
        lines += ["", "Its rows carry no date, so every month is asked for on its own."]
    elif report.has_months:
        most = f"up to {report.endpoint.request_months} in one request"
        lines += ["", f"Neighbouring months are asked for together, {most}."]
    if report.timing.latest_months:
        kept = "older ones are never asked for again, and what is held of them stays."
        lines += ["", f"The service calculates only the latest {report.timing.latest_months} months; {kept}"]
    return "\n".join(lines)
