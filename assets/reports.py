"""Reports as assets: one for each report that is on, fetched by one sync per step of a run."""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import dagster as dg

from assets.metadata import COLUMN_SCHEMA, OWNERS, column_schema, documented_columns, freshness_policy
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
    REMEDY,
    Outcome,
    PartitionResult,
    PartitionState,
    conditions_of,
    events_of,
    failure,
    is_fresh,
    may_pass,
    summary_line,
    turn_red,
    with_changed_months,
)
from assets.runs import BACKFILL, NIGHT_OF, partitions_of_backfill, show_alive
from pipelines.catalogue.model import Report, declared_columns
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.settings.messages import SettingsError
from pipelines.shapes.shapes_file import ShapesError
from pipelines.sync.progress import Progress
from pipelines.sync.run_context import RunContext
from pipelines.sync.summary import TROUBLE
from pipelines.sync.sync import sync
from pipelines.upkeep.finish import refresh_operators_page
from pipelines.upkeep.shapes import prepare_shapes
from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import ledger_of, read_ledger
from warehouse.ledger.status import read_conditions
from warehouse.ledger.window_result import WindowResult, WindowStatus, results_by_pair
from warehouse.store.lock import work_lock

SERVICE = "connect_service"
ACCEPT_SHRINK = "brokerbi/accept_shrink"
YES = "yes"
"""Run tag brokerbi/accept_shrink=yes: answers that the guard would hold back are loaded."""
RETRY_NUMBER = "dagster/retry_number"
NOT_LOADED = TROUBLE | {WindowStatus.NO_ACCESS}
Part = Sequence[ReportPartition]
"""What is synced at once, under the work lock."""

NOTHING_SELECTED = (
    "Nothing was requested: the run names no customers and months. For all that is due, launch the run of "
    "the schedule (Automation, `nightly`, Preview tick result, Launch all) or use `brokerbi sync`; for "
    "anything else select partitions."
)
SWITCHED_OFF = (
    "Nothing was requested: {} are switched off or not in the settings. Correct BROKERBI_CUSTOMERS, or "
    "select other customers."
)


def report_steps(project: Project, customers: Sequence[str]) -> list[dg.AssetsDefinition]:
    """The steps of a run that fetch, in their order: users are read first, what is requested by id last.

    Each is one sync for all of its reports: it finds a denied login, a customer without access and a service
    that is down once and not once for each report, and no request waits for another report to end.
    """
    without_months = [report for report in project.reports if not report.has_months]
    steps = {
        "snapshot_reports": [report for report in without_months if not report.is_by_id],
        "monthly_reports": project.monthly_reports,
        "reports_by_id": [report for report in without_months if report.is_by_id],
    }
    return [
        report_step(project, name, -place, [report_spec(project, report, customers) for report in reports])
        for place, (name, reports) in enumerate(steps.items())
        if reports
    ]


def report_step(
    project: Project, name: str, priority: int, specs: Sequence[dg.AssetSpec]
) -> dg.AssetsDefinition:
    """Fetches any rectangle of customers and months; of reports without months all customers."""

    @dg.multi_asset(
        name=name,
        specs=specs,
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,
        op_tags={"dagster/priority": str(priority)},
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        places: list[tuple[str, Month | None]]
        if all(spec.partitions_def is None for spec in specs):
            places = [(customer.id, None) for customer in project.settings.customers]
        elif context.has_partition_key or context.has_partition_key_range:
            places = [parse_partition_key(key) for key in context.partition_keys]
        else:
            raise dg.Failure(NOTHING_SELECTED)
        keys = context.selected_asset_keys
        reports = [report for report in project.reports if project.key(report.name) in keys]
        partitions = [ReportPartition(report, *place) for report in reports for place in places]
        yield from fetch_partitions(project, context, partitions)

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


def report_spec(project: Project, report: Report, customers: Sequence[str]) -> dg.AssetSpec:
    """A report as an asset; skippable, so that a partition that was not fetched stays as it is."""
    first, *others = report.tables
    is_history = report.stored_as == "history"
    metadata: dict[str, Any] = {
        "dagster/table_name": f"bi.{first.name}",
        "kept": "as slowly changing history" if is_history else "month by month",
        "asked_at": dg.MetadataValue.text(report.endpoint.path),
    }
    if report.has_months:
        metadata["months_in_one_request"] = report.endpoint.request_months
        metadata["customers"] = customers_table(project.settings, customers)
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
        partitions_def=customer_months(project.settings, customers) if report.has_months else None,
        freshness_policy=None if report.is_by_id else freshness_policy(),
        skippable=True,
    )


