"""Tests of service times on the brokerage's wall clock: offsets, summer time, rare forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.normalize.times import local_days, local_times

STOCKHOLM = "Europe/Stockholm"


def read(*texts: str | None) -> list[datetime | None]:
    return local_times(pl.Series(texts, dtype=pl.String), STOCKHOLM).to_list()


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-08-31T11:46:09", datetime(2026, 8, 31, 11, 46, 9)),
        ("2026-08-31T11:46:09.1234567", datetime(2026, 8, 31, 11, 46, 9, 123_456)),
        ("2026-08-31", datetime(2026, 8, 31)),
        ("2026-08-31T11:46", datetime(2026, 8, 31, 11, 46)),
        ("2026-08-31t11:46:09", datetime(2026, 8, 31, 11, 46, 9)),
        ("20260831T114609.5Z", datetime(2026, 8, 31, 13, 46, 9, 500_000)),
        ("2026-08-31T11:46:09Z", datetime(2026, 8, 31, 13, 46, 9)),
        ("2026-01-31T11:46:09.5+02:00", datetime(2026, 1, 31, 10, 46, 9, 500_000)),
        ("2026-01-31T11:46+02", datetime(2026, 1, 31, 10, 46)),
        ("2026-03-29T02:30:00", datetime(2026, 3, 29, 2, 30)),  # an hour that summer time skips
        ("2026-01-31T23:30:00Z", datetime(2026, 2, 1, 0, 30)),  # a month ends by the wall clock
    ],
)
def test_a_time_is_read_in_every_iso_form(text: str, time: datetime) -> None:
    assert read(text) == [time]


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-30", "2026-01-01T25:00:00+01:00", "20260101", "1767225600"]
)
def test_a_text_that_is_not_a_time_becomes_null(text: str) -> None:
    assert read(text) == [None]


@pytest.mark.parametrize("offset", ["", "Z", "+00:00", "+02:00"])
def test_the_ends_of_the_calendar_stand_for_no_time_and_are_not_moved(offset: str) -> None:
    assert read(f"0001-01-01T00:00:00{offset}", f"9999-12-31T23:59:59.9999999{offset}") == [
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
    ]


def read_days(*texts: str | None, zone: str = STOCKHOLM) -> list[datetime | None]:
    written = pl.Series(texts, dtype=pl.String)
    return local_days(written, local_times(written, zone), zone).to_list()


def test_days_that_are_all_local_midnights_as_utc_are_those_midnights() -> None:
    utc = ("2026-06-30T22:00:00", None, "2026-03-28T23:00:00", "2026-03-29T22:00:00", "2026-10-25T23:00:00.0")
    days = [datetime(2026, 7, 1), None, datetime(2026, 3, 29), datetime(2026, 3, 30), datetime(2026, 10, 26)]
    assert read_days(*utc) == days
    assert read_days(utc[0], "9999-12-31T23:59:59", "2026-07-01T00:00:00+02:00") == [
        days[0],
        datetime(9999, 12, 31, 23, 59, 59),
        days[0],
    ]


@pytest.mark.parametrize(
    "other",
    [
        "2026-07-01",
        "2026-07-01T00:00:00",
        "2026-06-30T23:00:00",
        "2026-12-31T22:00:00",
        "2026-06-30T22:00:01",
    ],
)
def test_days_stay_as_written_if_one_is_not_a_local_midnight_in_utc(other: str) -> None:
    assert read_days("2026-06-30T22:00:00", other) == read("2026-06-30T22:00:00", other)


def test_days_stay_as_written_if_the_wall_clock_is_utc() -> None:
    assert read_days("2026-01-05T00:00:00", zone="Europe/London") == [datetime(2026, 1, 5)]


moments = st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1))
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moments, offsets)
def test_text_is_local_time_unless_an_offset_moves_it(moment: datetime, offset: timezone) -> None:
    there = moment.replace(tzinfo=offset)
    local = there.astimezone(ZoneInfo(STOCKHOLM)).replace(tzinfo=None)
    assert read(moment.isoformat(), there.isoformat()) == [moment, local]


forms = moments | st.datetimes(datetime(2000, 1, 1), timezones=st.just(UTC))


@given(st.lists(st.one_of(st.none(), st.text(), forms.map(datetime.isoformat)), max_size=6))
def test_a_text_is_read_the_same_alone_and_in_a_column(texts: list[str | None]) -> None:
    assert read(*texts) == [read(text)[0] for text in texts]
