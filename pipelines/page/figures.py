"""Figures of the pages: sums and comparisons of months, and charts.

Periods are compared over the offices of which every month of both periods is held to its end; the others are
counted and named as left out, never taken for zero. A chart has every place in percent, so that it fits any
screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeVar

from pipelines.page.facts import Facts, OfficeEarnings
from pipelines.page.language import Language, Number

Shown = dict[str, Any]  # something for the template to write, by the names that it uses

COMMISSION = "commission"
VAT = Decimal("0.25")
"""The Swedish rate, which commissions have in them if any."""
LEAST_UNEXPLAINED = 1
"""Less than this is rounding."""
MOST_LINES = 4
_STEPS = (1, 2, 2.5, 5, 10)

_T = TypeVar("_T")

# Sums and comparisons


def ratio(part: Number | None, whole: Number | None) -> Decimal | None:
    """A number in parts of another; none where one is unknown or there is nothing to divide by."""
    return Decimal(part) / Decimal(whole) if part is not None and whole else None


def sum_of(amounts: Iterable[Decimal | None]) -> Decimal:
    """The sum of the amounts that are known."""
    return sum((one for one in amounts if one is not None), Decimal(0))


def whole(amount: Decimal) -> Decimal:
    """An amount as it is shown, without decimals."""
    return amount.quantize(Decimal(1), ROUND_HALF_UP)


def remainder(total: Decimal, named: Iterable[Decimal]) -> Decimal:
    """What is left of a sum beside its named parts, so that what is shown adds up in whole numbers."""
    return whole(total) - sum_of(map(whole, named))


def named_and_others(ordered: Sequence[_T], most: int) -> tuple[Sequence[_T], Sequence[_T]]:
    """The first ones, to be named, and those to be summed up: not a single one, which is named as well."""
    most = most if len(ordered) > most + 1 else most + 1
    return ordered[:most], ordered[most:]


def last_months(last: date, count: int) -> tuple[date, ...]:
    """The first days of so many months up to the last one."""
    newest = last.year * 12 + last.month - 1
    return tuple(date(one // 12, one % 12 + 1, 1) for one in range(newest - count + 1, newest + 1))


@dataclass(frozen=True)
class EarnedTotal:
    """What some offices earned in some months: sums of what is known of the months that should be held."""

    offices: int
    commission: Decimal
    homes: Decimal
    average: Decimal | None  # commission of an average sale, from sums
    beside_sales: Decimal | None  # commission of writings and valuations, where that of sales is known
    per_agent: Decimal | None  # commission of an active agent in a month, where agents are known
    known: int
    wanted: int
    cut_short: tuple[OfficeEarnings, ...]  # known to a day within the month, and summed up to it


@dataclass(frozen=True)
class BudgetProgress:
    """What is reached of a budget, by the offices that have one."""

    actual: Decimal
    budget: Decimal
    share: Decimal | None
    offices: int


class OfficeMonths:
    """The offices' months of some facts, to be summed and compared."""

    def __init__(self, facts: Facts) -> None:
        self.rows = {(row.office_id, row.month): row for row in facts.office_months}
        self.budgets = {(row.office_id, row.month, row.measure): row for row in facts.budgets}
        self.names = {row.office_id: row.office_name for row in facts.office_months}
        self.began = {row.office_id: row.began_month for row in facts.office_months if row.began_month}
        """The first months of the offices that were not there yet in an earlier one."""
        months = {month for (_, month), row in self.rows.items() if row.commission is not None}
        begun = {month for (_, month), row in self.rows.items() if row.is_open}
        whole = {month for (_, month), row in self.rows.items() if row.is_whole}
        self.may_have_vat = any(row.vat == "unknown" for row in facts.budgets)
        """Whether commission may have VAT in it where it stands beside a budget without."""
        self.oldest: date | None = min(months, default=None)
        self.newest: date | None = max(months, default=None)
        self.last_whole: date | None = max((whole & months) - begun, default=None)
        """The newest month that is over, and held to its end and known of any office."""
        self.running: date | None = max(begun & months, default=None)
        self.offices: Sequence[str] = ()
        """The offices, those that earned most in the last twelve whole months first."""
        if latest := self.last_whole or self.newest:
            year = last_months(latest, 12)
            self.offices = sorted(self.names, key=lambda one: (-self.total([one], year).commission, one))

    def if_vat(self, amount: Decimal | None) -> Decimal | None:
        """A commission, or its share of a budget, without VAT; none where nobody has left that open."""
        return amount / (1 + VAT) if self.may_have_vat and amount is not None else None

    def of_budget(self, share: Decimal | None, words: Language) -> str:
        """A share of a budget, beside what it is if VAT is in the commission where that is left open."""
        less = self.if_vat(share)
        return words.percent(share) + (f" / {words.percent(less)}" if less is not None else "")

    def heads_if_vat(self, heads: Sequence[str], words: Language) -> list[str]:
        """The names of columns with the other reading of these; none where nobody has left that open."""
        vat = words.percent(VAT)
        return [words.text("page.if_vat", head=one, vat=vat) for one in heads if self.may_have_vat]

    def since_held(self, period: Sequence[date]) -> tuple[date, ...]:
        """The months of a period from the first one on of which anything is held."""
        return tuple(month for month in period if self.oldest is not None and month >= self.oldest)

    def total(self, offices: Sequence[str], months: Sequence[date]) -> EarnedTotal:
        """What these offices earned in these months together, as far as it is known."""
        keys = ((office, month) for office in offices for month in months)
        wanted = [row for row in map(self.rows.get, keys) if row is not None]
        known = [row for row in wanted if row.commission is not None]
        homes = sum((row.sold_estate_parts or Decimal(0) for row in known), Decimal(0))
        earned, sold = sum_of(row.commission for row in known), sum_of(row.sold_commission for row in known)
        is_split = bool(known) and all(row.sold_commission is not None for row in known)
        staffed = [row for row in known if row.is_whole and row.active_agent_count is not None]
        return EarnedTotal(
            offices=len(offices),
            commission=earned,
            homes=homes,
            average=ratio(sold, homes),
            beside_sales=earned - sold if is_split else None,
            per_agent=ratio(
                sum_of(row.commission for row in staffed), sum(row.active_agent_count or 0 for row in staffed)
            ),
            known=len(known),
            wanted=len(wanted),
            cut_short=tuple(row for row in known if not row.is_whole),
        )

    def compared(
        self, offices: Sequence[str], months: Sequence[date]
    ) -> tuple[EarnedTotal, EarnedTotal] | None:
        """The months and the same a year before, over the offices that are held and were there in both."""
        before = [month.replace(year=month.year - 1) for month in months]
        both = [
            office
            for office in offices
            if all((row := self.rows.get((office, one))) and row.is_whole for one in (*months, *before))
            and not self.began_after(office, before[0])
        ]
        return (self.total(both, months), self.total(both, before)) if both else None

    def began_after(self, office: str, month: date) -> date | None:
        """When an office began that was not there yet in a month."""
        began = self.began.get(office)
        return began if began and began > month else None

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
    less: Decimal | None = None  # the value without VAT, where that may be in it
    is_open: bool = False
    is_part: bool = False  # known in part: to a day within it, or not of every office

    @property
    def is_whole(self) -> bool:
        return not (self.is_open or self.is_part)


