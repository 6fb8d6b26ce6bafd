"""Words, numbers and dates of a language are those of its people."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from pipelines.page.language import language

ENGLISH, SWEDISH = language("en"), language("sv")


def test_both_languages_have_the_same_placeholders() -> None:
    for name, words in ENGLISH.words.items():
        for key, text in words.items():
            english, swedish = (
                {*re.findall(r"\{(\w*)\}", str(found))} - {"count"}
                for found in (text, SWEDISH.words[name][key])
            )
            assert (key, english) == (key, swedish)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (ENGLISH.number(Decimal("1234567.4")), "1,234,567"),
        (SWEDISH.number(Decimal("1234567.4")), "1 234 567"),
        (ENGLISH.number(Decimal("-0.4")), "0"),
        (SWEDISH.number(Decimal(-1500)), "−1 500"),
        (ENGLISH.number(None), "–"),
        (ENGLISH.signed(5), "+5"),
        (ENGLISH.compact(2_500_000), "2.5M"),
        (SWEDISH.compact(4_000_000), "4,0 mkr"),
        (ENGLISH.compact(250_000), "250k"),
        (ENGLISH.compact(900), "900"),
        (SWEDISH.tenths(Decimal("4.83330000")), "4,8"),
        (ENGLISH.tenths(Decimal("64.00000000")), "64"),
        (ENGLISH.percent(Decimal("1.014")), "101%"),
        (SWEDISH.percent(Decimal("1.014")), "101 %"),
        (SWEDISH.change(Decimal("0.0421")), "+4,2 %"),
        (ENGLISH.change(Decimal("-0.079")), "−7.9%"),
        (ENGLISH.change(Decimal("0.0001")), "0.0%"),
        (ENGLISH.points(0.00048), "+0.05 pp"),
        (SWEDISH.points(Decimal("-0.0005")), "−0,05 %-enheter"),
        (ENGLISH.period(date(2026, 1, 1), date(2026, 3, 1)), "January to March 2026"),
        (SWEDISH.period(date(2025, 4, 1), date(2026, 3, 1)), "april 2025–mars 2026"),
        (SWEDISH.day(date(2026, 11, 15)), "15 november 2026"),
        (ENGLISH.text("changes.new", 1, amount="5"), "one new sale (5)"),
        (ENGLISH.text("changes.new", 1200, amount="5"), "1,200 new sales (5)"),
    ],
)
def test_a_number_and_a_date_are_written_as_the_language_does(written: str, text: str) -> None:
    assert written.replace("\N{NO-BREAK SPACE}", " ") == text
    assert " " not in SWEDISH.number(1_234_567)  # a number is never broken at the end of a line


def test_a_time_is_in_the_brokerage_s_time_zone_also_in_summer() -> None:
    stockholm = ZoneInfo("Europe/Stockholm")
    told = [ENGLISH.moment(datetime(2026, month, 1, 22, 30), stockholm) for month in (1, 6)]
    assert told == ["1 January 2026 23:30", "2 June 2026 00:30"]
