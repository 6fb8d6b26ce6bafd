"""Numbers and times are written the Swedish way."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from pipelines.page import figures


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
