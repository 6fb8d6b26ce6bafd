"""Conversion of texts to the brokerage's local times, which have no offset."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import polars as pl

SECONDS = "%Y-%m-%dT%H:%M:%S"
LENGTH_TO_SECONDS = len("2026-03-31T12:30:00")
LOCAL = pl.Datetime("us")
CALENDAR = (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999))
# Outside these bounds, no offset is applied, because the service writes an unset time as the first or last
# time of the calendar. The first becomes null (`null_if_unset`), the last stays.
REAL_TIMES = (datetime(1900, 1, 1), datetime(9999, 1, 1))

_TIME_OF_DAY = r"[T ][0-9:.,]+\s?(?:[Zz]|[+-][0-9:]+)?"
_UNSET = rf"^(?:0001-01-01(?:{_TIME_OF_DAY})?|0000-12-31{_TIME_OF_DAY})$"
_BEFORE_OFFSET = re.compile(r"(?<=\d)\s(?=[Z+-])")
_WITH_OFFSET = r"[Tt ][0-9:.,]+\s?[Zz+-]"


def null_if_unset(texts: pl.Series) -> pl.Series:
    """Replace .NET's unset time (0001-01-01T00:00:00) with null, even if an offset moved it by some hours."""
    return texts.set(texts.str.contains(_UNSET), None)


def local_times(texts: pl.Series, zone: str) -> pl.Series:
    """The texts as local times; null if a text is not a time. A time without an offset is already local."""
    times = texts.str.head(LENGTH_TO_SECONDS).str.to_datetime(SECONDS, strict=False, time_unit="us")
    fraction = texts.str.slice(LENGTH_TO_SECONDS)
    if (fraction != "").any():
        microseconds = (fraction + "000000").str.slice(1, 6).cast(pl.Int64, strict=False)
        times = times + microseconds.cast(pl.Duration("us"))
    has_more = texts.is_not_null() & (times.is_null() | ~fraction.str.contains(r"^(\.\d+)?$"))
    if has_more.any():  # an offset, or a rare form
        indexes = has_more.arg_true()
        unparsed = texts.gather(indexes)
        utc = unparsed.str.to_datetime(f"{SECONDS}%.f%#z", strict=False, time_unit="us")
        utc = utc.dt.replace_time_zone(None)
        local = _local(utc.set(~utc.is_between(*REAL_TIMES), None), zone)
        rare = {text: _local_time(text, ZoneInfo(zone)) for text in unparsed.filter(local.is_null()).unique()}
        rare_times = pl.Series([rare.get(text) for text in unparsed], dtype=LOCAL)
        times = times.scatter(indexes, local.zip_with(local.is_not_null(), rare_times))
    return times.set(~times.is_between(*CALENDAR), None)


def local_days(texts: pl.Series, times: pl.Series, zone: str) -> pl.Series:
    """The local times of a column of days. `times` are the texts as `local_times` reads them.

    A service that stores UTC may write 1 July as `2026-06-30T22:00:00`. So texts without an offset are read
    as UTC if that makes all of them local midnights, and none of them is a midnight as written.
    """
    local = _local(times.set(~times.is_between(*REAL_TIMES), None), zone)
    if not _is_midnight(local).any():
        return times
    has_no_offset = local.is_not_null() & ~texts.str.contains(_WITH_OFFSET)
    is_utc = has_no_offset & _is_midnight(local) & ~_is_midnight(times)
    if not is_utc.any() or (has_no_offset & ~is_utc).any():
        return times
    return local.zip_with(is_utc, times)


def local_months(texts: pl.Series, zone: str) -> pl.Series:
    """Texts that name months; a local midnight of another month, 2026-02-28T23:00:00Z, becomes 2026-03."""
    times = local_days(texts, local_times(texts, zone), zone)
    months = times.dt.strftime("%Y-%m")
    is_other = texts.str.contains("[Tt ]") & _is_midnight(times) & (months != texts.str.head(7))
    return months.zip_with(is_other, texts)


def _local(utc: pl.Series, zone: str) -> pl.Series:
    return utc.dt.replace_time_zone("UTC").dt.convert_time_zone(zone).dt.replace_time_zone(None)


def _is_midnight(times: pl.Series) -> pl.Series:
    return times == times.dt.truncate("1d")


def _local_time(text: str, zone: ZoneInfo) -> datetime | None:
    if text.isdigit():  # `fromisoformat` would read the number 20260331 as a day
        return None
    try:
        time = datetime.fromisoformat(_BEFORE_OFFSET.sub("", text.upper()))
        naive = time.replace(tzinfo=None)
        if time.tzinfo is None or not REAL_TIMES[0] <= naive < REAL_TIMES[1]:
            return naive
        return time.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
