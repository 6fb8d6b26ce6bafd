"""Due months: the rules by which the months of a report are requested again.

docs/operators.md explains the rules. A month stays due until it is fetched on or after its due day, so
a missed nightly run loses nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.months import Month, months_between
from pipelines.planning.selection import Pair, Selection
from warehouse.ledger.ids import KnownIds
from warehouse.ledger.ledger import Cap, Ledger, StoredMonth

if TYPE_CHECKING:
    from pipelines.settings.model import Customer, Settings

StoredMonths = Mapping[Month | None, StoredMonth]
"""The stored months of one report of one customer; a report without months is stored under None."""
Reason = Literal["nightly", "failed", "changed", "weekly", "monthly", "unsettled", "chosen"]
"""The rule by which a month is requested again; `chosen` means that the operator requested a refresh."""

DAYS_IN_WEEK, DAYS_IN_FOUR_WEEKS = 7, 28
MONTHLY_BELOW_AGE = 13
"""Months are requested again every four weeks until they are this many months old."""
DAYS_BETWEEN_REPORTS = 10
"""A report's months are due this many days after the same months of the previous report in the catalogue.

The four-weekly rule applies to about ten months of a report. If each takes a request, one is due a day.
"""


class Due(NamedTuple):
    """The day on which the nightly run requests a month, and the rule that makes it due."""

    day: date
    reason: Reason


@dataclass(frozen=True)
class Calendar:
    """Today in the brokerage's time zone, and the bounds of the months that are requested.

    No month before `start` is requested. `due_months` is how many months count as the latest, this month
    included: if it is 3, the latest months in May are March, April and May. Budgets are also requested for
    `months_ahead` future months.
    """

    today: date
    start: Month
    timezone: ZoneInfo
    due_months: int
    months_ahead: int

    @cached_property
    def this_month(self) -> Month:
        return Month.of(self.today)

    def age(self, month: Month) -> int:
        """The age of a month in months; negative for future months."""
        return self.this_month.since(month)

    def local_day(self, time: datetime) -> date:
        """The day on which a time falls in the brokerage's time zone."""
        return time.astimezone(self.timezone).date()


def make_calendar(settings: Settings, today: date) -> Calendar:
    """The calendar of a sync on the day `today`."""
    bounds = settings.due_months, settings.budget_months_ahead
    return Calendar(today, settings.start, ZoneInfo(settings.timezone), *bounds)


