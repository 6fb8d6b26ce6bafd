"""Results of a run: the state of each partition, its event in Dagster, and the failure of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import dagster as dg

from assets.metadata import PARTITION_ROW_COUNT, ROW_COUNT, table
from assets.partitions import ReportPartition, partition_key
from assets.project import Project
from pipelines.causes import PASSING, concerning, lines, names, refusals
from pipelines.months import Month
from pipelines.planning.due import Calendar
from pipelines.sync.summary import NOT_OF_TONIGHT, TROUBLE
from pipelines.words import count, counted
from warehouse.ledger.conditions import Condition
from warehouse.ledger.ledger import HeldMonth, Ledger
from warehouse.ledger.window_result import WindowResult, WindowStatus

NOT_ASKED = "not requested: the run ended before its turn"
CAUSES = "causes"
"""The metadata of a failure that meta.conditions has: the number of its causes."""
REMEDY = "Re-execute this run from failure: it requests only what is missing then."


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
    """What became of one partition: its month in the ledger, and the window that loaded it in this run."""

    partition: ReportPartition
    state: PartitionState
    reason: str
    month: HeldMonth | None
    window: WindowResult | None

    @property
    def rows(self) -> int:
        return self.month.rows if self.month else 0

    @property
    def is_done(self) -> bool:
        """Whether the partition is materialized: nothing more can be done for it today."""
        return self.state not in UNREAD


@dataclass(frozen=True)
class Outcome:
    """What a sync left: its windows by report and customer, the ledger and the conditions.

    A month that was fetched since `since_utc` counts as fetched by this run. `active` are the customers that
    the settings name and that are switched on.
    """

    windows: Mapping[tuple[str, str], Sequence[WindowResult]]
    ledger: Ledger
    conditions: Sequence[Condition]
    since_utc: datetime
    calendar: Calendar
    active: Collection[str]

    def result(self, partition: ReportPartition) -> PartitionResult:
        """The state of a partition, and the reason for it."""
        keys = partition.ledger_keys(self.calendar)
        days = {day for _, _, day in keys}
        windows = [
            window
            for window in self.windows.get(partition.pair, ())
            if not window.months or not days.isdisjoint(window.months)  # without months: the whole report
        ]
        loaded = next((window for window in windows if window.status is WindowStatus.LOADED), None)
        return PartitionResult(
            partition, *self._state(partition, windows), self.ledger.month(*keys[0]), loaded
        )

    def _state(
        self, partition: ReportPartition, windows: Sequence[WindowResult]
    ) -> tuple[PartitionState, str]:
        for window in windows:
            if window.status in TROUBLE:
                return PartitionState.FAILED, window.sentence
        waiting = {
            day for window in windows if window.status is WindowStatus.WAITING for day in window.months
        }
        own = partition.ledger_keys(self.calendar)[0]
        month = self.ledger.month(*own)
        is_held, is_fetched = month is not None, is_fresh(month, self.since_utc)
        if partition.customer not in self.active:
            reason = "the customer is switched off or no longer in the settings"
            return PartitionState.HELD if is_held else PartitionState.NOTHING, reason
        if partition.pair in self.ledger.denied and not is_fetched:
            denials = refusals(*partition.pair, self.conditions)
            is_lost = any(condition.is_error for condition in denials)
            reason = " ".join(condition.error for condition in denials)
            return PartitionState.LOST_ACCESS if is_lost else PartitionState.NO_ACCESS, reason
        reason = "; ".join(dict.fromkeys(window.reason for window in windows if window.reason))
        if is_held:
            return PartitionState.FETCHED if is_fetched else PartitionState.HELD, reason
        if own[-1] in waiting:
            return PartitionState.WAITING, reason
        if any(window.status is WindowStatus.SKIPPED for window in windows):
            return PartitionState.NOTHING, reason
        return PartitionState.FAILED, reason or NOT_ASKED


def is_fresh(month: HeldMonth | None, since_utc: datetime) -> bool:
    """Whether a month was fetched since a moment, by whatever run."""
    return month is not None and month.fetched_at_utc >= since_utc


def with_changed_months(
    partitions: Sequence[ReportPartition], windows: Iterable[WindowResult], calendar: Calendar
) -> list[ReportPartition]:
    """These partitions, and those of earlier months in which the service reported a change."""
    reports = {partition.report.name: partition.report for partition in partitions}
    known = {(*partition.pair, partition.month): partition for partition in partitions}
    for window in windows:
        if window.status not in NOT_OF_TONIGHT and window.report in reports:
            for month in map(Month.of, window.months):
                if month < calendar.this_month:
                    partition = ReportPartition(reports[window.report], window.customer, month)
                    known.setdefault((*window.pair, month), partition)
    return list(known.values())


def events_of(
    project: Project, results: Iterable[PartitionResult]
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation]:
    """An event for each partition that is done, and one for all customers of a report without months.

    A report without months that failed for a customer is only observed, so that it is as red as its run.
    """
    without_months: dict[dg.AssetKey, list[PartitionResult]] = {}
    for result in results:
        partition, key = result.partition, project.key(result.partition.report.name)
        if partition.month is None:
            without_months.setdefault(key, []).append(result)
        elif result.is_done:
            yield dg.AssetMaterialization(
                asset_key=key,
                partition=partition_key(partition.customer, partition.month),
                description=result.reason or None,
                metadata=_metadata(result),
            )
    for key, of_report in without_months.items():
        states = {result.state for result in of_report}
        event = dg.AssetMaterialization if states - UNREAD and not states & RED else dg.AssetObservation
        rows = [(result.partition.customer, result.rows, result.state, result.reason) for result in of_report]
        shown = table(("customer", "rows", "state", "reason"), rows)
        total = sum(result.rows for result in of_report)
        yield event(asset_key=key, metadata={ROW_COUNT: total, "by_customer": shown})


def _metadata(result: PartitionResult) -> dict[str, Any]:
    metadata: dict[str, Any] = {"state": result.state.value}
    if result.month:
        metadata[PARTITION_ROW_COUNT] = result.month.rows
        metadata["fetched_at"] = dg.MetadataValue.timestamp(result.month.fetched_at_utc)
    if window := result.window:
        metadata |= {"window": window.when, "window_requests": window.requests}
        metadata["window_rows_in_quarantine"] = window.loaded.rejected_count
        if window.warnings:
            metadata["warnings"] = "\n".join(window.warnings)
    return metadata


def conditions_of(results: Iterable[PartitionResult], conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions that concern the partitions that failed."""
    red = [result.partition for result in results if result.state in RED]
    return concerning(
        {(*partition.pair, partition.month.first_day if partition.month else None) for partition in red},
        conditions,
    )


