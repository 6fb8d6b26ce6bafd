"""Results of a run: the state of each partition, its Dagster event, and the failure of the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import dagster as dg

from assets.metadata import PARTITION_ROW_COUNT, ROW_COUNT, table
from assets.partitions import ReportPartition
from assets.project import Project
from pipelines.causes import cause_lines, denial_conditions, list_names
from pipelines.months import Month
from pipelines.planning.due import Calendar
from pipelines.planning.selection import Pair
from pipelines.sync.summary import FAILING
from pipelines.words import count, counted
from warehouse.ledger.conditions import Condition
from warehouse.ledger.ledger import Ledger, StoredMonth
from warehouse.ledger.window_result import WindowResult, WindowStatus

NOT_REQUESTED = "not requested: the run ended first"
SWITCHED_OFF = "the customer is switched off"
CAUSES = "causes"
"""Metadata key of a failure: how many of its lines state causes from meta.conditions."""


class PartitionState(StrEnum):
    """A partition's state after a run. The UI shows FAILED red, UNCHANGED as before, and the others green."""

    FETCHED = "fetched"
    NOT_DUE = "not due"
    UNCHANGED = "left as it was"
    FAILED = "failed"


@dataclass(frozen=True)
class PartitionResult:
    """The result for one partition: its state, its month in the ledger, and the window that loaded it."""

    partition: ReportPartition
    state: PartitionState
    reason: str
    month: StoredMonth | None
    window: WindowResult | None

    @property
    def is_done(self) -> bool:
        """Whether to materialize the partition, which turns it green."""
        return self.state in (PartitionState.FETCHED, PartitionState.NOT_DUE)


@dataclass(frozen=True)
class Outcome:
    """Decides the state of each partition after a sync.

    `windows` are those of the sync. `has_stopped` is true if the sync gave up before it requested everything.
    A month fetched since `since_utc` counts as fetched by this run. `active` has the ids of active customers.
    """

    windows: Mapping[Pair, Sequence[WindowResult]]
    ledger: Ledger
    conditions: Sequence[Condition]
    has_stopped: bool
    since_utc: datetime
    calendar: Calendar
    active: Collection[str]

    def result(self, partition: ReportPartition) -> PartitionResult:
        keys = partition.ledger_keys(self.calendar)
        days = {day for _, _, day in keys}
        windows = [
            window
            for window in self.windows.get(partition.pair, ())
            # a window without months covers the whole report
            if not window.months or not days.isdisjoint(window.months)
        ]
        month = self.ledger.month(*keys[0])
        loaded = next((window for window in windows if window.status is WindowStatus.LOADED), None)
        return PartitionResult(partition, *self._state(partition, month, windows), month, loaded)

    def _state(
        self, partition: ReportPartition, month: StoredMonth | None, windows: Sequence[WindowResult]
    ) -> tuple[PartitionState, str]:
        statuses = {window.status for window in windows}
        reason = "; ".join(dict.fromkeys(window.reason for window in windows if window.reason))
        if failed := [window for window in windows if window.status in FAILING]:
            return PartitionState.FAILED, failed[0].sentence
        if is_fresh(month, self.since_utc):
            return PartitionState.FETCHED, reason
        if partition.customer not in self.active:
            return PartitionState.NOT_DUE, SWITCHED_OFF
        if denials := partition.pair in self.ledger.denied and denial_conditions(
            *partition.pair, self.conditions
        ):
            is_lost = any(condition.is_error for condition in denials)
            reason = " ".join(condition.error for condition in denials)
            return PartitionState.FAILED if is_lost else PartitionState.UNCHANGED, reason
        of_pair = {window.status for window in self.windows.get(partition.pair, ())}
        is_answered = of_pair.isdisjoint(FAILING) or WindowStatus.LOADED in of_pair
        if month and (self.has_stopped or not is_answered):
            return PartitionState.UNCHANGED, reason
        if month or WindowStatus.SKIPPED in statuses:
            return PartitionState.NOT_DUE, reason
        return PartitionState.FAILED, reason or NOT_REQUESTED


def is_fresh(month: StoredMonth | None, since_utc: datetime) -> bool:
    """Whether a month was fetched since `since_utc`, by any run or command."""
    return month is not None and month.fetched_at_utc >= since_utc


