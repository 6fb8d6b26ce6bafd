"""How do months compare with the same months a year before, and with their budgets? Like with like only.

A period is compared over the offices of which every month of both periods is held; the others are
counted and named as left out, never taken for zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property

from pipelines.page.facts import BudgetMonth, Facts, OfficeMonth

COMMISSION, HOMES = "commission", "sold estates"


def later(month: date, months: int) -> date:
    """The first day of the month so many months later."""
    count = month.year * 12 + month.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def span(last: date, months: int) -> tuple[date, ...]:
    """So many months up to the last one."""
    return tuple(later(last, place - months + 1) for place in range(months))


@dataclass(frozen=True)
class Sum:
    """What some offices earned in some months, as far as it is known."""

    commission: Decimal
    sold_commission: Decimal
    homes: Decimal
    known: int
    wanted: int

    @property
    def average(self) -> Decimal | None:
        """Commission of an average sale, from sums."""
        return self.sold_commission / self.homes if self.homes else None


@dataclass(frozen=True)
class Attained:
    """What was reached of a budget by the offices and months that have one."""

    actual: Decimal
    budget: Decimal
    offices: int

    @property
    def share(self) -> Decimal | None:
        return self.actual / self.budget if self.budget else None


@dataclass(frozen=True)
class Compared:
    """A period and the same one a year before, over the offices that are held in both."""

    now: Sum
    before: Sum
    offices: int
    offices_in_all: int


class Months:
    """The offices' months of a file, to be summed and compared."""

    def __init__(self, facts: Facts) -> None:
        self.rows: Mapping[tuple[str, date], OfficeMonth] = {
            (row.office_id, row.month): row for row in facts.office_months
        }
        self.budgets: Mapping[tuple[str, date, str], BudgetMonth] = {
            (row.office_id, row.month, row.measure): row for row in facts.budgets
        }
        self.names = {row.office_id: row.office_name for row in facts.office_months}

    @cached_property
    def offices(self) -> tuple[str, ...]:
        """The offices, those that earned most in the last twelve whole months first."""
        months = span(self.last_whole or self.newest or date(2000, 1, 1), 12)
        return tuple(sorted(self.names, key=lambda one: (-self.sum([one], months).commission, one)))

    @cached_property
    def newest(self) -> date | None:
        """The newest month that any office is held for."""
        return max((month for _, month in self.rows), default=None)

    @cached_property
    def last_whole(self) -> date | None:
        """The newest month that is over for every office."""
        begun = {month for (_, month), row in self.rows.items() if row.is_open}
        return max((month for _, month in self.rows if month not in begun), default=None)

    def value(self, office: str, month: date, measure: str) -> Decimal | None:
        """Commission or homes of an office in a month; none where it is not held."""
        row = self.rows.get((office, month))
        if row is None:
            return None
        return row.commission if measure == COMMISSION else row.sold_estate_parts

    def budget(self, office: str, month: date, measure: str) -> Decimal | None:
        row = self.budgets.get((office, month, measure))
        return row.budget if row else None

    def sum(self, offices: Iterable[str], months: Sequence[date]) -> Sum:
        """What these offices earned in these months together."""
        chosen = list(offices)
        found = [self.rows.get((office, month)) for office in chosen for month in months]
        known = [row for row in found if row is not None and row.commission is not None]
        return Sum(
            sum((row.commission or Decimal(0) for row in known), Decimal(0)),
            sum((row.sold_commission or Decimal(0) for row in known), Decimal(0)),
            sum((row.sold_estate_parts or Decimal(0) for row in known), Decimal(0)),
            len(known),
            len(chosen) * len(months),
        )

    def compared(self, offices: Sequence[str], months: Sequence[date]) -> Compared | None:
        """The months and the same a year before; none when no office is held in both."""
        before = [later(month, -12) for month in months]
        both = [
            one
            for one in offices
            if all(self.value(one, month, COMMISSION) is not None for month in (*months, *before))
        ]
        if not both or not months:
            return None
        return Compared(self.sum(both, months), self.sum(both, before), len(both), len(offices))

    def attained(self, offices: Iterable[str], months: Sequence[date], measure: str) -> Attained | None:
        """What was reached of the budgets of these months; none where nobody has one."""
        rows = [
            row
            for office in offices
            for month in months
            if (row := self.budgets.get((office, month, measure))) is not None
        ]
        known = [row for row in rows if row.budget is not None and row.actual is not None]
        if not any(row.budget for row in known):
            return None
        return Attained(
            sum((row.actual or Decimal(0) for row in known), Decimal(0)),
            sum((row.budget or Decimal(0) for row in known), Decimal(0)),
            len({row.office_id for row in known}),
        )

    def forecast(self, offices: Iterable[str], month: date, measure: str) -> Attained | None:
        """Where the year will end, as the offices that can say so say it."""
        rows = [self.budgets.get((office, month, measure)) for office in offices]
        known = [row for row in rows if row and row.year_forecast is not None and row.year_budget]
        if not known:
            return None
        return Attained(
            sum((row.year_forecast or Decimal(0) for row in known), Decimal(0)),
            sum((row.year_budget or Decimal(0) for row in known), Decimal(0)),
            len(known),
        )


def growth(now: Decimal | None, before: Decimal | None) -> Decimal | None:
    """The change in parts of what was before; none where there was nothing."""
    return now / before - 1 if now is not None and before else None