@dataclass(frozen=True)
class Rules:
    """The rules for the months of one report of one customer.

    - The latest and future months are due every night. So are months that were fetched before they ended.
    - If `is_spread_over_week`, no month is due every night. Instead, each of the latest and future months
      is due once in seven nights or, if there are only five of them, once in five nights.
    - Other months up to twelve months old are due once in four weeks. Months of the same request are due on
      the same day: with three months in a request, January to March are due one day before April to June.
    - `offset` shifts the days of the weekly and of the four-weekly rule.
    - Any month is due immediately if its last request failed, if it changed after it was fetched, or if it
      is unsettled (its rows may still change).
    - `selection` overrides these rules: a month fetched after `selection.fresh_since` is not requested. If
      `selection.refresh` is true, all remaining stored months are requested.
    """

    report: Report
    calendar: Calendar
    months_at_once: int
    offset: int = 0
    failed: Collection[Month] = ()
    changed_at: Mapping[Month, datetime] = field(default_factory=dict)
    unsettled: Collection[Month] = ()
    selection: Selection = field(default_factory=Selection)

    @property
    def is_spread_over_week(self) -> bool:
        """Whether the latest and future months take turns, instead of all being due every night.

        This is true for budgets if each month takes a request of its own.
        """
        return self.report.timing.months_ahead and self.months_at_once == 1

    def reason(self, month: Month, stored: StoredMonth) -> Reason | None:
        """Why a month is requested today; None if it is not."""
        if self.selection.is_fresh(stored.fetched_at_utc):
            return None
        if self.selection.refresh:
            return "chosen"
        if not self.is_spread_over_week and (self._is_latest(month) or stored.state == "open"):
            return "nightly"
        if month in self.failed:
            return "failed"
        days = self._days_between_requests(month)
        if days and self.calendar.local_day(stored.fetched_at_utc) < self._last_due_day(month, days):
            return "weekly" if self._is_latest(month) else "monthly"
        if month in self.changed_at and stored.fetched_at_utc < self.changed_at[month]:
            return "changed"
        return "unsettled" if month in self.unsettled else None

    def next_due(self, month: Month, stored: StoredMonth) -> Due | None:
        """When a month is requested next, today or later; None if no rule makes it due again."""
        if reason := self.reason(month, stored):
            return Due(self.calendar.today, reason)
        days, next_month_day = self._days_between_requests(month), self.calendar.this_month.plus(1).first_day
        if days and (day := self._last_due_day(month, days) + timedelta(days=days)) < next_month_day:
            return Due(day, "weekly" if self._is_latest(month) else "monthly")
        if self.calendar.age(month) >= MONTHLY_BELOW_AGE:
            return None
        # from next month on, another rule may apply
        return replace(self, calendar=replace(self.calendar, today=next_month_day)).next_due(month, stored)

    def _is_latest(self, month: Month) -> bool:
        """Whether a month is one of the latest months or a future one."""
        return self.calendar.age(month) < self.calendar.due_months

    def _days_between_requests(self, month: Month) -> int | None:
        """The days between two requests of a month; None if no weekly or four-weekly rule applies."""
        calendar = self.calendar
        if self._is_latest(month):  # the cycle has a night for each such month, but at most seven nights
            cycle = min(DAYS_IN_WEEK, calendar.due_months + calendar.months_ahead)
            return cycle if self.is_spread_over_week else None
        return DAYS_IN_FOUR_WEEKS if calendar.age(month) < MONTHLY_BELOW_AGE else None

    def _last_due_day(self, month: Month, days: int) -> date:
        """The most recent due day of a month, today included, if it is due every `days` days."""
        number = month.ordinal // self.months_at_once + self.offset
        return self.calendar.today - timedelta(days=(self.calendar.today.toordinal() - number) % days)


def months_in_scope(report: Report, calendar: Calendar) -> Iterator[Month]:
    """Every month for which the report may be requested.

    Only budgets have future months. Older months are left out if the service calculates only recent ones
    (interface, Limits: LiveData/CommissionReport).
    """
    first, last = calendar.start, calendar.this_month
    if report.timing.latest_months is not None:
        first = max(first, last.plus(1 - report.timing.latest_months))
    if report.timing.months_ahead:
        last = last.plus(calendar.months_ahead)
    return months_between(first, last)


@dataclass(frozen=True)
class PlannedMonths:
    """The months to request of one report of one customer.

    `missing` months were never loaded. `due` months are stored, and a rule requests them again.
    `postponed` months changed, but exceed the nightly cap. `not_requested` counts the stored months that are
    not in `due`, the postponed ones included. For a report that is tracked by id, it counts ids.
    """

    missing: tuple[Month, ...] = ()
    due: Mapping[Month, Reason] = field(default_factory=dict)
    not_requested: int = 0
    postponed: tuple[Month, ...] = ()

    @property
    def requested(self) -> tuple[Month, ...]:
        return tuple(sorted((*self.missing, *self.due)))

    def due_for(self, reason: Reason) -> tuple[Month, ...]:
        return tuple(month for month in self.due if self.due[month] == reason)


def plan_months(
    scope: Iterable[Month], stored_months: StoredMonths, rules: Rules, max_changed_months: int | None = None
) -> PlannedMonths:
    """The months in scope that a sync requests.

    At most `max_changed_months` months are requested only because they changed: the latest ones (None means
    all). The others are postponed. Otherwise, one nightly run would request all months if all sales changed.
    """
    months = list(scope)
    stored = {month: stored_months[month] for month in months if month in stored_months}
    reasons = {month: rules.reason(month, stored[month]) for month in stored}
    changed = sorted((month for month, reason in reasons.items() if reason == "changed"), reverse=True)
    postponed = () if max_changed_months is None else tuple(sorted(changed[max_changed_months:]))
    due = {month: reason for month, reason in reasons.items() if reason and month not in postponed}
    missing = tuple(month for month in months if month not in stored)
    return PlannedMonths(missing, due, len(stored) - len(due), postponed)