def fetch_partitions(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> Iterator[dg.MaterializeResult[Any]]:
    """Sync these partitions and record each that is done; raises dg.Failure if any failed.

    Those that failed turn red, and others that were not requested stay as they are. Fetched ones are logged
    even if the run is cancelled or breaks down on the way. A run that failed at something that may pass is
    retried once, after some minutes, and requests only what is missing then.
    """
    windows: list[WindowResult] = []
    earlier = _earlier_attempt(project, context)
    since = earlier or project.clock.utc_now()
    show_alive(project, context.run.run_id)
    try:
        customers = {partition.customer for partition in partitions}
        if customers.isdisjoint(customer.id for customer in project.settings.active_customers):
            raise SettingsError([SWITCHED_OFF.format(", ".join(sorted(customers)))])
        parts = _parts(project, context.instance, context.run, partitions)
        stopped = _sync(project, context, parts, earlier, windows)
        outcome = _outcome(project, windows, since)
    except BaseException as error:
        left: list[ReportPartition] = list(partitions)
        with suppress(WarehouseError):
            results = list(map(_outcome(project, windows, since).result, partitions))
            fetched = [result for result in results if result.state is PartitionState.FETCHED]
            yield from _record(project, context, fetched)
            left = [result.partition for result in results if result.state is not PartitionState.FETCHED]
        if isinstance(error, SettingsError | ShapesError | WarehouseError):
            turn_red(project, context, left)
            raise dg.Failure(str(error)) from None
        raise
    finally:
        if why := refresh_operators_page(project.settings, project.clock):
            context.log.warning(why)
    if NIGHT_OF in context.run.tags:
        partitions = with_changed_months(partitions, windows, project.calendar)
    results = list(map(outcome.result, partitions))
    yield from _record(project, context, results)
    context.log.info(summary_line(results))
    conditions = conditions_of(results, outcome.conditions)
    is_retried = may_pass(conditions) and not _is_automatic_retry(context)
    note = f"It is tried again in {project.retry_seconds:g} seconds." if is_retried else REMEDY
    if failed := failure(results, stopped, conditions, note):
        if is_retried:
            context.log.warning(failed.description or "")
            # a RetryPolicy would also retry what a restart of the code server interrupts, in that server
            raise dg.RetryRequested(max_retries=1, seconds_to_wait=project.retry_seconds) from None
        turn_red(project, context, [result.partition for result in results if result.state in RED])
        raise failed


def _parts(
    project: Project, instance: dg.DagsterInstance, run: dg.DagsterRun, partitions: Part
) -> list[Part]:
    """The partitions that a run syncs together: the nightly run all of them, any other each customer's.

    The first run of a backfill adds those of its customers that other runs are to fetch: one request covers
    several months of a customer, never several customers.
    """
    if NIGHT_OF in run.tags:
        return [partitions]
    parts: dict[str, list[ReportPartition]] = {}
    for partition in partitions:
        parts.setdefault(partition.customer, []).append(partition)
    for partition in partitions_of_backfill(project, instance, run):
        if partition.customer in parts:
            parts[partition.customer].append(partition)
    known = {customer.id for customer in project.settings.customers}
    return [parts[name] for name in sorted(parts) if name in known]


def _selection(
    project: Project, context: dg.AssetExecutionContext, part: Part, since: datetime | None
) -> Selection | None:
    """What to request for a part: in the nightly run what is due, else exactly these partitions.

    What was fetched since a moment is left out, and so is a report that was denied before an automatic retry.
    """
    accept_shrink = context.run.tags.get(ACCEPT_SHRINK) == YES
    if NIGHT_OF in context.run.tags:
        reports = tuple(dict.fromkeys(partition.report.name for partition in part))
        return Selection(reports=reports, guided=True, fresh_since=since, accept_shrink=accept_shrink)
    ledger, moment, exact = ledger_of(project.store), since or project.clock.utc_now(), {}
    denied = {pair for pair in ledger.denied if ledger.denied[pair] >= moment}
    for pair, months in months_by_pair(part, project.calendar).items():
        days = {month: month.first_day if month else None for month in months or (None,)}
        left = [month for month, day in days.items() if not is_fresh(ledger.month(*pair, day), moment)]
        if left and not (pair in denied and _is_automatic_retry(context)):
            exact[pair] = tuple(filter(None, left))
    return Selection(refresh=True, exact=exact, accept_shrink=accept_shrink) if exact else None


def _sync(
    project: Project,
    context: dg.AssetExecutionContext,
    parts: Sequence[Part],
    earlier: datetime | None,
    windows: list[WindowResult],
) -> str:
    """Sync each part under the work lock and add its windows to `windows`; why it stopped early, if it did.

    Between two parts a nightly run that waits goes first. What was fetched since `earlier`, or by the command
    that had the lock, is not requested again. Shapes are prepared once, with the first part.
    """
    settings, clock = project.settings, project.clock
    what = f"run {context.run.run_id[:8]} of {context.run.job_name}"
    run_context, progress, reported = None, Progress(), set[str]()

    def note(window: WindowResult) -> None:
        windows.append(window)
        is_planned = progress.count(window)
        if is_planned and window.status in NOT_LOADED and window.reason not in reported:
            reported.add(window.reason)
            place = f"{window.report} of {window.customer} ({window.when})"
            context.log.warning(f"{place} {window.status}: {window.reason}")
        if line := progress.line():
            context.log.info(line)

    for part in parts:
        with work_lock(settings.data_dir, what, on_wait=context.log.info, now=clock.utc_now) as awaited_utc:
            selection = _selection(project, context, part, earlier or awaited_utc)
            if selection is None:
                continue
            run_context = run_context or _in_shape(project, context, parts)
            summary = sync(
                settings,
                selection,
                context=run_context,
                on_plan=lambda plan: context.log.info(progress.begin(plan)),
                on_result=note,
            )
        if summary.stopped:
            return str(summary.stopped)
    return ""


def _in_shape(project: Project, context: dg.AssetExecutionContext, parts: Sequence[Part]) -> RunContext:
    """The run context with the shapes in force."""
    reports = tuple(dict.fromkeys(partition.report.name for part in parts for partition in part))
    selection = Selection(reports=reports)
    return prepare_shapes(project.settings, selection, project.run_context, context.log.info)


def _outcome(project: Project, windows: Sequence[WindowResult], since: datetime) -> Outcome:
    with project.store.reading() as connection:
        ledger, conditions = read_ledger(connection), read_conditions(connection)
    active = {customer.id for customer in project.settings.active_customers}
    return Outcome(results_by_pair(windows), ledger, conditions, since, project.calendar, active)


def _record(
    project: Project, context: dg.AssetExecutionContext, results: Sequence[PartitionResult]
) -> Iterator[dg.MaterializeResult[Any]]:
    """Log the events of these results; what is materialized as a whole is an output, which marts wait for."""
    for event in events_of(project, results):
        if isinstance(event, dg.AssetMaterialization) and event.partition is None:
            yield dg.MaterializeResult(asset_key=event.asset_key, metadata=event.metadata)
        else:
            context.log_event(event)
    monthly = {result.partition.report.name for result in results if result.partition.month}
    # Dagster counts materialized partitions onwards from its last look, and what one run logs while another
    # is being submitted can fall between two looks and be shown as missing for good. So let it count again.
    context.instance.wipe_asset_cached_status([project.key(name) for name in sorted(monthly)])


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


def _is_about_persons(report: Report) -> bool:
    """Whether a documented column is personal; undocumented reports may be."""
    columns = [column for table in report.tables for column in declared_columns(table)]
    return not columns or any(column.personal or column.id_of for column in columns)


def _description(report: Report) -> str:
    tables = [f"- `bi.{table.name}`: {table.description}" for table in report.tables]
    return "\n".join([report.description, "", *tables])
