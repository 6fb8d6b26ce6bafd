"""Charts: a scale is round and holds every amount, columns are where their amounts are."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pipelines.page.charts import Series, bar_width, chart, column_spans, grid_amounts, sparkline
from pipelines.page.language import Number, language

ENGLISH = language("en")
AMOUNTS = some.decimals(-10_000_000, 10_000_000, places=2)


@given(some.lists(some.none() | AMOUNTS, min_size=1, max_size=12))
def test_two_to_six_grid_lines_enclose_every_amount_and_zero(amounts: list[Decimal | None]) -> None:
    marks = grid_amounts(amounts)
    assert 2 <= len(marks) <= 6
    known = [float(amount) for amount in [Decimal(0), *amounts] if amount is not None]
    finest = 1e-6 * (marks[-1] - marks[0])
    assert marks[0] - finest <= min(known) <= max(known) <= marks[-1] + finest


@given(some.lists(some.integers(0, 5_000).map(Decimal), max_size=12))
def test_counts_have_whole_grid_lines(amounts: list[Decimal]) -> None:
    assert all(mark == round(mark) for mark in grid_amounts(amounts, min_step=1))


def test_a_column_reaches_from_zero_to_its_amount_upwards_and_downwards() -> None:
    series = [Series("", "value", column_spans([5, -5]))]
    drawing = chart("Homes", ["a", "b"], series, ENGLISH.tenths)
    assert [shape.path for shape in drawing.shapes if shape.kind == "value"] == [
        "M20.38 46.00h22.75V4.00h-22.75Z",
        "M65.88 46.00h22.75V88.00h-22.75Z",
    ]


def test_a_missing_amount_has_no_column_and_the_tooltip_says_so() -> None:
    series = [Series("", "value", column_spans([None, 2, None, 0]))]
    drawing = chart("Homes", ["a", "b", "c", "d"], series, ENGLISH.tenths, blank="not loaded")
    assert len([shape for shape in drawing.shapes if shape.kind == "value"]) == 2
    assert drawing.description == "Homes. b: 2. c: not loaded. d: 0."


def test_a_sparkline_needs_three_values() -> None:
    assert sparkline("Homes", [1, None, 2]) is None
    assert sparkline("Homes", [1, 2, 3]) is not None


@pytest.mark.parametrize(
    ("amount", "width"),
    [(5, "50"), (20, "100"), (Decimal("3.333"), "33.3"), (0, "0"), (-5, "0"), (None, "0")],
)
def test_a_bar_is_in_proportion_to_the_longest_and_never_longer(amount: Number | None, width: str) -> None:
    assert bar_width(amount, 10) == width
