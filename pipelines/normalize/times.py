"""Texts of time as local time of the brokerage, without an offset."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import polars as pl

SECONDS = "%Y-%m-%dT%H:%M:%S"
LONG_AS_SECONDS = len("2026-03-31T12:30:00")
LOCAL = pl.Datetime("us")
CALENDAR = (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999))
# The service writes "no time" as the first or the last moment of the calendar: no offset may move that.
# The first, .NET's DateTime.MinValue, is no time; other software may have moved it by some hours.
REAL_TIMES = (datetime(1900, 1, 1), datetime(9999, 1, 1))

_OF_DAY = r"[T ][0-9:.,]+\s?(?:[Zz]|[+-][0-9:]+)?"
_UNSET = rf"^(?:0001-01-01(?:{_OF_DAY})?|0000-12-31{_OF_DAY})$"
_BEFORE_OFFSET = re.compile(r"(?<=\d)\s(?=[Z+-])")
_WITH_OFFSET = r"[Tt ][0-9:.,]+\s?[Zz+-]"


def without_unset(texts: pl.Series) -> pl.Series:
    """The texts, null where they stand for a time that is not set."""
    return texts.set(texts.str.contains(_UNSET), None)


def local_times(texts: pl.Series, zone: str) -> pl.Series:
    """Each text as local time, null if it is not a time; text without an offset is local already."""
    times = texts.str.head(LONG_AS_SECONDS).str.to_datetime(SECONDS, strict=False, time_unit="us")
    fraction = texts.str.slice(LONG_AS_SECONDS)
    if (fraction != "").any():
        microseconds = (fraction + "000000").str.slice(1, 6).cast(pl.Int64, strict=False)
        times = times + microseconds.cast(pl.Duration("us"))
    is_other = texts.is_not_null() & (times.is_null() | ~fraction.str.contains(r"^(\.\d+)?$"))
    if is_other.any():  # with an offset, or in a rare form
        places = is_other.arg_true()
        others = texts.gather(places)
        utc = others.str.to_datetime(f"{SECONDS}%.f%#z", strict=False, time_unit="us").dt.replace_time_zone(
            None
        )
        moved = _local(utc.set(~utc.is_between(*REAL_TIMES), None), zone)
        rare = {text: _local_time(text, ZoneInfo(zone)) for text in others.filter(moved.is_null()).unique()}
        one_by_one = pl.Series([rare.get(text) for text in others], dtype=LOCAL)
        times = times.scatter(places, moved.zip_with(moved.is_not_null(), one_by_one))
    return times.set(~times.is_between(*CALENDAR), None)


def local_days(texts: pl.Series, times: pl.Series, zone: str) -> pl.Series:
    """The times that texts were read as, where each holds a day, and so is the midnight that it begins with.

    A service that keeps them in UTC may write 1 July as `2026-06-30T22:00:00`: where all that have no offset
    are local midnights as UTC, and none is a midnight as it stands, they are moved.
    """
    moved = _local(times.set(~times.is_between(*REAL_TIMES), None), zone)
    if not _is_midnight(moved).any():
        return times
    is_bare = moved.is_not_null() & ~texts.str.contains(_WITH_OFFSET)
    is_moved = is_bare & _is_midnight(moved) & ~_is_midnight(times)
    if not is_moved.any() or (is_bare & ~is_moved).any():
        return times
    return moved.zip_with(is_moved, times)


def _local(utc: pl.Series, zone: str) -> pl.Series:
    return utc.dt.replace_time_zone("UTC").dt.convert_time_zone(zone).dt.replace_time_zone(None)


def _is_midnight(times: pl.Series) -> pl.Series:
    return times == times.dt.truncate("1d")


def _local_time(text: str, zone: ZoneInfo) -> datetime | None:
    if text.isdigit():  # a number is no day
        return None
    try:
        moment = datetime.fromisoformat(_BEFORE_OFFSET.sub("", text.upper()))
        naive = moment.replace(tzinfo=None)
        if moment.tzinfo is None or not REAL_TIMES[0] <= naive < REAL_TIMES[1]:
            return naive
        return moment.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
