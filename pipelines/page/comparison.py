"""Months of offices, summed and compared with the year before and with budgets: like with like only.

A period is compared over the offices of which every month of both periods is held; the others are
counted and named as left out, never taken for zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.facts import Facts
from pipelines.page.numbers import ratio

COMMISSION, HOMES = "commission", "sold estates"


def add_months(month: date, months: int) -> date:
    """The first day of the month so many months later."""
    count = month.year * 12 + month.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def last_months(last: date, count: int) -> tuple[date, ...]:
    """So many months up to the last one."""
    return tuple(add_months(last, place - count + 1) for place in range(count))


@dataclass(frozen=True)
class EarnedTotal:
    """What some offices earned in some months: the sums of the months known, of so many wanted."""

    commission: Decimal
    homes: Decimal
    average: Decimal | None  # commission of an average sale, from sums
    known: int
    wanted: int


@dataclass(frozen=True)
class YearComparison:
    """A period and the same one a year before, over the offices that are held in both."""

    now: EarnedTotal
    before: EarnedTotal
    offices: int


@dataclass(frozen=True)
class BudgetProgress:
    """What is reached of a budget, by the offices that have one."""

    actual: Decimal
    budget: Decimal
    share: Decimal | None
    offices: int


class OfficeMonths:
    """The offices' months of a file, to be summed and compared."""

    def __init__(self, facts: Facts) -> None:
        self.rows = {(row.office_id, row.month): row for row in facts.office_months}
        self.budgets = {(row.office_id, row.month, row.measure): row for row in facts.budgets}
        self.names = {row.office_id: row.office_name for row in facts.office_months}
        months = {month for _, month in self.rows}
        begun = {month for (_, month), row in self.rows.items() if row.is_open}
        self.oldest: date | None = min(months, default=None)
        self.newest: date | None = max(months, default=None)
        self.last_whole: date | None = max(months - begun, default=None)
        """The newest month that is over for every office."""
        self.offices: Sequence[str] = ()
        """The offices, those that earned most in the last twelve whole months first."""
        if latest := self.last_whole or self.newest:
            year = last_months(latest, 12)
            self.offices = sorted(self.names, key=lambda one: (-self.total([one], year).commission, one))

    def value(self, office: str, month: date, measure: str) -> Decimal | None:
        """Commission or homes of an office in a month; none where it is not held."""
        row = self.rows.get((office, month))
        if row is None:
            return None
        return row.commission if measure == COMMISSION else row.sold_estate_parts

    def total(self, offices: Sequence[str], months: Sequence[date]) -> EarnedTotal:
        """What these offices earned in these months together."""
        found = [self.rows.get((office, month)) for office in offices for month in months]
        known = [row for row in found if row is not None and row.commission is not None]
        homes = sum((row.sold_estate_parts or Decimal(0) for row in known), Decimal(0))
        return EarnedTotal(
            commission=sum((row.commission or Decimal(0) for row in known), Decimal(0)),
            homes=homes,
            average=ratio(sum((row.sold_commission or Decimal(0) for row in known), Decimal(0)), homes),
            known=len(known),
            wanted=len(found),
        )

    def compared(self, offices: Sequence[str], months: Sequence[date]) -> YearComparison | None:
        """The months and the same a year before; none when no office is held in both."""
        before = [add_months(month, -12) for month in months]
        both = [
            office
            for office in offices
            if all(self.value(office, month, COMMISSION) is not None for month in (*months, *before))
        ]
        if not both:
            return None
        return YearComparison(self.total(both, months), self.total(both, before), len(both))

    def progress(
        self, offices: Sequence[str], months: Sequence[date], *, year_end: bool = False
    ) -> BudgetProgress | None:
        """Commission against the budgets of these months; none where nobody has one.

        With `year_end` where the year will end as of a month, against the budget of the year.
        """
        known: list[tuple[str, Decimal, Decimal]] = []
        for office in offices:
            for month in months:
                row = self.budgets.get((office, month, COMMISSION))
                if row is None:
                    continue
                actual, budget = row.actual, row.budget
                if year_end:
                    actual, budget = row.year_forecast, row.year_budget or None
                if actual is not None and budget is not None:
                    known.append((office, actual, budget))
        if not any(budget for _, _, budget in known):
            return None
        reached = sum((actual for _, actual, _ in known), Decimal(0))
        wanted = sum((budget for _, _, budget in known), Decimal(0))
        return BudgetProgress(
            reached, wanted, ratio(reached, wanted), len({office for office, _, _ in known})
        )