def next_due_days(stored: StoredMonths, rules: Rules) -> dict[Month | None, Due]:
    """When each stored month in scope is due next, today or later, and by which rule.

    Months that no rule makes due again are left out. For a report that is tracked by id, the result is empty.
    A report without months is due today, under the key None.
    """
    if rules.report.is_tracked_by_id:
        return {}
    if not rules.report.has_months:
        return {None: Due(rules.calendar.today, "nightly")}
    months = (month for month in months_in_scope(rules.report, rules.calendar) if month in stored)
    return {month: due for month in months if (due := rules.next_due(month, stored[month]))}


@dataclass(frozen=True)
class PlanInputs:
    """The inputs of a plan; `max_ids` and `max_changed_months` are nightly caps per report and customer."""

    calendar: Calendar
    ledger: Ledger
    selection: Selection
    reports: Sequence[Report]
    customers: Sequence[Customer]
    ids: Mapping[Pair, KnownIds] = field(default_factory=dict)
    unsettled: Mapping[Pair, Collection[date]] = field(default_factory=dict)
    max_ids: int = 0
    max_changed_months: int = 0

    @cached_property
    def stored(self) -> Mapping[Pair, StoredMonths]:
        return {
            pair: {Month.of(day) if day else None: month for day, month in days.items()}
            for pair, days in self.ledger.stored.items()
        }


def rules_for(inputs: PlanInputs, report: Report, customer: str) -> Rules:
    """The rules of a report for a customer."""
    pair, calendar, selection = (report.name, customer), inputs.calendar, inputs.selection
    window_months = report.endpoint.window_months
    return Rules(
        report,
        calendar,
        months_at_once=min(window_months, inputs.ledger.caps.get(pair, Cap()).months or window_months),
        # the checksum spreads the customers over the days of a cycle
        offset=report.timing.position * DAYS_BETWEEN_REPORTS
        + zlib.crc32(customer.encode()) % DAYS_IN_FOUR_WEEKS,
        failed={*map(Month.of, inputs.ledger.failed.get(pair, ()))},
        changed_at=changed_months(inputs, report, customer),
        unsettled=unsettled_months(inputs, report, customer) if selection.requests_changes else (),
        selection=selection,
    )


def changed_months(inputs: PlanInputs, report: Report, customer: str) -> Mapping[Month, datetime]:
    """The months that changed, each with a time. A fetch before that time may have missed the change.

    A report that returns the budgets of one month has a counterpart, which returns them for several months.
    For a report with a counterpart, the result has the months that changed in the counterpart. For any other
    report, it has the months in meta.changes, or none if `max_changed_months` is 0.
    """
    ledger, counterpart = inputs.ledger, report.timing.counterpart
    if counterpart:
        days = ledger.snapshots_changed.get((counterpart, customer), {})
    else:
        days = ledger.changed.get((report.name, customer), {}) if inputs.max_changed_months else {}
    return {Month.of(day): changed_at for day, changed_at in days.items()}


def unsettled_months(inputs: PlanInputs, report: Report, customer: str) -> Sequence[Month]:
    """The older months whose rows may still change and which were not fetched today.

    If there are more than the report's `max_months`, returns those that were fetched longest ago.
    """
    pair, calendar = (report.name, customer), inputs.calendar
    read_at = {month: stored.fetched_at_utc for month, stored in inputs.stored.get(pair, {}).items() if month}
    months = [
        month
        for month in map(Month.of, inputs.unsettled.get(pair, ()))
        if month in read_at
        and calendar.age(month) >= calendar.due_months
        and calendar.local_day(read_at[month]) < calendar.today
    ]
    limit = report.timing.unsettled.max_months if report.timing.unsettled else 0
    return sorted(months, key=lambda month: read_at[month])[:limit]
