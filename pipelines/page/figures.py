"""Figures of the report page: numbers as Swedes write them, sums and comparisons of months, and charts.

Periods are compared over the offices of which every month of both periods is held; the others are counted
and named as left out, never taken for zero. A chart has every place in percent, so that it fits any screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from pipelines.page.facts import Facts

Number = Decimal | int | float
Shown = dict[str, Any]  # something for the template to write, by the names that it uses

SPACE = "\u00a0"  # a number is never broken at the end of a line
MINUS = "\u2212"
UNKNOWN = "\u2013"
COMMISSION = "commission"
MOST_LINES = 4
_MONTHS = "January February March April May June July August September October November December".split()
_STEPS = (1, 2, 2.5, 5, 10)

# Numbers, months and times in words


def number(
    value: Number | None,
    places: int = 0,
    *,
    unit: str = "",
    factor: int = 1,
    has_plus: bool = False,
    is_short: bool = False,
) -> str:
    """A number with so many decimals and its unit: 1 234 567 kr; a short one leaves out a decimal of zero."""
    if value is None:
        return UNKNOWN
    rounded = (Decimal(value) * factor).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    sign = MINUS if rounded < 0 else "+" if has_plus and rounded else ""
    text = sign + f"{abs(rounded):,.{places}f}".replace(",", SPACE).replace(".", ",")
    if is_short:
        text = text.removesuffix(",0")
    return f"{text}{SPACE}{unit}" if unit else text


kronor = partial(number, unit="kr")
"""An amount: 1 234 567 kr."""
short_number = partial(number, places=1, is_short=True)
"""One decimal where it says something: 64 homes, or 4,8 where commissions were shared."""
percent = partial(number, unit="%", factor=100)
"""A share as percent: 0.123 is 12 %."""
change = partial(percent, places=1, has_plus=True)
"""A change with its sign: +4,2 %."""


def short_kronor(value: Number) -> str:
    """An amount for an axis or a narrow place: 1,5 mkr, 250 tkr, 900 kr."""
    amount = Decimal(value)
    size, unit = (1_000_000, "mkr") if abs(amount) >= 1_000_000 else (1_000, "tkr")
    if abs(amount) < 1_000:
        size, unit = 1, "kr"
    return short_number(amount / size, unit=unit)


def month_name(month: date) -> str:
    """March 2026."""
    return f"{_MONTHS[month.month - 1]} {month.year}"


def period_name(first: date, last: date) -> str:
    """January to March 2026, or March 2025 to February 2026."""
    if first == last:
        return month_name(first)
    begin = _MONTHS[first.month - 1] if first.year == last.year else month_name(first)
    return f"{begin} to {month_name(last)}"


def moment(at_utc: datetime | None, timezone: ZoneInfo) -> str:
    """An instant on the brokerage's clock: 21 November 2026 05:12."""
    if at_utc is None:
        return UNKNOWN
    local = at_utc.replace(tzinfo=UTC).astimezone(timezone)
    return f"{local.day} {month_name(local)} {local:%H:%M}"


# Sums and comparisons


def ratio(part: Number | None, whole: Number | None) -> Decimal | None:
    """A number in parts of another; none where one is unknown or there is nothing to divide by."""
    return Decimal(part) / Decimal(whole) if part is not None and whole else None


