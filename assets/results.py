"""Results of a run: what became of each partition, its materialization, and the failure of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import dagster as dg

from assets.metadata import (
    PARTITION_ROW_COUNT,
    ROW_COUNT,
    TablePreview,
    column_descriptions,
    table,
)
from assets.partitions import ReportPartition, partition_key
from assets.project import Project
from pipelines.months import Month, months_in_words
from pipelines.planning.due import Calendar
from pipelines.sync.causes import PASSING, concerning, lines, names, refusals
from pipelines.sync.summary import NOT_OF_TONIGHT, TROUBLE
from pipelines.words import count, counted
from warehouse.ledger.conditions import Condition
from warehouse.ledger.ledger import HeldMonth, Ledger
from warehouse.ledger.window_result import WindowResult, WindowStatus, results_by_pair

PLANNED, LOGGED = (
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    dg.DagsterEventType.ASSET_MATERIALIZATION,
)
NOT_ASKED = "it was not asked: the run ended before its turn"
FAILED = "failed"
"""The metadata of a run whose failure is in meta.conditions: what failed, as a table."""
REMEDY = "Re-executing this run from failure asks only for what is missing then."


class PartitionState(StrEnum):
    """The state of a partition after a run."""

    FETCHED = "fetched"
    HELD = "held"
    NOTHING = "nothing to ask"
    WAITING = "due by turns"
    NO_ACCESS = "no access"
    LOST_ACCESS = "lost access"
    FAILED = "failed"


RED = frozenset({PartitionState.LOST_ACCESS, PartitionState.FAILED})
UNREAD = RED | {PartitionState.NO_ACCESS, PartitionState.WAITING}


@dataclass(frozen=True)
class PartitionResult:
    """What became of one partition; `rows` are those of its own month, `rows_ahead` of months to come.

    `held` is its month in the ledger after the run, `window` the window it was loaded with.
    """

    partition: ReportPartition
    state: PartitionState
    reason: str = ""
    rows: int | None = None
    rows_before: int | None = None
    rows_ahead: int | None = None
    held: HeldMonth | None = None
    window: WindowResult | None = None

    @property
    def is_done(self) -> bool:
        """Whether the partition is materialized: nothing more can be done for it today."""
        return self.state not in UNREAD


@dataclass(frozen=True)
class LedgerComparison:
    """The ledger before and after a sync, and since when a month counts as fetched by this run.

    `active` are the customers that the settings name and that are switched on, `conditions` what is not as it
    should be afterwards.
    """

    before: Ledger
    after: Ledger
    since_utc: datetime
    calendar: Calendar
    active: Collection[str]
    conditions: Sequence[Condition] = ()

    def results(
        self, partitions: Iterable[ReportPartition], windows: Sequence[WindowResult]
    ) -> list[PartitionResult]:
        """What became of every partition, in their order."""
        of_pairs = results_by_pair(windows)
        return [self._result(partition, of_pairs.get(partition.pair, [])) for partition in partitions]

    def is_fresh(self, partition: ReportPartition) -> bool:
        """Whether all of a partition was fetched since `since_utc`, by whatever run."""
        return self._are_fresh(partition.ledger_keys(self.calendar))

    def _are_fresh(self, keys: Iterable[tuple[str, str, date | None]]) -> bool:
        held = [self.after.month(*key) for key in keys]
        return all(month is not None and month.fetched_at_utc >= self.since_utc for month in held)

    def _result(self, partition: ReportPartition, windows_of_pair: Sequence[WindowResult]) -> PartitionResult:
        keys = partition.ledger_keys(self.calendar)
        # A window without months is about the whole report of its customer.
        days = {day for _, _, day in keys}
        windows = [
            window for window in windows_of_pair if not window.months or not days.isdisjoint(window.months)
        ]
        own, *ahead = [self.after.month(*key) for key in keys]
        before = self.before.month(*keys[0])
        state, reason = self._state(partition, windows)
        return PartitionResult(
            partition,
            state,
            reason,
            rows=own.rows if own else None,
            rows_before=before.rows if before else None,
            rows_ahead=sum(month.rows for month in ahead if month) if ahead else None,
            held=own,
            window=next((window for window in windows if window.status is WindowStatus.LOADED), None),
        )

    def _state(
        self, partition: ReportPartition, windows: Sequence[WindowResult]
    ) -> tuple[PartitionState, str]:
        """The state of a partition, and the reason for it."""
        for window in windows:
            if window.status in TROUBLE:
                return PartitionState.FAILED, window.sentence
        waiting = {
            day for window in windows if window.status is WindowStatus.WAITING for day in window.months
        }  # of months to come a partition is whole without those
        own, *ahead = partition.ledger_keys(self.calendar)
        keys = [own, *(key for key in ahead if key[-1] not in waiting)]
        is_held = all(self.after.month(*key) for key in keys)
        is_fresh = self._are_fresh(keys)
        if partition.customer not in self.active:
            reason = "the customer is switched off or no longer in the settings"
            return PartitionState.HELD if is_held else PartitionState.NOTHING, reason
        if partition.pair in self.after.denied and not is_fresh:
            found = refusals(*partition.pair, self.conditions)
            lost = any(condition.is_error for condition in found)
            reason = " ".join(condition.error for condition in found)
            return PartitionState.LOST_ACCESS if lost else PartitionState.NO_ACCESS, reason
        reason = "; ".join(dict.fromkeys(window.reason for window in windows if window.reason))
        if is_held:
            return PartitionState.FETCHED if is_fresh else PartitionState.HELD, reason
        if own[-1] in waiting:
            return PartitionState.WAITING, reason
        if any(window.status is WindowStatus.SKIPPED for window in windows):
            return PartitionState.NOTHING, reason
        return PartitionState.FAILED, reason or NOT_ASKED


def partitions_beyond(
    partitions: Sequence[ReportPartition], windows: Iterable[WindowResult], calendar: Calendar
) -> list[ReportPartition]:
    """Partitions of other months that were read because the service reported a change in them."""
    reports = {partition.report.name: partition.report for partition in partitions}
    selected = {(*partition.pair, month) for partition in partitions for month in partition.months(calendar)}
    read = {
        (*window.pair, Month.of(day))
        for window in windows
        if window.status not in NOT_OF_TONIGHT and window.report in reports
        for day in window.months
    }
    return [
        ReportPartition(reports[report], customer, month)
        for report, customer, month in sorted(read - selected)
    ]


def newest_fetched(results: Iterable[PartitionResult]) -> dict[str, PartitionResult]:
    """The newest fetched partition of each report."""
    return {
        result.partition.report.name: result for result in results if result.state is PartitionState.FETCHED
    }


def materializations(
    project: Project,
    results: Sequence[PartitionResult],
    previews: Mapping[str, TablePreview],
    notes: Mapping[str, Mapping[str, str]],
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation]:
    """One event for each partition, and one for all customers of a snapshot report.

    The newest fetched partition of a report carries the preview of it, and the notes on the whole run. A
    snapshot that some customer failed in is only observed, so that it is as red as its run.
    """
    newest = newest_fetched(results)
    snapshots: dict[str, list[PartitionResult]] = {}
    for result in results:
        report = result.partition.report
        if result.partition.month is None:
            snapshots.setdefault(report.name, []).append(result)
            continue
        is_newest = newest.get(report.name) is result
        preview = previews.get(report.name) if is_newest else None
        yield dg.AssetMaterialization(
            asset_key=project.key(report.name),
            partition=partition_key(result.partition.customer, result.partition.month),
            description=result.reason or None,
            metadata=_partition_metadata(result)
            | (dict(notes.get(report.name, {})) if is_newest else {})
            | (preview.metadata(column_descriptions(report.tables[0])) if preview else {}),
        )
    for name, of_report in snapshots.items():
        preview = previews.get(name)
        table = of_report[0].partition.report.tables[0]
        is_whole = any(result.is_done for result in of_report) and not any(
            result.state in RED for result in of_report
        )
        event = dg.AssetMaterialization if is_whole else dg.AssetObservation
        yield event(
            asset_key=project.key(name),
            metadata={
                ROW_COUNT: sum(result.rows or 0 for result in of_report),
                "customers": len(of_report),
                "by_customer": _customers_table(of_report),
                **notes.get(name, {}),
                **(preview.metadata(column_descriptions(table)) if preview else {}),
            },
        )


def _partition_metadata(result: PartitionResult) -> dict[str, Any]:
    metadata: dict[str, Any] = {"state": result.state.value}
    if result.rows is not None:
        metadata[PARTITION_ROW_COUNT] = result.rows
        if result.rows_before is not None:
            metadata["rows_changed"] = result.rows - result.rows_before
    if result.rows_ahead is not None:
        metadata["rows_of_months_ahead"] = result.rows_ahead
    if result.held:
        metadata["fetched_at"] = dg.MetadataValue.timestamp(result.held.fetched_at_utc)
        metadata["load_id"] = result.held.load_id
        metadata["is_open"] = dg.MetadataValue.bool(result.held.state == "open")
    if window := result.window:
        metadata["window"] = window.when
        metadata["window_requests"] = window.requests
        metadata["window_seconds"] = round(window.seconds, 3)
        metadata["window_bytes"] = window.bytes
        if window.loaded.rejected_count:
            metadata["window_rows_in_quarantine"] = window.loaded.rejected_count
        if window.warnings:
            metadata["warnings"] = dg.MetadataValue.md(
                "\n".join(f"- {warning}" for warning in window.warnings)
            )
    return metadata


def _customers_table(results: Sequence[PartitionResult]) -> dg.TableMetadataValue:
    rows = [
        (
            result.partition.customer,
            "" if result.rows is None else count(result.rows),
            "" if result.rows_before is None else count(result.rows_before),
            f"{result.state}: {result.reason}" if result.reason else result.state,
        )
        for result in results
    ]
    return table(("customer", "rows", "before", "state"), rows)


def conditions_of(results: Iterable[PartitionResult], conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions that concern the partitions that failed."""
    red = [result.partition for result in results if result.state in RED]
    return concerning(
        {(*partition.pair, partition.month.first_day if partition.month else None) for partition in red},
        conditions,
    )


