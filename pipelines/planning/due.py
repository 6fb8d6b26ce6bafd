"""Due months: the rules by which months of a report are requested again, and the next day of each.

docs/operators.md explains the rules. A month stays due until it is requested on or after its day, so
a night without a run loses nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.months import Month, months_between
from pipelines.planning.selection import Pair, Selection
from warehouse.ledger.ids import KnownIds
from warehouse.ledger.ledger import Cap, HeldMonth, Ledger

if TYPE_CHECKING:
    from pipelines.settings.model import Customer, Settings

HeldMonths = Mapping[Month | None, HeldMonth]
"""The stored months of one report of one customer; a report without months is stored under None."""
Reason = Literal["nightly", "failed", "changed", "weekly", "monthly", "unsettled", "chosen"]
"""The rule by which a month is requested again; `chosen` if the operator asks to refresh it."""

DAYS_OF_WEEK, DAYS_OF_FOUR_WEEKS = 7, 28
WITHOUT_DELAY = range(-2, 1)
"""Ages in months: the current month of a budget and the next two."""
NO_MONTHS = range(0)
DUE_MONTHS_MONTHLY = 13
"""Months below this age are fetched again every four weeks."""
COUNTERPART_DAYS = 3  # a counterpart not requested for this many days reports no changes
MONTHS_OF_A_REPORT = 10  # about how many are due every four weeks; those of the next report follow


class Due(NamedTuple):
    """The day on which the nightly run requests a month, and the rule."""

    on: date
    reason: Reason


@dataclass(frozen=True)
class Calendar:
    """Today, and how far back and ahead a sync looks; months in the brokerage's local time."""

    today: date
    start: Month
    timezone: ZoneInfo
    due_months: int
    months_ahead: int

    @cached_property
    def this_month(self) -> Month:
        return Month.of(self.today)

    def age(self, month: Month) -> int:
        """The age of a month in months; negative for months to come."""
        return self.this_month.since(month)

    def day_of(self, moment: datetime) -> date:
        """The local day of a moment."""
        return moment.astimezone(self.timezone).date()


def calendar(settings: Settings, today: date) -> Calendar:
    """The reach of a sync on that day, as the settings say."""
    reach = settings.due_months, settings.budget_months_ahead
    return Calendar(today, settings.start, ZoneInfo(settings.timezone), *reach)


@dataclass(frozen=True)
class Rules:
    """The rules for the months of one report of one customer.

    One request covers `together` months: they share a day of one or four weeks, the months of the next
    request come a day later, and `offset` moves all days. `nightly` and `may_wait` are ages in months: those
    are requested every night, these wait for their day even if they were never read. Months that `failed`,
    `changed` after their last request, or are `unsettled` are requested immediately.
    """

    report: Report
    calendar: Calendar
    together: int
    offset: int = 0
    nightly: range = NO_MONTHS
    may_wait: range = NO_MONTHS
    failed: Collection[Month] = ()
    changed: Mapping[Month, datetime] = field(default_factory=dict)
    unsettled: Collection[Month] = ()
    refresh: bool = False
    fresh_since: datetime | None = None

    @property
    def is_one_by_one(self) -> bool:
        """Whether each month takes a request of its own, which is too much for every night."""
        return self.report.timing.weekly and self.together == 1

    def reason(self, month: Month, held: HeldMonth) -> Reason | None:
        """Why a month is requested today; None if it is left alone."""
        if self.is_fresh(held):
            return None
        if self.refresh:
            return "chosen"
        if self.calendar.age(month) in self.nightly or (held.state == "open" and not self.is_one_by_one):
            return "nightly"
        if month in self.failed:
            return "failed"
        days = self._days_between(month)
        if days and self.calendar.day_of(held.fetched_at_utc) < self._last_due_day(month, days):
            return "weekly" if self._is_latest(month) else "monthly"
        if month in self.changed and held.fetched_at_utc < self.changed[month]:
            return "changed"
        return "unsettled" if month in self.unsettled else None

    def is_fresh(self, held: HeldMonth) -> bool:
        """Whether another command loaded it while this one waited."""
        return self.fresh_since is not None and held.fetched_at_utc > self.fresh_since

    def next_due(self, month: Month, held: HeldMonth) -> Due | None:
        """When a month is requested next, today or later; None if no rule makes it due again."""
        if reason := self.reason(month, held):
            return Due(self.calendar.today, reason)
        days, following = self._days_between(month), self.calendar.this_month.plus(1).first_day
        if days and (day := self._last_due_day(month, days) + timedelta(days=days)) < following:
            return Due(day, "weekly" if self._is_latest(month) else "monthly")
        if self.calendar.age(month) >= DUE_MONTHS_MONTHLY:
            return None
        return replace(self, calendar=replace(self.calendar, today=following)).next_due(month, held)

    def as_if_read(self, month: Month, held: HeldMonths) -> HeldMonth | None:
        """A stand-in for a month that was never read and may wait for its day; None if it may not wait.

        It counts as requested when the report was first read or, if later, when the month came into reach.
        """
        age, calendar = self.calendar.age(month), self.calendar
        if age in WITHOUT_DELAY or age not in self.may_wait:
            return None
        first_read = min((stored.fetched_at_utc for stored in held.values()), default=None)
        since = calendar.day_of(first_read) if first_read else calendar.today
        day = max(since, month.plus(-calendar.months_ahead).first_day)
        return HeldMonth(datetime.combine(day, time(12), calendar.timezone), "held")

    def _is_latest(self, month: Month) -> bool:
        return self.calendar.age(month) < self.calendar.due_months

    def _days_between(self, month: Month) -> int | None:
        """The days between two requests of a month; None if it is requested every night or never."""
        calendar = self.calendar
        if self._is_latest(month):  # with few months, each is requested more often: every night has one
            shortest = min(DAYS_OF_WEEK, calendar.due_months + calendar.months_ahead)
            return shortest if self.is_one_by_one else None
        return DAYS_OF_FOUR_WEEKS if calendar.age(month) < DUE_MONTHS_MONTHLY else None

    def _last_due_day(self, month: Month, days: int) -> date:
        """The most recent due day of a month, today included, if it is due every `days` days."""
        number = month.ordinal // self.together + self.offset
        return self.calendar.today - timedelta(days=(self.calendar.today.toordinal() - number) % days)


