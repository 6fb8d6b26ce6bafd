"""When is that, on the brokerage's wall clock? Texts of time as local time without an offset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from pipelines.normalize.repeating import repeated

SECONDS = "%Y-%m-%dT%H:%M:%S"
LONG_AS_SECONDS = len("2026-03-31T12:30:00")
LONG_AS_MICROSECONDS = LONG_AS_SECONDS + len(".000000")
LOCAL = pl.Datetime("us")
CALENDAR = (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999))
# The service writes "no time" as the first or the last moment of the calendar: no offset may move that.
REAL_TIMES = (datetime(1900, 1, 1), datetime(9999, 1, 1))

_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)"  # day
    r"(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,30}))?)?"  # time of day, with seconds and their fraction
    r"\s?(?:([Zz])|([+-]\d\d):?(\d\d)?)?)?",  # offset
    re.ASCII,
)
_PLAIN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d+)?", re.ASCII)
"""The form in which nearly all times are written: without an offset, and with nothing left out."""
FEW = 100
"""So many texts are read quicker one by one than together."""
_TICKS = re.compile(r"/Date\((-?\d{1,15})(?:[+-]\d{4})?\)/", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local_times(texts: pl.Series, zone: str) -> pl.Series:
    """Each text as local time, null where it is no time.

    Text without an offset is taken as local, so an hour that summer time skips does no harm. Nearly
    all texts are of one form and are read together; only what is left is looked at one by one.
    Digits beyond a microsecond are cut.
    """
    few = _plain_times(texts.to_list()) if len(texts) <= FEW else None
    if few is not None:
        return pl.Series(few, dtype=LOCAL)
    times = texts.str.head(LONG_AS_SECONDS).str.to_datetime(SECONDS, strict=False, time_unit="us")
    fraction = texts.str.slice(LONG_AS_SECONDS)
    if (fraction != "").any():
        microseconds = (fraction + "000000").str.slice(1, 6).cast(pl.Int64, strict=False)
        times = times + microseconds.cast(pl.Duration("us"))
    is_other = texts.is_not_null() & (times.is_null() | ~fraction.str.contains(r"^(\.\d+)?$"))
    if is_other.any():
        places = is_other.arg_true()
        times = times.scatter(places, _other_forms(texts.gather(places), zone))
    return _within(times, CALENDAR)


def _plain_times(texts: Sequence[str | None]) -> list[datetime | None] | None:
    """Times that are all of the plain form; nothing when any is not, for those are read with more care."""
    if not all(text is None or _PLAIN.fullmatch(text) for text in texts):
        return None
    try:
        return [None if text is None else _moment(text) for text in texts]
    except ValueError:  # there is no such day
        return None


def _moment(text: str) -> datetime:
    point = "" if "." in text else "."
    return datetime.fromisoformat(f"{text}{point}000000"[:LONG_AS_MICROSECONDS])


def _other_forms(texts: pl.Series, zone: str) -> pl.Series:
    """Texts with an offset, or of a form that is rare."""
    utc = texts.str.to_datetime(f"{SECONDS}%.f%#z", strict=False, time_unit="us")
    shifted = _within(utc.dt.replace_time_zone(None), REAL_TIMES)
    times = shifted.dt.replace_time_zone("UTC").dt.convert_time_zone(zone).dt.replace_time_zone(None)
    if times.null_count():
        places = times.is_null().arg_true()
        known = {text: _local_time(text, ZoneInfo(zone)) for text in texts.gather(places).unique()}
        one_by_one = [known[text] for text in texts.gather(places)]
        times = times.scatter(places, pl.Series(one_by_one, dtype=LOCAL))
    return times


def _within(times: pl.Series, bounds: tuple[datetime, datetime]) -> pl.Series:
    is_within = times.is_between(*bounds)
    if is_within.all():
        return times
    return times.zip_with(is_within, repeated(None, LOCAL, len(times)))


def _local_time(text: str, zone: ZoneInfo) -> datetime | None:
    ticks = _TICKS.fullmatch(text)
    written = _WRITTEN.fullmatch(text)
    try:
        if ticks:
            return _on_the_wall(_EPOCH + timedelta(milliseconds=int(ticks[1])), zone)
        return _from_parts(written, zone) if written else None
    except (ValueError, OverflowError):
        return None


def _from_parts(written: re.Match[str], zone: ZoneInfo) -> datetime:
    day, minute, second, fraction, utc, hours, minutes = written.groups()
    microseconds = f"{fraction or ''}000000"[:6]
    moment = datetime.fromisoformat(f"{day}T{minute or '00:00'}:{second or '00'}.{microseconds}")
    is_real = REAL_TIMES[0] <= moment < REAL_TIMES[1]
    if not is_real or not (utc or hours):
        return moment
    offset = "+00:00" if utc else f"{hours}:{minutes or '00'}"
    return _on_the_wall(datetime.fromisoformat(f"{moment.isoformat()}{offset}"), zone)


def _on_the_wall(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None)