def failure(
    results: Sequence[PartitionResult],
    stopped: str,
    conditions: Iterable[Condition],
    note: str = "",
) -> dg.Failure | None:
    """The failure of a run: each cause in a line, all partitions in a table; None when nothing failed.

    `stopped` says why the sync gave up, and `note` when the run is tried again, if it is.
    """
    red = [result for result in results if result.state in RED]
    if not red and not stopped:
        return None
    grouped: dict[tuple[str, str, str], list[Month]] = {}
    for result in red:
        months = grouped.setdefault((*result.partition.pair, result.reason), [])
        months += [result.partition.month] if result.partition.month else []
    rows = [(report, name, months_in_words(months), why) for (report, name, why), months in grouped.items()]
    headline = f"{count(len(red))} of {counted(len(results), 'partition')} failed"
    if customers := names(result.partition.customer for result in red):
        headline += f", of {customers}"
    said = lines(conditions) or list(dict.fromkeys(result.reason for result in red)) or [stopped]
    return dg.Failure(
        description="\n".join([f"{headline}.", *said, note or REMEDY]),
        metadata={
            FAILED: table(("report", "customer", "months", "why"), rows),
            "partitions_failed": len(red),
            "partitions_done": sum(result.is_done for result in results),
        },
    )


def plan_what_is_left(
    project: Project,
    context: dg.AssetExecutionContext,
    failed: Collection[ReportPartition] | None = None,
) -> None:
    """Plan each partition that failed by itself, so that it turns red; without a list, all that are not done.

    Dagster calls a partition failed when an event of a failed run planned it and none materialized it. Under
    DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS it plans all partitions of a report in one event, which
    is much quicker and does not count for that.
    """
    records = context.instance.get_records_for_run(context.run.run_id, of_type={PLANNED, LOGGED}).records
    events = [event for record in records if (event := record.event_log_entry.dagster_event)]
    logged = {(event.asset_key, event.partition) for event in events}
    red = {
        (project.key(partition.report.name), partition_key(partition.customer, partition.month))
        for partition in failed or ()
        if partition.month
    }
    alone = []
    for event in events:
        planned: Any = event.event_specific_data
        subset = getattr(planned, "partitions_subset", None)
        if subset is None or event.asset_key not in context.selected_asset_keys:
            continue
        for key in sorted(subset.get_partition_keys()):
            if (event.asset_key, key) not in logged and (failed is None or (event.asset_key, key) in red):
                of_key = planned._replace(partition=key, partitions_subset=None)
                alone.append(event._replace(event_specific_data=of_key))
    for event in alone:
        context.instance.report_dagster_event(event, context.run.run_id)


def may_pass(conditions: Iterable[Condition]) -> bool:
    """Whether some of what failed may be answered in a few minutes."""
    return any(condition.cause in PASSING for condition in conditions)


def summary_line(results: Sequence[PartitionResult]) -> str:
    """The last line of a run's log: how many partitions ended in which state, with how many rows."""
    number = Counter(result.state for result in results)
    fetched = [result for result in results if result.state is PartitionState.FETCHED]
    rows = sum((result.rows or 0) + (result.rows_ahead or 0) for result in fetched)
    states = ", ".join(f"{count(number[state])} {state}" for state in PartitionState if number[state])
    partitions = counted(len(results), "partition")
    return f"{partitions}: {states}; the fetched ones hold {counted(rows, 'row')}."