def months_in_scope(report: Report, calendar: Calendar) -> Iterator[Month]:
    """Every month for which the report may be requested.

    Only budgets have months to come; a report that the service only has for the latest
    months (interface, Limits: LiveData/CommissionReport) has no older ones.
    """
    first, last = calendar.start, calendar.this_month
    if report.timing.latest_months is not None:
        first = max(first, last.plus(1 - report.timing.latest_months))
    if report.timing.months_ahead:
        last = last.plus(calendar.months_ahead)
    return months_between(first, last)


@dataclass(frozen=True)
class Wanted:
    """The months to request, and how many stored ones are `left` alone.

    `missing` months were never read. Of these, `waited` have reached their day; `waiting` have not. `due`
    months are stored, and a rule requests them again. `postponed` months changed, but exceed the cap of a
    night.
    """

    missing: tuple[Month, ...] = ()
    waited: tuple[Month, ...] = ()
    due: Mapping[Month, Reason] = field(default_factory=dict)
    left: int = 0
    postponed: tuple[Month, ...] = ()
    waiting: Mapping[Month, date] = field(default_factory=dict)

    @property
    def months(self) -> tuple[Month, ...]:
        return tuple(sorted((*self.missing, *self.due)))

    def due_as(self, *reasons: Reason) -> tuple[Month, ...]:
        """The months that are due for any of these reasons."""
        return tuple(month for month, reason in self.due.items() if reason in reasons)


def wanted_months(
    scope: Iterable[Month], held: HeldMonths, rules: Rules, most_changed: int | None = None
) -> Wanted:
    """The months in scope by what a sync does with them.

    A night requests only the latest `most_changed` changed months: an answer that names every sale must not
    cause a backfill.
    """
    missing: list[Month] = []
    waited: list[Month] = []
    due: dict[Month, Reason] = {}
    waiting: dict[Month, date] = {}
    left = 0
    for month in scope:
        known = held.get(month) or rules.as_if_read(month, held)
        reason = rules.reason(month, known) if known else None
        if month in held and reason:
            due[month] = reason
        elif month in held:
            left += 1
        elif reason or known is None:
            missing.append(month)
            waited += [month] if reason not in (None, "failed", "chosen") else []
        elif following := rules.next_due(month, known):
            waiting[month] = following.on
    changed = [month for month, reason in due.items() if reason == "changed"]
    postponed = () if most_changed is None else tuple(sorted(sorted(changed, reverse=True)[most_changed:]))
    for month in postponed:
        del due[month]
    return Wanted(tuple(missing), tuple(waited), due, left + len(postponed), postponed, waiting)


def days_due(held: HeldMonths, rules: Rules) -> dict[Month | None, Due]:
    """The next day, today or later, of each month in reach that is stored or waits for its day."""
    if rules.report.is_by_id:
        return {}
    if not rules.report.has_months:
        return {None: Due(rules.calendar.today, "nightly")}
    days: dict[Month | None, Due] = {}
    for month in months_in_scope(rules.report, rules.calendar):
        stored = held.get(month) or rules.as_if_read(month, held)
        if stored and (due := rules.next_due(month, stored)):
            days[month] = due
    return days


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
        """Months in which the service changed a sale, and since when they are due; empty if turned off."""
        changed: dict[Pair, dict[Month, datetime]] = {}
        for (report, customer, day), since in self.ledger.changed.items() if self.most_changed else ():
            changed.setdefault((report, customer), {})[Month.of(day)] = since
        return changed


