"""Rules by kind of report: which months are requested every night, on a change, and on a day of their own."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.months import Month
from pipelines.planning.due import (
    DAYS_OF_FOUR_WEEKS,
    DUE_MONTHS_MONTHLY,
    NO_MONTHS,
    WITHOUT_DELAY,
    Calendar,
    HeldMonths,
    Rules,
    months_in_scope,
)
from pipelines.planning.selection import Pair, Selection
from warehouse.ledger.ids import KnownIds
from warehouse.ledger.ledger import Cap, Ledger

if TYPE_CHECKING:
    from pipelines.settings.model import Customer

COUNTERPART_DAYS = 3
"""A counterpart that was not requested for these days reports no changes."""
OLDER_MONTHS = 10
"""About as many months of a report have a day of four weeks; those of the next report come after them."""


@dataclass(frozen=True)
class PlanInputs:
    """Everything that a plan is made from. `most_ids` and `most_changed` are caps of one night."""

    calendar: Calendar
    ledger: Ledger
    selection: Selection
    reports: Sequence[Report]
    customers: Sequence[Customer]
    ids: Mapping[Pair, KnownIds] = field(default_factory=dict)
    unsettled: Mapping[Pair, Collection[date]] = field(default_factory=dict)
    most_ids: int = 0
    most_changed: int = 0

    @cached_property
    def held(self) -> Mapping[Pair, HeldMonths]:
        """The stored months of every report and customer."""
        return {
            pair: {Month.of(day) if day else None: held for day, held in days.items()}
            for pair, days in self.ledger.held.items()
        }

    @cached_property
    def sales_changed(self) -> Mapping[Pair, Mapping[Month, datetime]]:
        """Months in which the service changed a sale, and since when they are due; empty if not followed."""
        changed: dict[Pair, dict[Month, datetime]] = {}
        for (report, customer, day), since in self.ledger.changed.items() if self.most_changed else ():
            changed.setdefault((report, customer), {})[Month.of(day)] = since
        return changed

    def cap(self, pair: Pair) -> Cap:
        """The largest requests that the service was seen to accept for a report and customer."""
        return self.ledger.caps.get(pair) or Cap()


class ReportKind(StrEnum):
    """What decides when the months of a report are requested again."""

    SEVERAL_MONTHS = "not a budget, or a request covers several months"
    SINGLE_MONTHS = "a budget that is requested month by month"
    COUNTERPART_TO_COME = "the same, and a counterpart will be requested for all months together"
    COUNTERPART_READ = "the same, and the counterpart was requested so lately"


@dataclass(frozen=True)
class Rule:
    """The rule of one kind: `nightly` months, those with `changes`, and those that `may_wait` if never read.

    Ranges are ages in months, negative ones are to come.
    """

    nightly: range
    changes: Callable[[PlanInputs, Report, str], Mapping[Month, datetime]]
    may_wait: range


def table_of_rules(calendar: Calendar) -> Mapping[ReportKind, Rule]:
    """The rule of every kind of report."""
    ahead, latest = -calendar.months_ahead, calendar.due_months
    past = DUE_MONTHS_MONTHLY - 1  # an older month has no day of its own any more
    return {
        ReportKind.SEVERAL_MONTHS: Rule(range(ahead, latest), changed_sales_of, NO_MONTHS),
        ReportKind.SINGLE_MONTHS: Rule(WITHOUT_DELAY, changes_of_its_own, range(ahead, 0)),
        ReportKind.COUNTERPART_TO_COME: Rule(WITHOUT_DELAY, changes_of_its_own, range(ahead, past)),
        ReportKind.COUNTERPART_READ: Rule(NO_MONTHS, changes_of_counterpart, range(ahead, past)),
    }


def kind_of(inputs: PlanInputs, report: Report, customer: str) -> ReportKind:
    """The kind of a report for a customer tonight."""
    counterpart = report.timing.counterpart
    if not report.timing.weekly or months_together(inputs, report, customer) > 1:
        return ReportKind.SEVERAL_MONTHS
    if counterpart and _is_read(inputs, (counterpart, customer)):
        return ReportKind.COUNTERPART_READ
    if counterpart and _will_be_read(inputs, (counterpart, customer)):
        return ReportKind.COUNTERPART_TO_COME
    return ReportKind.SINGLE_MONTHS


def rules_for(inputs: PlanInputs, report: Report, customer: str, kind: ReportKind | None = None) -> Rules:
    """The rules of a report for a customer, by its kind or by another kind."""
    kind = kind or kind_of(inputs, report, customer)
    rule = table_of_rules(inputs.calendar)[kind]
    return Rules(
        report,
        inputs.calendar,
        months_together(inputs, report, customer) if kind is ReportKind.SEVERAL_MONTHS else 1,
        # the months of each customer come later than those of others, of most by another number of days
        offset=report.timing.place * OLDER_MONTHS + zlib.crc32(customer.encode()) % DAYS_OF_FOUR_WEEKS,
        nightly=rule.nightly,
        may_wait=rule.may_wait if inputs.selection.asks_for_changes else NO_MONTHS,
        failed={*map(Month.of, inputs.ledger.failed.get((report.name, customer), ()))},
        changed=rule.changes(inputs, report, customer),
        unsettled=unsettled_months(inputs, report, customer) if inputs.selection.asks_for_changes else (),
        refresh=inputs.selection.refresh,
        fresh_since=inputs.selection.fresh_since,
    )


def months_together(inputs: PlanInputs, report: Report, customer: str) -> int:
    """How many months one request covers: as declared, or the fewer that were learned."""
    learned = inputs.cap((report.name, customer)).months
    return min(report.endpoint.window_months, learned or report.endpoint.window_months)


def unsettled_months(inputs: PlanInputs, report: Report, customer: str) -> Sequence[Month]:
    """The months with rows that the service will still change that are due: those read longest ago."""
    pair, calendar = (report.name, customer), inputs.calendar
    held = inputs.held.get(pair, {})
    months = {
        month: held[month].fetched_at_utc
        for month in map(Month.of, inputs.unsettled.get(pair, ()))
        if month in held and calendar.age(month) >= calendar.due_months
    }
    unread = [month for month, moment in months.items() if calendar.day_of(moment) < calendar.today]
    most = report.timing.unsettled.most if report.timing.unsettled else 0
    return sorted(unread, key=lambda month: months[month])[: max(most - len(months) + len(unread), 0)]


def changed_sales_of(inputs: PlanInputs, report: Report, customer: str) -> Mapping[Month, datetime]:
    """The months in which a sale was changed."""
    return inputs.sales_changed.get((report.name, customer), {}) if report.timing.follows_sales else {}


def changes_of_its_own(inputs: PlanInputs, report: Report, customer: str) -> Mapping[Month, datetime]:
    """All latest and coming months, if the answer for any of them has changed."""
    own, calendar = inputs.ledger.snapshots_changed.get((report.name, customer), {}), inputs.calendar
    latest = [
        month for month in months_in_scope(report, calendar) if calendar.age(month) < calendar.due_months
    ]
    noticed = [own[month.first_day] for month in latest if month.first_day in own]
    return dict.fromkeys(latest, max(noticed)) if noticed else {}


def changes_of_counterpart(inputs: PlanInputs, report: Report, customer: str) -> Mapping[Month, datetime]:
    """The months for which the answer of the counterpart has changed."""
    changes = inputs.ledger.snapshots_changed.get((report.timing.counterpart or "", customer), {})
    return {Month.of(day): moment for day, moment in changes.items() if day}


def _is_read(inputs: PlanInputs, pair: Pair) -> bool:
    """Whether a report is requested these days, and for many months together."""
    current = inputs.held.get(pair, {}).get(inputs.calendar.this_month)
    if current is None or pair in inputs.ledger.denied or inputs.cap(pair).months == 1:
        return False
    fetched = inputs.calendar.day_of(current.fetched_at_utc)
    return fetched >= inputs.calendar.today - timedelta(days=COUNTERPART_DAYS)


def _will_be_read(inputs: PlanInputs, pair: Pair) -> bool:
    """Whether a report is part of the plan, and was understood if it was read before."""
    is_chosen = any(report.name == pair[0] for report in inputs.reports)
    return is_chosen and pair[0] not in inputs.ledger.not_understood and pair not in inputs.ledger.denied
