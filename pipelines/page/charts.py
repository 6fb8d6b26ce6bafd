"""Charts as inline SVG: columns, stacked parts, ticks and lines on one scale, and sparklines.

Positions are in percent. The browser stretches the shapes; texts are placed over them and keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.page.language import Number

MAX_GRID_LINES = 4
MAX_NAMES = 8
"""If a chart has more names than this, small screens and prints omit the second, the fourth and so on."""
LEFT, TOP, BOTTOM = 9.0, 4.0, 88.0
"""Left edge of the columns, and top and bottom of the scale, in percent."""
WIDTHS = {"column": 0.5, "wide": 0.84, "tick": 0.88}
"""Width of each mark, as a share of the distance between neighbouring names on the axis."""
_STEPS = (1, 2, 2.5, 5, 10)
NumberFormat = Callable[[Number | None], str]


@dataclass(frozen=True)
class Series:
    """One measure: for each name on the axis, a span from one amount to another, or None."""

    name: str
    kind: str  # its CSS class
    spans: Sequence[tuple[Number, Number] | None]
    mark: str = "column"  # column, wide, tick (at the end of a span) or line (joins the ends)


@dataclass(frozen=True)
class Shape:
    """A path with its tooltip."""

    kind: str
    path: str
    title: str = ""


@dataclass(frozen=True)
class Label:
    """A text at a position in percent."""

    kind: str
    x: str
    y: str
    text: str


@dataclass(frozen=True)
class Chart:
    """The shapes and labels of a chart, its legend, and its description for screen readers."""

    title: str
    description: str
    shapes: list[Shape]
    labels: list[Label]
    legend: list[tuple[str, str]]  # the CSS class and name of each series


def column_spans(values: Sequence[Number | None]) -> list[tuple[Number, Number] | None]:
    """Spans from zero to each value."""
    return [None if value is None else (0, value) for value in values]


def stacked_spans(parts: Sequence[Sequence[Number]]) -> list[list[tuple[Number, Number] | None]]:
    """Stack parts on one another. Returns a list of spans for each part, with None for an amount of zero."""
    heights = [0.0] * max(map(len, parts), default=0)
    spans: list[list[tuple[Number, Number] | None]] = []
    for part in parts:
        tops = [height + float(value) for height, value in zip(heights, part, strict=True)]
        spans.append([(low, high) if high != low else None for low, high in zip(heights, tops, strict=True)])
        heights = tops
    return spans


def chart(
    title: str,
    names: Sequence[str],
    series: Sequence[Series],
    write: NumberFormat,
    *,
    min_step: float = 0,
    blank: str = "",
) -> Chart:
    """Draw series over an axis of names. Grid lines are at least `min_step` apart.

    `blank` is the tooltip of a name without amounts. Names before the first one with amounts get no tooltip.
    """
    amounts = [amount for item in series for span in item.spans if span for amount in span]
    scale = grid_amounts(amounts, min_step)
    slot = (100 - LEFT) / max(len(names), 1)
    shapes = [
        Shape("grid" if amount else "grid zero", _line([(LEFT, _y(amount, scale)), (100, _y(amount, scale))]))
        for amount in scale
    ]
    for item in series:
        if item.mark == "line":
            points = [
                (LEFT + (index + 0.5) * slot, _y(span[1], scale))
                for index, span in enumerate(item.spans)
                if span
            ]
            shapes.append(Shape(f"line {item.kind}", _line(points)))
            continue
        width = WIDTHS[item.mark] * slot
        for index, span in enumerate(item.spans):
            if span:
                left = LEFT + (index + 0.5) * slot - width / 2
                start, end = _y(span[0], scale), _y(span[1], scale)
                tick, column = _line([(left, end), (left + width, end)]), _rectangle(left, width, start, end)
                shapes.append(Shape(item.kind, tick if item.mark == "tick" else column))
    labels = [
        Label("axis", f"{LEFT - 1:g}", f"{_y(amount, scale):.2f}", write(amount) if amount else "0")
        for amount in scale
    ]
    tooltips: list[str] = []
    for index, name in enumerate(names):
        if text := _amounts(index, series, write) or (tooltips and blank):
            tooltips.append(f"{name}: {text}")
            shapes.append(Shape("hit", _rectangle(LEFT + index * slot, slot, TOP, BOTTOM), tooltips[-1]))
        kind = "name between" if index % 2 and len(names) > MAX_NAMES else "name"
        labels.append(Label(kind, f"{LEFT + (index + 0.5) * slot:.2f}", "97", name))
    legend = [
        (f"line {item.kind}" if item.mark == "line" else item.kind, item.name)
        for item in series
        if item.name and any(item.spans)
    ]
    description = f"{title}. {' '.join(f'{tooltip}.' for tooltip in tooltips)}"
    return Chart(title, description, shapes, labels, legend if len(legend) > 1 else [])


def sparkline(title: str, values: Sequence[Number | None]) -> Chart | None:
    """A small line with a mark at its end, or None if fewer than three values are known."""
    indexed = [(index, float(value)) for index, value in enumerate(values) if value is not None]
    if len(indexed) < 3:
        return None
    low, high = min(value for _, value in indexed), max(value for _, value in indexed)
    steps, height = max(len(values) - 1, 1), (high - low) or 1
    points = [(2 + 96 * index / steps, 92 - 84 * (value - low) / height) for index, value in indexed]
    x, y = points[-1]
    shapes = [Shape("line value", _line(points)), Shape("line last", _line([(x, y), (x, y)]))]
    return Chart(title, title, shapes, [], [])


def _amounts(index: int, series: Sequence[Series], write: NumberFormat) -> str:
    spans = [(item.name, span) for item in series if (span := item.spans[index]) is not None]
    return ", ".join(f"{name} {write(_amount(span))}".strip() for name, span in spans)


def _amount(span: tuple[Number, Number]) -> Number:
    return span[1] if not span[0] else float(span[1]) - float(span[0])


def grid_amounts(amounts: Sequence[Number | None], min_step: float = 0) -> tuple[float, ...]:
    """Round numbers for the grid lines, at least `min_step` apart; they enclose zero and `amounts`."""
    values = [0.0, *(float(amount) for amount in amounts if amount is not None)]
    low, high = min(values), max(values) if any(values) else 1.0
    rough = max((high - low) / MAX_GRID_LINES, min_step)
    size = 10 ** math.floor(math.log10(rough))
    step = next(
        size * factor
        for factor in _STEPS
        if size * factor >= rough and (size * factor) % (min_step or size * factor) == 0
    )
    return tuple(index * step for index in range(math.floor(low / step), math.ceil(high / step - 1e-9) + 1))


def _y(amount: Number, scale: Sequence[float]) -> float:
    return TOP + (BOTTOM - TOP) * (scale[-1] - float(amount)) / (scale[-1] - scale[0])


def _line(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in points) if points else ""


def _rectangle(left: float, width: float, top: float, bottom: float) -> str:
    return f"M{left:.2f} {top:.2f}h{width:.2f}V{bottom:.2f}h{-width:.2f}Z"


def bar_width(amount: Number | None, longest: Number) -> str:
    """The width of a bar in percent of the longest bar, at most 100; 0 unless both amounts are positive."""
    if amount is None or amount <= 0 or longest <= 0:
        return "0"
    return f"{round(min(100.0, 100 * float(amount) / float(longest)), 1):g}"
