"""Charts: a scale is round and holds every amount, columns are where their amounts are."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pipelines.page.charts import ChartMonth, bar_width, chart, scale_marks, span
from pipelines.page.language import Number, language
from tests.unit.page.given import month

AMOUNTS = some.decimals(-10_000_000, 10_000_000, places=2)


@given(some.lists(some.none() | AMOUNTS, max_size=12))
def test_every_amount_and_zero_are_on_the_scale(amounts: list[Decimal | None]) -> None:
    marks = scale_marks(amounts)
    known = [float(amount) for amount in [Decimal(0), *amounts] if amount is not None]
    finest = 1e-6 * (marks[-1] - marks[0])
    assert marks[0] - finest <= min(known) <= max(known) <= marks[-1] + finest


@given(some.lists(AMOUNTS, min_size=1, max_size=12))
def test_a_scale_has_two_to_six_round_lines(amounts: list[Decimal]) -> None:
    assert 2 <= len(scale_marks(amounts)) <= 6


@given(some.lists(some.integers(0, 5_000).map(Decimal), max_size=12))
def test_whole_things_have_whole_lines(amounts: list[Decimal]) -> None:
    assert all(mark == round(mark) for mark in scale_marks(amounts, finest=1))


def test_a_column_reaches_from_zero_to_its_amount_upwards_and_downwards() -> None:
    marks = scale_marks([Decimal(-10), Decimal(10)])
    assert [span(0, amount, marks) for amount in (5, -5)] == [("25", "25"), ("50", "25")]


def test_a_month_that_is_not_held_has_no_column_and_says_so() -> None:
    months = [ChartMonth(month("2026-03"), None), ChartMonth(month("2026-04"), Decimal(2))]
    shown = chart("Homes", months, language("en"), language("en").short)
    found = [(one.value is None, one.description) for one in shown.columns]
    assert found == [(True, "March 2026: not read"), (False, "April 2026: 2")]


@pytest.mark.parametrize(
    ("amount", "width"),
    [(5, "50"), (20, "100"), (Decimal("3.333"), "33.3"), (0, "0"), (-5, "0"), (None, "0")],
)
def test_a_bar_is_in_proportion_to_the_longest_and_never_longer(amount: Number | None, width: str) -> None:
    assert bar_width(amount, 10) == width
