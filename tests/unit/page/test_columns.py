"""Do columns stand where their amounts are?"""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as some

from pipelines.page.columns import Point, chart, scale_of
from pipelines.page.numbers import homes
from tests.unit.page.given import month

AMOUNTS = some.decimals(-10_000_000, 10_000_000, places=2)


@given(some.lists(some.none() | AMOUNTS, max_size=12))
def test_every_amount_and_zero_lie_on_the_scale(amounts: list[Decimal | None]) -> None:
    scale = scale_of(amounts)
    places = [scale.y(amount) for amount in [Decimal(0), *amounts] if amount is not None]
    assert min(places) >= -1e-6
    assert max(places) <= 100 + 1e-6


@given(some.lists(AMOUNTS, min_size=1, max_size=12))
def test_a_scale_has_two_to_six_round_lines(amounts: list[Decimal]) -> None:
    assert 2 <= len(scale_of(amounts).marks) <= 6


@given(some.lists(some.integers(0, 5_000).map(Decimal), max_size=12))
def test_whole_things_have_whole_lines(amounts: list[Decimal]) -> None:
    assert all(mark == round(mark) for mark in scale_of(amounts, finest=1).marks)


def test_a_column_reaches_from_zero_to_its_amount() -> None:
    bar = scale_of([Decimal(10)]).bar(Decimal(5))
    assert bar is not None
    assert float(bar.y) + float(bar.height) == 100


def test_a_negative_month_hangs_below_zero() -> None:
    scale = scale_of([Decimal(-5), Decimal(5)])
    bar = scale.bar(Decimal(-5))
    assert bar is not None
    assert float(bar.y) == round(scale.y(0), 2)


def test_a_month_that_is_not_held_has_no_column_and_says_so() -> None:
    shown = chart("Homes", [Point(month("2026-03"), None), Point(month("2026-04"), Decimal(2))], homes, homes)
    assert [(one.value is None, one.told) for one in shown.columns] == [
        (True, "March 2026: not held"),
        (False, "April 2026: 2"),
    ]


def test_the_table_behind_holds_every_month_newest_first() -> None:
    points = [Point(month("2026-03"), Decimal(1), budget=Decimal(2)), Point(month("2026-04"), Decimal(2))]
    rows = chart("Homes", points, homes, homes).rows
    assert [(row.month, row.value, row.budget) for row in rows] == [
        ("2026-04", "2", "–"),
        ("2026-03", "1", "2"),
    ]