def rules_for(inputs: PlanInputs, report: Report, customer: str) -> Rules:
    """The rules of a report for a customer tonight.

    Usually the latest and coming months are requested every night. If a budget is requested month by month,
    only the current and the next two are, and the others wait for their day; older ones too if the
    plan reads its counterpart. Once that is read, its changes replace the nightly requests.
    """
    pair, calendar, selection = (report.name, customer), inputs.calendar, inputs.selection
    longest = report.endpoint.window_months
    rules = Rules(
        report,
        calendar,
        together=min(longest, inputs.ledger.caps.get(pair, Cap()).months or longest),
        # shifts the days of each customer, mostly by a different number, to spread the load
        offset=report.timing.place * MONTHS_OF_A_REPORT + zlib.crc32(customer.encode()) % DAYS_OF_FOUR_WEEKS,
        failed={*map(Month.of, inputs.ledger.failed.get(pair, ()))},
        unsettled=unsettled_months(inputs, report, customer) if selection.asks_for_changes else (),
        refresh=selection.refresh,
        fresh_since=selection.fresh_since,
    )
    ahead, past = -calendar.months_ahead, DUE_MONTHS_MONTHLY - 1  # an older month has no day of its own
    counterpart = (report.timing.counterpart or "", customer)
    if not rules.is_one_by_one:
        changed = inputs.sales_changed.get(pair, {}) if report.timing.follows_sales else {}
        return replace(rules, nightly=range(ahead, calendar.due_months), changed=changed)
    if _was_read_lately(inputs, counterpart):
        changes = inputs.ledger.snapshots_changed.get(counterpart, {})
        changed = {Month.of(day): moment for day, moment in changes.items() if day}
        nightly, may_wait = NO_MONTHS, range(ahead, past)
    else:
        changed = changes_of_its_own(inputs, report, customer)
        nightly, may_wait = WITHOUT_DELAY, range(ahead, past if _will_be_read(inputs, counterpart) else 0)
    if not selection.asks_for_changes:
        may_wait = NO_MONTHS
    return replace(rules, nightly=nightly, changed=changed, may_wait=may_wait)


def unsettled_months(inputs: PlanInputs, report: Report, customer: str) -> Sequence[Month]:
    """Months that are due as the service will still change their rows: those read longest ago."""
    pair, calendar = (report.name, customer), inputs.calendar
    held = inputs.held.get(pair, {})
    months = {
        month: held[month].fetched_at_utc
        for month in map(Month.of, inputs.unsettled.get(pair, ()))
        if month in held and calendar.age(month) >= calendar.due_months
    }
    not_read_today = [month for month, moment in months.items() if calendar.day_of(moment) < calendar.today]
    most = report.timing.unsettled.most if report.timing.unsettled else 0
    return sorted(not_read_today, key=lambda month: months[month])[
        : max(most - len(months) + len(not_read_today), 0)
    ]


def changes_of_its_own(inputs: PlanInputs, report: Report, customer: str) -> Mapping[Month, datetime]:
    """All latest and coming months, if the answer for any of them has changed."""
    own, calendar = inputs.ledger.snapshots_changed.get((report.name, customer), {}), inputs.calendar
    latest = [
        month for month in months_in_scope(report, calendar) if calendar.age(month) < calendar.due_months
    ]
    noticed = [own[month.first_day] for month in latest if month.first_day in own]
    return dict.fromkeys(latest, max(noticed)) if noticed else {}


def _was_read_lately(inputs: PlanInputs, pair: Pair) -> bool:
    """Whether a report was read recently, and several months at a time."""
    current = inputs.held.get(pair, {}).get(inputs.calendar.this_month)
    if current is None or pair in inputs.ledger.denied or inputs.ledger.caps.get(pair, Cap()).months == 1:
        return False
    fetched = inputs.calendar.day_of(current.fetched_at_utc)
    return fetched >= inputs.calendar.today - timedelta(days=COUNTERPART_DAYS)


def _will_be_read(inputs: PlanInputs, pair: Pair) -> bool:
    """Whether a report is part of the plan, and was understood if it was read before."""
    is_chosen = any(report.name == pair[0] for report in inputs.reports)
    return is_chosen and pair[0] not in inputs.ledger.not_understood and pair not in inputs.ledger.denied
