"""Which month does a row belong to? The one it says, the one above it says, or the window's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.months import Month
from pipelines.normalize.columns import Filled
from pipelines.normalize.names import simplified
from pipelines.normalize.repeating import repeated

OUTSIDE = "its month is not one of those asked for"
MISSING = "it has no date, though one is documented"


@dataclass(frozen=True)
class Dated:
    """The first day of every row's month, null where it has none, and why it has none."""

    months: pl.Series
    reason: str | None = None
    column: str | None = None


def by_date(times: Filled, months: Sequence[Month]) -> Dated:
    """By a documented date; outside the months asked for there is none."""
    first_days = times.values.dt.month_start().cast(pl.Date)
    is_asked = first_days.is_in([month.first_day for month in months])
    kept = first_days if is_asked.all() else first_days.zip_with(is_asked, _none(len(first_days)))
    return Dated(kept, OUTSIDE, times.column.name)


def by_year_and_month(columns: Sequence[Filled], months: Sequence[Month]) -> Dated | None:
    """By a year and a month that stand in the row or above it, when there are columns of these names."""
    year, month = (_numbers(columns, name) for name in ("year", "month"))
    if year is None or month is None:
        return None
    codes = (year * 12 + month - 1).set(~month.is_between(1, 12), None)
    known = {one.year * 12 + one.number - 1: one.first_day for one in months}
    return Dated(pl.Series([known.get(code) for code in codes], dtype=pl.Date), OUTSIDE, "month")


def by_window(months: Sequence[Month], length: int) -> Dated:
    """By the window's first month; a report without months has none."""
    first_day = months[0].first_day if months else None
    return Dated(repeated(first_day, pl.Date(), length))


def _numbers(columns: Sequence[Filled], name: str) -> pl.Series | None:
    """The whole numbers of the column of this name; the last one is the nearest to the row."""
    for one in reversed(columns):
        if simplified(one.column.source.split(".")[-1]) == name and one.values.dtype != pl.Boolean:
            return one.values.cast(pl.Int64, strict=False)
    return None


def _none(length: int) -> pl.Series:
    return repeated(None, pl.Date(), length)
