"""What does a square of the matrix stand for? One month of one report of one customer, and what it asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from pipelines.catalogue.model import Report
from pipelines.months import Month, months_between
from pipelines.planning.due import Calendar
from pipelines.planning.selection import Pair


@dataclass(frozen=True, slots=True)
class Square:
    """A month of a report of a customer; `month` is None for a report without months."""

    report: Report
    customer: str
    month: Month | None

    @property
    def pair(self) -> Pair:
        return (self.report.name, self.customer)

    def months(self, calendar: Calendar) -> tuple[Month, ...]:
        """The months to ask for: its own, and with the current one of a budget those ahead as well."""
        if self.month is None:
            return ()
        if self.report.months_ahead and self.month == calendar.this_month:
            return tuple(months_between(self.month, self.month.plus(calendar.months_ahead)))
        return (self.month,)

    def places(self, calendar: Calendar) -> tuple[tuple[str, str, date | None], ...]:
        """Where the ledger keeps what this square is made of."""
        days = [month.first_day for month in self.months(calendar)]
        return tuple((*self.pair, day) for day in days) or ((*self.pair, None),)


def squares(
    reports: Iterable[Report], customers_and_months: Iterable[tuple[str, Month | None]]
) -> Iterator[Square]:
    """Every report of every customer and month."""
    chosen = list(customers_and_months)
    for report in reports:
        for customer, month in chosen:
            yield Square(report, customer, month)


def months_by_pair(wanted: Iterable[Square], calendar: Calendar) -> Mapping[Pair, tuple[Month, ...]]:
    """The same squares as a sync is told of them: the months of each report and customer."""
    months: dict[Pair, set[Month]] = {}
    for square in wanted:
        months.setdefault(square.pair, set()).update(square.months(calendar))
    return {pair: tuple(sorted(some)) for pair, some in months.items()}