def chart(
    title: str, months: Sequence[ChartMonth], words: Language, *, places: int = 0, finest: float = 0
) -> Shown:
    """One measure over months: what is drawn, in percent of width and height, and what is read out.

    Amounts have so many decimals at most; `finest` is the smallest step between two lines of the grid.
    """
    write = words.short if places else words.number
    marks = scale_marks([amount for one in months for amount in (one.value, one.before, one.budget)], finest)
    known = [(one.value, one.month) for one in months if one.value is not None and one.is_whole]
    description = words.text("months.nothing", title=title)
    if known:
        (most, best), (least, worst), (newest, last) = max(known), min(known), known[-1]
        description = words.text(
            "months.said",
            title=title,
            period=words.period(months[0].month, months[-1].month),
            best=words.month(best),
            most=write(most),
            worst=words.month(worst),
            least=write(least),
            last=words.month(last),
            newest=write(newest),
        )
    return {
        "title": title,
        "description": description,
        "columns": [_chart_column(place, months, marks, write, words) for place in range(len(months))],
        "lines": [
            {
                "y": span(mark, mark, marks)[0],
                "label": words.brief(Decimal(str(mark))) if mark else "0",
                "is_zero": mark == 0,
            }
            for mark in marks
        ],
        "slot": f"{round(100 / max(len(months), 1), 2):g}",
        "write": write,
        "places": places,
        "has_before": any(one.before is not None for one in months),
        "has_budget": any(one.budget is not None for one in months),
        "has_less": any(one.less is not None for one in months),
        "has_open": any(one.value is not None and one.is_open for one in months),
        "has_part": any(one.value is not None and one.is_part for one in months),
        "has_values": any(one.value is not None for one in months),
    }


def _chart_column(
    place: int,
    months: Sequence[ChartMonth],
    marks: Sequence[float],
    write: Callable[[Number | None], str],
    words: Language,
) -> Shown:
    """One month, drawn; the year is written below a month where it begins and there is room."""
    one, slot = months[place], 100 / len(months)
    begins_year = place == 0 or one.month.year != months[place - 1].month.year
    has_room = all(other.month.year == one.month.year for other in months[place : place + 3])
    value = words.text("page.unheld") if one.value is None else write(one.value)
    name = words.month(one.month)
    if one.value is not None and not one.is_whole:
        name += ", " + words.text("page.so_far" if one.is_open else "page.in_part")
    said = [words.text("months.column", month=name, value=value)]
    if one.budget is not None:
        said.append(words.text("months.column_budget", budget=write(one.budget)))
    if one.before is not None:
        said.append(words.text("months.column_before", before=write(one.before)))
    return {
        "month": one,
        "name": words.month(one.month),
        "x": f"{round(place * slot, 2):g}",
        "middle": f"{round((place + 0.5) * slot, 2):g}",
        "year": str(one.month.year) if begins_year and has_room else "",
        "value": None if one.value is None else span(0, one.value, marks),
        "before": None if one.before is None else span(0, one.before, marks),
        "budget": None if one.budget is None else span(one.budget, one.budget, marks)[0],
        "less": None if one.less is None else span(one.less, one.less, marks)[0],
        "description": "; ".join(said),
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
