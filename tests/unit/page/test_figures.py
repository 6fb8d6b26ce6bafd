"""Figures: numbers and times are written the Swedish way, columns are where their amounts are."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pipelines.page import figures
from pipelines.page.figures import ChartMonth, Number, bar_width, chart, scale_marks, short_number, span
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
    shown = chart("Homes", months, short_number, short_number)
    found = [(one["value"] is None, one["description"]) for one in shown["columns"]]
    assert found == [(True, "March 2026: not held"), (False, "April 2026: 2")]


@pytest.mark.parametrize(
    ("amount", "width"),
    [(5, "50"), (20, "100"), (Decimal("3.333"), "33.3"), (0, "0"), (-5, "0"), (None, "0")],
)
def test_a_bar_is_in_proportion_to_the_longest_and_never_longer(amount: Number | None, width: str) -> None:
    assert bar_width(amount, 10) == width


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (figures.kronor(Decimal("1234567.4")), "1 234 567 kr"),
        (figures.kronor(Decimal("-0.4")), "0 kr"),
        (figures.kronor(Decimal(-1500)), "−1 500 kr"),
        (figures.kronor(None), "–"),
        (figures.short_kronor(2_500_000), "2,5 mkr"),
        (figures.short_kronor(250_000), "250 tkr"),
        (figures.short_kronor(900), "900 kr"),
        (figures.short_number(Decimal("4.83330000")), "4,8"),
        (figures.short_number(Decimal("64.00000000")), "64"),
        (figures.percent(Decimal("1.014")), "101 %"),
        (figures.change(Decimal("0.0421")), "+4,2 %"),
        (figures.change(Decimal("-0.079")), "−7,9 %"),
        (figures.change(Decimal("0.0001")), "0,0 %"),
        (figures.kronor(Decimal("0.01"), 2), "0,01 kr"),
        (figures.percent(figures.ratio(1, 3)), "33 %"),
        (figures.percent(figures.ratio(1, 0)), "–"),
        (figures.period_name(date(2026, 1, 1), date(2026, 3, 1)), "January to March 2026"),
        (figures.period_name(date(2025, 4, 1), date(2026, 3, 1)), "April 2025 to March 2026"),
    ],
)
def test_a_number_is_written_as_swedes_write_it(written: str, text: str) -> None:
    assert written.replace(figures.SPACE, " ") == text


def test_a_number_is_never_broken_at_the_end_of_a_line() -> None:
    assert " " not in figures.kronor(1_234_567)


def test_an_instant_is_on_the_brokerage_s_clock_also_in_summer() -> None:
    stockholm = ZoneInfo("Europe/Stockholm")
    told = [figures.moment(datetime(2026, month, 1, 22, 30), stockholm) for month in (1, 6)]
    assert told == ["1 January 2026 23:30", "2 June 2026 00:30"]
