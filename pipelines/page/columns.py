"""How do months become columns? Every place in percent of the chart, so that it fits any screen.

The actual amount is a column, the year before a pale wider one behind it, the budget a line across.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.numbers import month_code, month_name, percent, short_month

Format = Callable[[Decimal | None], str]
Short = Callable[[Decimal], str]
MOST_LINES = 4
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Point:
    """One month of a chart, before it is drawn."""

    month: date
    value: Decimal | None
    before: Decimal | None = None
    budget: Decimal | None = None
    is_open: bool = False


@dataclass(frozen=True)
class Bar:
    """Where a column begins and how high it is, in percent of the plot."""

    y: str
    height: str


@dataclass(frozen=True)
class Column:
    """One month, drawn; `x` and `middle` in percent of the width."""

    x: str
    middle: str
    label: str
    year: str
    value: Bar | None
    before: Bar | None
    budget: str | None
    is_open: bool
    told: str


@dataclass(frozen=True)
class Line:
    """A line of the grid with its number."""

    y: str
    label: str
    is_zero: bool


@dataclass(frozen=True)
class TableRow:
    """The same month in numbers."""

    month: str
    value: str
    before: str
    budget: str
    attained: str
    is_open: bool


@dataclass(frozen=True)
class Chart:
    """One measure over months: what is drawn, what is read out, and the table behind it."""

    title: str
    told: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    rows: tuple[TableRow, ...]
    slot: str  # width of a month in percent
    has_before: bool
    has_budget: bool
    shows_gaps: bool


@dataclass(frozen=True)
class Scale:
    """From amounts to percent of the height, zero always included."""

    low: float
    high: float
    step: float

    def y(self, amount: Decimal | float) -> float:
        return 100 * (self.high - float(amount)) / (self.high - self.low)

    def bar(self, amount: Decimal | None) -> Bar | None:
        """A column from zero to the amount, downwards for a negative one."""
        if amount is None:
            return None
        ends = sorted((self.y(0), self.y(amount)))
        return Bar(_short(ends[0]), _short(ends[1] - ends[0]))

    @property
    def marks(self) -> list[float]:
        """The round numbers at which lines are drawn."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        return [place * self.step for place in range(first, last + 1)]


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
    return Scale(step * math.floor(low / step), step * math.ceil(high / step - 1e-9), step)


def chart(title: str, points: Sequence[Point], written: Format, short: Short, *, finest: float = 0) -> Chart:
    """The chart of a measure; `written` writes an amount out, `short` writes it at a line."""
    scale = scale_of([amount for one in points for amount in (one.value, one.before, one.budget)], finest)
    slot = 100 / max(len(points), 1)
    return Chart(
        title=title,
        told=_told(title, points, written),
        columns=tuple(
            _column(point, place, slot, scale, points, written) for place, point in enumerate(points)
        ),
        lines=tuple(
            Line(_short(scale.y(mark)), short(Decimal(str(mark))) if mark else "0", mark == 0)
            for mark in scale.marks
        ),
        rows=tuple(_row(point, written) for point in reversed(points)),
        slot=_short(slot),
        has_before=any(one.before is not None for one in points),
        has_budget=any(one.budget is not None for one in points),
        shows_gaps=any(one.value is not None for one in points),
    )


def _column(
    point: Point, place: int, slot: float, scale: Scale, points: Sequence[Point], written: Format
) -> Column:
    starts_year = place == 0 or point.month.year != points[place - 1].month.year
    has_room = all(one.month.year == point.month.year for one in points[place : place + 3])
    return Column(
        x=_short(place * slot),
        middle=_short((place + 0.5) * slot),
        label=short_month(point.month),
        year=str(point.month.year) if starts_year and has_room else "",
        value=scale.bar(point.value),
        before=scale.bar(point.before),
        budget=None if point.budget is None else _short(scale.y(point.budget)),
        is_open=point.is_open,
        told=_told_of(point, written),
    )


def _row(point: Point, written: Format) -> TableRow:
    share = point.value / point.budget if point.value is not None and point.budget else None
    return TableRow(
        month_code(point.month),
        written(point.value),
        written(point.before),
        written(point.budget),
        percent(share),
        point.is_open,
    )


def _told_of(point: Point, written: Format) -> str:
    value = "not held" if point.value is None else written(point.value)
    words = [f"{month_name(point.month)}{', so far' if point.is_open else ''}: {value}"]
    if point.budget is not None:
        words.append(f"budget {written(point.budget)}")
    if point.before is not None:
        words.append(f"the year before {written(point.before)}")
    return "; ".join(words)


def _told(title: str, points: Sequence[Point], written: Format) -> str:
    known = [(one.value, one.month) for one in points if one.value is not None]
    if not known:
        return f"{title}: nothing is held."
    (most, best), (least, worst) = max(known), min(known)
    newest, month = known[-1]
    return (
        f"{title} by month, {month_name(points[0].month)} to {month_name(points[-1].month)}. "
        f"Most in {month_name(best)}, {written(most)}; least in {month_name(worst)}, {written(least)}; "
        f"{month_name(month)} {written(newest)}."
    )


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