def with_earlier_months(
    partitions: Sequence[ReportPartition],
    windows: Iterable[WindowResult],
    fetched: Iterable[tuple[str, str, date]],
) -> list[ReportPartition]:
    """The partitions, plus those of earlier months that failed in `windows` or are in `fetched`."""
    reports = {partition.report.name: partition.report for partition in partitions}
    first = min(partition.month for partition in partitions if partition.month)
    failed = [
        (window.report, window.customer, day)
        for window in windows
        if window.status in FAILING
        for day in window.months
    ]
    earlier = [
        ReportPartition(reports[report], customer, month)
        for report, customer, day in dict.fromkeys([*failed, *fetched])
        if report in reports and (month := Month.of(day)) < first
    ]
    return [*partitions, *earlier]


def materialization(project: Project, result: PartitionResult) -> dg.AssetMaterialization:
    """The event of a finished partition."""
    partition, month, window = result.partition, result.month, result.window
    metadata: dict[str, Any] = {"state": result.state.value}
    if month:
        metadata[PARTITION_ROW_COUNT] = month.rows
        metadata["fetched_at"] = dg.MetadataValue.timestamp(month.fetched_at_utc)
    if window:
        metadata |= {"window": window.when, "window_requests": window.requests}
        if window.warnings:
            metadata["warnings"] = "\n".join(window.warnings)
    return dg.AssetMaterialization(
        asset_key=project.key(partition.report.name),
        partition=partition.key,
        description=result.reason or None,
        metadata=metadata,
    )


def snapshot_events(
    project: Project, results: Iterable[PartitionResult]
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation]:
    """One event for each report without months; it covers all customers.

    If at least one customer is done and none failed, the event is a materialization, which turns the report
    green. Otherwise it is an observation, which turns nothing green.
    """
    by_key: dict[dg.AssetKey, list[PartitionResult]] = {}
    for result in results:
        if result.partition.month is None:
            by_key.setdefault(project.key(result.partition.report.name), []).append(result)
    for key, group in by_key.items():
        has_failed = any(result.state is PartitionState.FAILED for result in group)
        is_done = any(result.is_done for result in group) and not has_failed
        rows = [(r.partition.customer, r.month.rows if r.month else 0, r.state, r.reason) for r in group]
        by_customer = table(("customer", "rows", "state", "reason"), rows)
        metadata: dict[str, Any] = {ROW_COUNT: sum(row[1] for row in rows), "by_customer": by_customer}
        yield (dg.AssetMaterialization if is_done else dg.AssetObservation)(key, metadata=metadata)


def failure(
    results: Sequence[PartitionResult], stopped: str, conditions: Sequence[Condition], note: str
) -> dg.Failure | None:
    """The failure of a run, with lines for its first causes.

    None if no partition failed and the sync did not stop. `stopped` is the reason why the sync gave up, if it
    did. `conditions` are those of the failed partitions. `note` says what to do next.
    """
    failed = [result for result in results if result.state is PartitionState.FAILED]
    if not failed and not stopped:
        return None
    headline = f"{count(len(failed))} of {counted(len(results), 'partition')} failed"
    if customers := list_names(result.partition.customer for result in failed):
        headline += f" ({customers})"
    causes = cause_lines(conditions)
    reasons = causes or list(dict.fromkeys(result.reason for result in failed)) or [stopped]
    return dg.Failure(
        "\n".join([f"{headline}.", *reasons, note]).rstrip(), metadata={CAUSES: len(causes)} if causes else {}
    )


def turn_red(
    project: Project, context: dg.AssetExecutionContext, partitions: Iterable[ReportPartition]
) -> None:
    """Turn these partitions red by logging a planned event for each.

    Dagster shows a partition as failed if a failed run planned it and did not materialize it. But our
    installations set DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS, which is faster: one event then plans
    all partitions of a report. That event turns no partition red.
    """
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
    records = context.instance.get_records_for_run(context.run.run_id, of_type=kind).records
    events = [event for record in records if (event := record.event_log_entry.dagster_event)]
    planned: dict[Any, Any] = {event.asset_key: event for event in events if not event.partition}
    for partition in partitions:
        event = planned.get(project.key(partition.report.name))
        if event and partition.key:
            data = event.event_specific_data._replace(partition=partition.key, partitions_subset=None)
            event = event._replace(event_specific_data=data)
            context.instance.report_dagster_event(event, context.run.run_id)