def last_months(last: date, count: int) -> tuple[date, ...]:
    """The first days of so many months up to the last one."""
    newest = last.year * 12 + last.month - 1
    return tuple(date(one // 12, one % 12 + 1, 1) for one in range(newest - count + 1, newest + 1))


@dataclass(frozen=True)
class EarnedTotal:
    """What some offices earned in some months: the sums of the months known, of so many wanted."""

    offices: int
    commission: Decimal
    homes: Decimal
    average: Decimal | None  # commission of an average sale, from sums
    known: int
    wanted: int


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

    def total(self, offices: Sequence[str], months: Sequence[date]) -> EarnedTotal:
        """What these offices earned in these months together."""
        found = [self.rows.get((office, month)) for office in offices for month in months]
        known = [row for row in found if row is not None and row.commission is not None]
        homes = sum((row.sold_estate_parts or Decimal(0) for row in known), Decimal(0))
        return EarnedTotal(
            offices=len(offices),
            commission=sum((row.commission or Decimal(0) for row in known), Decimal(0)),
            homes=homes,
            average=ratio(sum((row.sold_commission or Decimal(0) for row in known), Decimal(0)), homes),
            known=len(known),
            wanted=len(found),
        )

    def compared(
        self, offices: Sequence[str], months: Sequence[date]
    ) -> tuple[EarnedTotal, EarnedTotal] | None:
        """The months and the same a year before, over the offices held in both; none when no office is."""
        before = [month.replace(year=month.year - 1) for month in months]
        totals = {office: self.total([office], [*months, *before]) for office in offices}
        both = [office for office, total in totals.items() if total.known == total.wanted]
        return (self.total(both, months), self.total(both, before)) if both else None

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


# Charts: the actual amount is a column, the year before a pale wider one behind it, the budget a line across


@dataclass(frozen=True)
class ChartMonth:
    """What a chart shows of one month."""

    month: date
    value: Decimal | None
    before: Decimal | None = None
    budget: Decimal | None = None
    is_open: bool = False


def chart(
    title: str,
    months: Sequence[ChartMonth],
    write: Callable[[Number | None], str],
    write_short: Callable[[Number], str],
    *,
    finest: float = 0,
) -> Shown:
    """One measure over months: what is drawn, in percent of width and height, and what is read out.

    `write` writes an amount out, `write_short` at a line of the grid; `finest` is the smallest step of it.
    """
    marks = scale_marks([amount for one in months for amount in (one.value, one.before, one.budget)], finest)
    known = [(one.value, one.month) for one in months if one.value is not None]
    description = f"{title}: nothing is held."
    if known:
        (most, best), (least, worst), (newest, last) = max(known), min(known), known[-1]
        description = (
            f"{title} by month, {month_name(months[0].month)} to {month_name(months[-1].month)}. "
            f"Most in {month_name(best)}, {write(most)}; least in {month_name(worst)}, {write(least)}; "
            f"{month_name(last)} {write(newest)}."
        )
    return {
        "title": title,
        "description": description,
        "columns": [_chart_column(place, months, marks, write) for place in range(len(months))],
        "lines": [
            {
                "y": span(mark, mark, marks)[0],
                "label": write_short(Decimal(str(mark))) if mark else "0",
                "is_zero": mark == 0,
            }
            for mark in marks
        ],
        "slot": f"{round(100 / max(len(months), 1), 2):g}",
        "write": write,
        "has_before": any(one.before is not None for one in months),
        "has_budget": any(one.budget is not None for one in months),
        "has_values": bool(known),
    }


def _chart_column(
    place: int, months: Sequence[ChartMonth], marks: Sequence[float], write: Callable[[Number | None], str]
) -> Shown:
    """One month, drawn; the year is written below a month where it begins and there is room."""
    one, slot = months[place], 100 / len(months)
    begins_year = place == 0 or one.month.year != months[place - 1].month.year
    has_room = all(other.month.year == one.month.year for other in months[place : place + 3])
    value = "not held" if one.value is None else write(one.value)
    words = [f"{month_name(one.month)}{', so far' if one.is_open else ''}: {value}"]
    if one.budget is not None:
        words.append(f"budget {write(one.budget)}")
    if one.before is not None:
        words.append(f"the year before {write(one.before)}")
    return {
        "month": one,
        "x": f"{round(place * slot, 2):g}",
        "middle": f"{round((place + 0.5) * slot, 2):g}",
        "year": str(one.month.year) if begins_year and has_room else "",
        "value": None if one.value is None else span(0, one.value, marks),
        "before": None if one.before is None else span(0, one.before, marks),
        "budget": None if one.budget is None else span(one.budget, one.budget, marks)[0],
        "description": "; ".join(words),
    }


def scale_marks(amounts: Sequence[Decimal | None], finest: float = 0) -> tuple[float, ...]:
    """Round marks from below every amount to above it, zero among them, no closer than `finest`."""
    known = [float(one) for one in amounts if one is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    if high == low:
        high = low + 1
    rough = max((high - low) / MOST_LINES, finest)
    size = 10 ** math.floor(math.log10(rough))
    step = next(
        size * one for one in _STEPS if size * one >= rough and (size * one) % (finest or size * one) == 0
    )
    return tuple(place * step for place in range(math.floor(low / step), math.ceil(high / step - 1e-9) + 1))


def span(one: Number, other: Number, marks: Sequence[float]) -> tuple[str, str]:
    """Top and height, in percent, of what reaches from one amount to another on a scale of these marks."""
    low, high = marks[0], marks[-1]
    top, bottom = sorted(100 * (high - float(amount)) / (high - low) for amount in (one, other))
    return f"{round(top, 2):g}", f"{round(bottom - top, 2):g}"


def bar_width(amount: Number | None, longest: Number) -> str:
    """Percent of the width for an amount, the longest taking all; nothing and less than nothing none."""
    if amount is None or amount <= 0 or longest <= 0:
        return "0"
    return f"{round(min(100.0, 100 * float(amount) / float(longest)), 1):g}"