def may_pass(conditions: Iterable[Condition]) -> bool:
    """Whether some of what failed may be answered in a few minutes."""
    return any(condition.cause in PASSING for condition in conditions)


def failure(
    results: Sequence[PartitionResult], stopped: str, conditions: Sequence[Condition], note: str
) -> dg.Failure | None:
    """The failure of a run, with a line for each cause; None if nothing failed.

    `stopped` is why the sync gave up, and `note` what comes next.
    """
    red = [result for result in results if result.state in RED]
    if not red and not stopped:
        return None
    headline = f"{count(len(red))} of {counted(len(results), 'partition')} failed"
    if customers := names(result.partition.customer for result in red):
        headline += f", of {customers}"
    causes = lines(conditions)
    reasons = causes or list(dict.fromkeys(result.reason for result in red)) or [stopped]
    return dg.Failure(
        "\n".join([f"{headline}.", *reasons, note]), metadata={CAUSES: len(causes)} if causes else {}
    )


def summary_line(results: Sequence[PartitionResult]) -> str:
    """The last line of a run's log: how many partitions ended in which state, with how many rows."""
    number = Counter(result.state for result in results)
    states = ", ".join(f"{count(number[state])} {state}" for state in PartitionState if number[state])
    rows = sum(result.rows for result in results if result.state is PartitionState.FETCHED)
    partitions = counted(len(results), "partition")
    return f"{partitions}: {states}; the fetched ones hold {counted(rows, 'row')}."


def turn_red(
    project: Project, context: dg.AssetExecutionContext, partitions: Iterable[ReportPartition]
) -> None:
    """Plan each of these partitions by itself, which turns it red.

    Dagster calls a partition failed if an event of a failed run planned it and none materialized it. Under
    DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS it plans all partitions of a report in one event, which
    is much quicker and does not count for that.
    """
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
    records = context.instance.get_records_for_run(context.run.run_id, of_type=kind).records
    events = [event for record in records if (event := record.event_log_entry.dagster_event)]
    planned: dict[Any, Any] = {event.asset_key: event for event in events if not event.partition}
    for partition in partitions:
        event = planned.get(project.key(partition.report.name))
        if event and partition.month:
            key = partition_key(partition.customer, partition.month)
            alone = event.event_specific_data._replace(partition=key, partitions_subset=None)
            event = event._replace(event_specific_data=alone)
            context.instance.report_dagster_event(event, context.run.run_id)
