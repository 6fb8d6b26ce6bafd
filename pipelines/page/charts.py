"""Charts by month: amounts as columns, the year before pale and wider behind them, the budget a line across.

Every place is in percent, so that a chart fits any screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from pipelines.page.language import Language, Number

MOST_LINES = 4
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class ChartMonth:
    """What a chart shows of one month."""

    month: date
    value: Number | None
    before: Number | None = None
    budget: Number | None = None
    is_open: bool = False
    is_part: bool = False  # known in part: to a day within it, or not of every office

    @property
    def is_whole(self) -> bool:
        return not (self.is_open or self.is_part)


@dataclass(frozen=True)
class ChartColumn:
    """A month, drawn; what reaches from one amount to another has a top and a height."""

    month: ChartMonth
    name: str
    description: str
    x: str
    middle: str
    year: str
    value: tuple[str, str] | None
    before: tuple[str, str] | None
    budget: str | None


@dataclass(frozen=True)
class ChartLine:
    """A line of the grid."""

    y: str
    label: str
    is_zero: bool


@dataclass(frozen=True)
class Chart:
    """What is drawn, and what is read out."""

    title: str
    description: str
    columns: list[ChartColumn]
    lines: list[ChartLine]
    slot: str

    @property
    def has_values(self) -> bool:
        return any(one.month.value is not None for one in self.columns)

    @property
    def has_before(self) -> bool:
        return any(one.before is not None for one in self.columns)

    @property
    def has_budget(self) -> bool:
        return any(one.budget is not None for one in self.columns)


def chart(
    title: str,
    months: Sequence[ChartMonth],
    words: Language,
    write: Callable[[Number | None], str],
    *,
    finest: float = 0,
) -> Chart:
    """One measure over months; `finest` is the smallest step between two lines of the grid."""
    marks = scale_marks([amount for one in months for amount in (one.value, one.before, one.budget)], finest)
    known = [(one.value, one.month) for one in months if one.value is not None and one.is_whole]
    description = words.text("months.nothing", title=title)
    if known:
        (most, best), (least, worst) = (
            max(known, key=lambda one: one[0]),
            min(known, key=lambda one: one[0]),
        )
        description = words.text(
            "months.said",
            title=title,
            period=words.period(months[0].month, months[-1].month),
            best=words.month(best),
            most=write(most),
            worst=words.month(worst),
            least=write(least),
        )
    return Chart(
        title=title,
        description=description,
        columns=[_column(place, months, marks, write, words) for place in range(len(months))],
        lines=[
            ChartLine(span(mark, mark, marks)[0], write(mark) if mark else "0", mark == 0) for mark in marks
        ],
        slot=f"{round(100 / max(len(months), 1), 2):g}",
    )


def _column(
    place: int,
    months: Sequence[ChartMonth],
    marks: Sequence[float],
    write: Callable[[Number | None], str],
    words: Language,
) -> ChartColumn:
    """One month; the year is written below a month where it begins and there is room."""
    one, slot = months[place], 100 / len(months)
    begins_year = place == 0 or one.month.year != months[place - 1].month.year
    has_room = all(other.month.year == one.month.year for other in months[place : place + 3])
    name = words.month(one.month)
    if one.value is not None and not one.is_whole:
        name += ", " + words.text("page.so_far" if one.is_open else "page.in_part")
    said = [f"{name}: {words.text('page.unheld') if one.value is None else write(one.value)}"]
    said += [f"{words.text('months.budget')} {write(one.budget)}"] if one.budget is not None else []
    said += [f"{words.text('months.before')} {write(one.before)}"] if one.before is not None else []
    return ChartColumn(
        month=one,
        name=words.month(one.month),
        description="; ".join(said),
        x=f"{round(place * slot, 2):g}",
        middle=f"{round((place + 0.5) * slot, 2):g}",
        year=str(one.month.year) if begins_year and has_room else "",
        value=None if one.value is None else span(0, one.value, marks),
        before=None if one.before is None else span(0, one.before, marks),
        budget=None if one.budget is None else span(one.budget, one.budget, marks)[0],
    )


def scale_marks(amounts: Sequence[Number | None], finest: float = 0) -> tuple[float, ...]:
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
