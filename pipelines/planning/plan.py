"""What will a sync ask? Per customer and report: the windows, the requests and the time; asks nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Each, MonthOfRow, Report
from pipelines.months import Month
from pipelines.planning.due import NO_CHANGES, Calendar, Changes, Wanted, months_in_scope, wanted_months
from pipelines.planning.holdings import HeldMonths, Holdings
from pipelines.planning.selection import Pair, Selection
from pipelines.planning.windows import NOW, Window, windows
from pipelines.sync.guiding import Probing

if TYPE_CHECKING:
    from pipelines.settings.model import Customer
    from warehouse.ledger import Cap, Ledger
    from warehouse.outlines import Outline

PAGES_ALLOWED = 6
"""Requests a window of a paged report is allowed in a plan before it has ever been asked: with pages of
the usual size one holds a window, and the rest is for the empty page and the second look at the first."""
ASSUMED_REQUEST_SECONDS = 0.5
NOTHING = Wanted((), (), 0)
NOTHING_HELD: HeldMonths = {}


@dataclass(frozen=True)
class Planned:
    """One report of one customer: what is wanted, in which windows, at the price of how many requests.

    `requests` is the most it may take when nothing fails, `requests_expected` the likely number;
    `skipped` says why nothing is asked, if so.
    """

    report: Report
    customer: Customer
    wanted: Wanted = NOTHING
    windows: tuple[Window, ...] = ()
    requests: int = 0
    requests_expected: int = 0
    asked: tuple[str, ...] | None = None
    out_of_reach: tuple[Month, ...] = ()
    skipped: str | None = None

    @property
    def pair(self) -> Pair:
        return (self.report.name, self.customer.id)


@dataclass(frozen=True)
class Plan:
    """Everything a sync would ask, in the order it would ask it.

    `probings` are asked first: what they tell makes more months due, which nobody can know before.
    """

    planned: tuple[Planned, ...]
    requests_per_second: float
    concurrency: int
    request_seconds: float
    probings: tuple[Probing, ...] = ()

    @property
    def windows(self) -> int:
        return sum(len(one.windows) for one in self.planned)

    @property
    def customers(self) -> list[Customer]:
        """Everybody who is asked for anything."""
        asked = [one.customer for one in self.planned if one.windows]
        asked += [one.customer for one in self.probings]
        return list({customer.id: customer for customer in asked}.values())

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.planned) + self._requests_of_probings

    @property
    def requests_expected(self) -> int:
        return sum(one.requests_expected for one in self.planned) + self._requests_of_probings

    @property
    def _requests_of_probings(self) -> int:
        return sum(len(one.spans) for one in self.probings)

    @property
    def seconds(self) -> float:
        """The likely time: bounded by the rate, or by the service's own slowness."""
        per_second = min(self.requests_per_second, self.concurrency / max(self.request_seconds, 0.001))
        return self.requests_expected / per_second


@dataclass(frozen=True)
class Choice:
    """What follows for a report from what is held: the months wanted, cut into windows."""

    wanted: Wanted
    windows: tuple[Window, ...]
    out_of_reach: tuple[Month, ...]
    any_held: bool

    @cached_property
    def spans(self) -> int:
        """How many stretches of days are asked, each by a request of its own."""
        return sum(len(window.spans) for window in self.windows)

    @cached_property
    def months(self) -> int:
        """How many months the windows have together."""
        return sum(len(window.months) for window in self.windows)


