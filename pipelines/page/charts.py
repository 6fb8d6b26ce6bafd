"""Charts of months and bars of amounts, every place in percent, so that they fit any screen.

The actual amount is a column, the year before a pale wider one behind it, the budget a line across.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.numbers import Number, month_name

MOST_LINES = 4
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class ChartMonth:
    """What a chart shows of one month."""

    month: date
    value: Decimal | None
    before: Decimal | None = None
    budget: Decimal | None = None
    is_open: bool = False


@dataclass(frozen=True)
class ChartColumn:
    """One month, drawn; `x` and `middle` in percent of the width, the rest of the height."""

    month: ChartMonth
    x: str
    middle: str
    year: str  # written below the month, where a year begins and there is room
    value: tuple[str, str] | None  # where the column begins and how high it is
    before: tuple[str, str] | None
    budget: str | None
    description: str


@dataclass(frozen=True)
class ScaleLine:
    """A line of the grid with its number."""

    y: str
    label: str
    is_zero: bool


@dataclass(frozen=True)
class Chart:
    """One measure over months: what is drawn and what is read out; `write` writes its amounts."""

    title: str
    description: str
    columns: tuple[ChartColumn, ...]
    lines: tuple[ScaleLine, ...]
    slot: str  # width of a month in percent
    write: Callable[[Number | None], str]
    has_before: bool
    has_budget: bool
    has_values: bool


@dataclass(frozen=True)
class Scale:
    """From amounts to percent of the height, zero always included; `marks` are where lines are drawn."""

    low: float
    high: float
    marks: tuple[float, ...]

    def y(self, amount: Number) -> float:
        return 100 * (self.high - float(amount)) / (self.high - self.low)

    def column(self, amount: Decimal | None) -> tuple[str, str] | None:
        """Top and height of a column from zero to the amount, downwards for a negative one."""
        if amount is None:
            return None
        top, bottom = sorted((self.y(0), self.y(amount)))
        return _short(top), _short(bottom - top)


def scale_of(amounts: Sequence[Decimal | None], finest: float = 0) -> Scale:
    """A scale with round marks that all amounts fit into; whole things are not cut finer than one."""
    known = [float(one) for one in amounts if one is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    if high == low:
        high = low + 1
    rough = max((high - low) / MOST_LINES, finest)
    size = 10 ** math.floor(math.log10(rough))
    step = next(
        size * one for one in _STEPS if size * one >= rough and (size * one) % (finest or size * one) == 0
    )
    low, high = step * math.floor(low / step), step * math.ceil(high / step - 1e-9)
    first, last = math.ceil(low / step), math.floor(high / step)
    return Scale(low, high, tuple(place * step for place in range(first, last + 1)))


def chart(
    title: str,
    months: Sequence[ChartMonth],
    write: Callable[[Number | None], str],
    write_short: Callable[[Number], str],
    *,
    finest: float = 0,
) -> Chart:
    """The chart of a measure; `write` writes an amount out, `write_short` at a line of the grid."""
    scale = scale_of([amount for one in months for amount in (one.value, one.before, one.budget)], finest)
    slot = 100 / max(len(months), 1)
    lines = [
        ScaleLine(_short(scale.y(mark)), write_short(Decimal(str(mark))) if mark else "0", mark == 0)
        for mark in scale.marks
    ]
    known = [(one.value, one.month) for one in months if one.value is not None]
    description = f"{title}: nothing is held."
    if known:
        (most, best), (least, worst), (newest, last) = max(known), min(known), known[-1]
        description = (
            f"{title} by month, {month_name(months[0].month)} to {month_name(months[-1].month)}. "
            f"Most in {month_name(best)}, {write(most)}; least in {month_name(worst)}, {write(least)}; "
            f"{month_name(last)} {write(newest)}."
        )
    return Chart(
        title=title,
        description=description,
        columns=tuple(_column(place, months, scale, slot, write) for place in range(len(months))),
        lines=tuple(lines),
        slot=_short(slot),
        write=write,
        has_before=any(one.before is not None for one in months),
        has_budget=any(one.budget is not None for one in months),
        has_values=bool(known),
    )


def _column(
    place: int,
    months: Sequence[ChartMonth],
    scale: Scale,
    slot: float,
    write: Callable[[Number | None], str],
) -> ChartColumn:
    one = months[place]
    year = one.month.year
    begins_year = place == 0 or year != months[place - 1].month.year
    has_room = all(other.month.year == year for other in months[place : place + 3])
    value = "not held" if one.value is None else write(one.value)
    words = [f"{month_name(one.month)}{', so far' if one.is_open else ''}: {value}"]
    if one.budget is not None:
        words.append(f"budget {write(one.budget)}")
    if one.before is not None:
        words.append(f"the year before {write(one.before)}")
    return ChartColumn(
        month=one,
        x=_short(place * slot),
        middle=_short((place + 0.5) * slot),
        year=str(year) if begins_year and has_room else "",
        value=scale.column(one.value),
        before=scale.column(one.before),
        budget=None if one.budget is None else _short(scale.y(one.budget)),
        description="; ".join(words),
    )


def bar_width(amount: Number | None, longest: Number) -> str:
    """Percent of the width for an amount, the longest taking all; nothing and less than nothing none."""
    if amount is None or amount <= 0 or longest <= 0:
        return "0"
    return f"{min(100.0, 100 * float(amount) / float(longest)):.1f}".removesuffix(".0")


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
