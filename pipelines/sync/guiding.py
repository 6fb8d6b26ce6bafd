"""For whom is it worth asking what was changed, and since when? One small question a night for a customer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.sales import DAYS_AT_ONCE, changed_sales
from pipelines.planning.due import Calendar, is_due
from pipelines.planning.holdings import HeldMonths, Holdings
from pipelines.planning.windows import Span, spans_of_days

if TYPE_CHECKING:
    from pipelines.settings.model import Customer
    from warehouse.ledger import Ledger
    from warehouse.outlines import Outline

OVERLAP = timedelta(days=2)
"""So many days before the last question are asked about again: what is late to be told is not lost."""
FARTHEST = timedelta(days=365)


@dataclass(frozen=True)
class Probing:
    """A question for one customer which sales were changed: asked through which report, about which days."""

    customer: Customer
    asked_of: str
    report: Report
    spans: tuple[Span, ...]

    @property
    def first(self) -> date:
        return self.spans[0].first

    @property
    def last(self) -> date:
        return self.spans[-1].last


def probings(
    reports: Sequence[Report],
    customers: Sequence[Customer],
    calendar: Calendar,
    ledger: Ledger | Outline,
    held: Holdings,
) -> Iterator[Probing]:
    """One question for every customer of whom months are held that would be left alone otherwise."""
    guided = [report for report in reports if report.follows_sales]
    chosen = {report.name: report for report in reports}
    known: dict[tuple[str, int], date | None] = {}
    for customer in customers:
        oldest = _oldest_left_alone(guided, customer, calendar, held, known)
        if oldest is None or not customer.active:
            continue
        denied = [name for name, owner in ledger.denied if owner == customer.id]
        found = changed_sales(chosen, denied)
        if found:
            since = ledger.probed.get(customer.id, oldest) - OVERLAP
            days = Span(min(max(since, calendar.today - FARTHEST), calendar.today), calendar.today)
            yield Probing(customer, *found, tuple(spans_of_days(days, DAYS_AT_ONCE)))


def _oldest_left_alone(
    guided: Sequence[Report],
    customer: Customer,
    calendar: Calendar,
    held: Holdings,
    known: dict[tuple[str, int], date | None],
) -> date | None:
    """The day on which the oldest of the months was read that nothing else makes due.

    `known` keeps what was found for a report and a mapping of held months: many customers share one.
    """
    days = []
    for report in guided:
        months = held.get((report.name, customer.id), {})
        key = (report.name, id(months))
        if months and key not in known:
            known[key] = min(_read_on(report, months, calendar), default=None)
        if months:
            days.append(known[key])
    return min((day for day in days if day), default=None)


def _read_on(report: Report, months: HeldMonths, calendar: Calendar) -> Iterator[date]:
    for month, one in months.items():
        if month is not None and not is_due(month, one, report, calendar):
            yield one.fetched_at_utc.astimezone(calendar.timezone).date()