@dataclass(frozen=True)
class Planner:
    """What planning looks at: the calendar, the ledger and the selection."""

    calendar: Calendar
    ledger: Ledger | Outline
    held: Holdings
    selection: Selection
    page_size: int
    users: Mapping[str, Sequence[str]]
    most_changed: int = 0
    _choices: dict[tuple[object, ...], Choice | None] = field(default_factory=dict, repr=False)

    def plan(self, reports: Sequence[Report], customers: Sequence[Customer]) -> Iterator[Planned]:
        """Every report of every customer, those without months first: users before their budgets."""
        for report in sorted(reports, key=lambda report: report.has_months):
            for customer in customers:
                pair = (report.name, customer.id)
                if self.selection.exact and pair not in self.selection.exact:
                    continue
                yield self._one(report, customer)

    def _one(self, report: Report, customer: Customer) -> Planned:
        refusal = self._refusal(report, customer)
        if refusal:
            return Planned(report, customer, skipped=refusal)
        asked = self._asked(report, customer)
        if asked == ():
            return Planned(report, customer, asked=asked, skipped=_nobody_to_ask_for(report))
        if not report.has_months:
            each = len(asked) if asked else 1
            return Planned(
                report, customer, windows=(NOW,), requests=each, requests_expected=each, asked=asked
            )
        return self._months(report, customer, asked)

    def _months(self, report: Report, customer: Customer, asked: tuple[str, ...] | None) -> Planned:
        choice = self._choice(report, (report.name, customer.id))
        if choice is None:
            return Planned(report, customer, skipped="no month that was selected can be asked today")
        most, likely = self._requests(report, customer, choice)
        each = len(asked) if asked else 1
        return Planned(
            report,
            customer,
            choice.wanted,
            choice.windows,
            most * each,
            likely * each,
            asked,
            out_of_reach=choice.out_of_reach,
        )

    def _choice(self, report: Report, pair: Pair) -> Choice | None:
        """What to ask of a pair; worked out once for all of whom the same is held and known."""
        changes = self._changes_of_pair.get(pair, {}) if report.follows_sales else {}
        if changes or pair in self.selection.exact:
            return self._chosen(report, pair, Changes(changes, self.most_changed))
        alike = (report.name, id(self.held.get(pair, NOTHING_HELD)), self.ledger.caps.get(pair))
        if alike not in self._choices:
            self._choices[alike] = self._chosen(report, pair, NO_CHANGES)
        return self._choices[alike]

    def _chosen(self, report: Report, pair: Pair, changes: Changes) -> Choice | None:
        scope = list(months_in_scope(report, self.calendar))
        exact = self.selection.exact.get(pair)
        chosen = exact if exact is not None else [month for month in scope if self.selection.covers(month)]
        if exact is not None and self.selection.guided:
            chosen = sorted({*exact, *(month for month in scope if month in changes.since_utc)})
        if not chosen:
            return None
        asked = set(scope)
        reachable = (month for month in chosen if month in asked)
        held = self.held.get(pair, NOTHING_HELD)
        refresh = self.selection.refresh
        wanted = wanted_months(reachable, held, report, self.calendar, refresh=refresh, changes=changes)
        return Choice(
            wanted,
            tuple(self._windows(report, self.ledger.caps.get(pair), wanted.months)),
            tuple(month for month in chosen if month not in asked),
            any_held=any(held),
        )

    @cached_property
    def _changes_of_pair(self) -> Mapping[Pair, Mapping[Month, datetime]]:
        """Since when which months of a pair are to be read again, where changes are followed at all."""
        changes: dict[Pair, dict[Month, datetime]] = {}
        for (report, customer, day), since in self.ledger.changed.items() if self.most_changed else ():
            changes.setdefault((report, customer), {})[Month.of(day)] = since
        return changes

    def _windows(self, report: Report, cap: Cap | None, months: Sequence[Month]) -> Iterator[Window]:
        longest = min(report.max_months, cap.months) if cap and cap.months else report.max_months
        return windows(months, longest, self.calendar.today, cap.days if cap else None)

    def _requests(self, report: Report, customer: Customer, choice: Choice) -> tuple[int, int]:
        spans, months = choice.spans, choice.months
        if report.paged:
            known = self.ledger.pages.get((report.name, customer.id))
            most = PAGES_ALLOWED if known is None else math.ceil(known * 1.5) + 2
            return spans * most, spans * (known or 2)
        if report.month_of_row is MonthOfRow.YEAR_AND_MONTH and not choice.any_held:
            return (spans + months if months > spans else spans), spans
        return spans, spans

    def _asked(self, report: Report, customer: Customer) -> tuple[str, ...] | None:
        if report.each is Each.USER:
            return tuple(self.users.get(customer.id, ()))
        if report.each is Each.ESTATE:
            return self.selection.estates
        return None

    def _refusal(self, report: Report, customer: Customer) -> str | None:
        if not customer.active:
            return "the customer is switched off in the settings; what is held stays"
        denied: datetime | None = self.ledger.denied.get((report.name, customer.id))
        if denied and denied.astimezone(self.calendar.timezone).date() == self.calendar.today:
            return "no access (403 today); it is asked again tomorrow"
        return None


def _nobody_to_ask_for(report: Report) -> str:
    if report.each is Each.ESTATE:
        return "asked on demand only: name estates with --estate"
    return "no user of this customer is known yet; sync the report users first"
