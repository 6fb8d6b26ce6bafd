"""Schedules: one nightly run for what is due, and a run for each customer that lacks older months."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import dagster as dg

from assets.partitions import customers_in_order, partition_key
from assets.project import Project
from assets.reports import HELD, SKIP
from assets.runs.under_way import CATCH_UP_OF, NIGHT_OF, RANGE_END, RANGE_START, customers_being_fetched
from pipelines.months import Month
from pipelines.planning.due import Calendar, calendar
from pipelines.planning.plan import PlannedReport, make_plan
from pipelines.planning.selection import Pair, Selection
from warehouse.errors import WarehouseError
from warehouse.store.database import Store

NIGHTLY = "nightly"
CATCH_UP = "catch_up"
HIGH_PRIORITY = {"dagster/priority": "10"}
LOCK_SECONDS = 30.0
SHARE_OF_CUSTOMERS = 0.5
"""A month that is due for this share of the customers is part of the nightly range."""


@dataclass(frozen=True)
class PartitionRange:
    """Neighbouring customers by neighbouring months."""

    customers: tuple[str, ...]
    first: Month
    last: Month

    @property
    def tags(self) -> Mapping[str, str]:
        """The run tags by which Dagster materializes the range in one run."""
        return {
            RANGE_START: partition_key(self.customers[0], self.first),
            RANGE_END: partition_key(self.customers[-1], self.last),
        }


def nightly_schedule(project: Project) -> dg.ScheduleDefinition:
    """One run for all customers and all months that are due."""

    @dg.schedule(
        name=NIGHTLY,
        job_name=NIGHTLY,
        cron_schedule=project.settings.nightly,
        execution_timezone=project.settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Every night, in one run: all customers, all months that are due.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        moment = _local(project, context)
        due, _ = _planned_ranges(project, moment, context)
        tags = {**due.tags, HELD: SKIP, NIGHT_OF: f"{moment:%Y-%m-%d}", **HIGH_PRIORITY}
        return dg.RunRequest(run_key=f"night {moment:%Y-%m-%d %H:%M}", tags=tags)

    return nightly


def catch_up_schedule(project: Project) -> dg.ScheduleDefinition:
    """A run for each customer that lacks months before those of the nightly run."""

    @dg.schedule(
        name=CATCH_UP,
        job_name=CATCH_UP,
        cron_schedule=project.settings.nightly,
        execution_timezone=project.settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Beside the night: a run for each customer that lacks older months. A new customer "
        "lacks all of them and is fetched from the start by itself; a month that failed is tried again.",
    )
    def catch_up(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        moment = _local(project, context)
        _, older = _planned_ranges(project, moment, context)
        being_fetched = customers_being_fetched(
            project, context.instance, customers_in_order(project.settings)
        )
        lacking = [one for one in older if being_fetched.isdisjoint(one.customers)]
        for one in lacking:
            (customer,) = one.customers
            tags = {**one.tags, HELD: SKIP, CATCH_UP_OF: customer}
            yield dg.RunRequest(run_key=f"{customer} {moment:%Y-%m-%d %H:%M}", tags=tags)
        if not lacking:
            yield dg.SkipReason("No customer lacks older months that are not being fetched already.")

    return catch_up


def plan_night(
    planned: Sequence[PlannedReport], denied: Iterable[Pair], customers: Sequence[str], calendar: Calendar
) -> tuple[PartitionRange, list[PartitionRange]]:
    """The nightly range over all customers, and one range for each customer that lacks older months.

    The nightly range reaches back from the current month for as long as most customers have something due
    in the month before. Older months of a report that was refused (403) are left to the nightly run itself,
    and months that are due on a day of their own, or only because something was changed, are read by it
    whatever its range.
    """
    refused = set(denied)
    due: dict[str, set[Month]] = {}
    lacking: dict[str, set[Month]] = {}
    for one in planned:
        anyway = set(one.wanted.due_anywhere)
        due.setdefault(one.customer.id, set()).update(set(one.wanted.due) - anyway)
        if one.pair not in refused:
            lacking.setdefault(one.customer.id, set()).update(set(one.wanted.months) - anyway)
    customers_due = Counter(month for months in due.values() for month in months)
    first, usual = calendar.this_month, usual_range(customers, calendar)
    while first > calendar.start and (
        first > usual.first or customers_due[first.plus(-1)] >= max(len(customers) * SHARE_OF_CUSTOMERS, 1)
    ):
        first = first.plus(-1)
    older = {
        customer: sorted(month for month in lacking.get(customer, ()) if month < first)
        for customer in customers
    }
    return (
        PartitionRange(tuple(customers), first, calendar.this_month),
        [PartitionRange((name,), months[0], months[-1]) for name, months in older.items() if months],
    )


def usual_range(customers: Sequence[str], calendar: Calendar) -> PartitionRange:
    """The nightly range when nothing is known of what is held: the months that are due every night."""
    first = max(calendar.start, calendar.this_month.plus(1 - calendar.due_months))
    return PartitionRange(tuple(customers), min(first, calendar.this_month), calendar.this_month)


def _planned_ranges(
    project: Project, moment: datetime, context: dg.ScheduleEvaluationContext
) -> tuple[PartitionRange, Sequence[PartitionRange]]:
    """The ranges of a tick, on the day it was meant for, however late it is evaluated."""
    settings = project.settings.model_copy(update={"today": project.settings.today or moment.date()})
    customers = [customer.id for customer in settings.active_customers]
    days = calendar(settings, settings.today_local(project.clock))
    store = Store(settings.data_dir, lock_seconds=LOCK_SECONDS)
    try:
        plan, ledger = make_plan(settings, Selection(), store, project.clock, project.run_context.catalogue)
    except WarehouseError as error:
        context.log.warning(f"What is held cannot be read, so the usual months are asked for: {error}")
        return usual_range(customers, days), ()
    return plan_night(plan.planned, ledger.denied, customers, days)


def _local(project: Project, context: dg.ScheduleEvaluationContext) -> datetime:
    return context.scheduled_execution_time.astimezone(ZoneInfo(project.settings.timezone))
