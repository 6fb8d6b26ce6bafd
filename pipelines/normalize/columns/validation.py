"""The month of every row, and the rows that are rejected: misfits, missing ids, other months."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import product

import polars as pl

from pipelines.months import Month
from pipelines.normalize.columns.tables import FilledColumn
from pipelines.normalize.columns.types import constant
from pipelines.normalize.envelopes import simplified

OUTSIDE = "its month is not one of those asked for"
UNDATED = "it has no date, though one is documented"
NO_OBJECT = "it is no object"
ROUNDED = 0.01
YEARS = (1900, 2199)
WRITTEN_MONTH = r"^\s*(\d{4})-?(\d{2})(?:-01(?:T00:00(?::00(?:\.0+)?)?)?)?\s*$"
"""A month as one text, or its first day: `2026-03`, `202603`, `2026-03-01`, `2026-03-01T00:00:00`."""
NAMES_OF_WRITTEN = frozenset({"month", "yearmonth", "monthyear"})
"""What it is called, in simplified names."""


def months_by_date(dates: pl.Series, months: Sequence[Month]) -> pl.Series:
    """The first day of each date's month, null outside the months asked for."""
    first_days = dates.dt.month_start().cast(pl.Date)
    is_asked = first_days.is_in([month.first_day for month in months])
    if is_asked.all():
        return first_days
    return first_days.zip_with(is_asked, constant(None, pl.Date(), len(first_days)))


def rows_of_neighbours(
    columns: Sequence[FilledColumn], dated_by: str, months: Sequence[Month], margin: timedelta
) -> set[int]:
    """The rows dated just before or after the months asked for: they belong to windows of their own.

    By that margin more is asked for than is wanted; where the service counts days elsewhere, a row may be
    dated up to a day beyond it.
    """
    dates = next((one.values for one in columns if margin and one.column.name == dated_by), None)
    if dates is None:
        return set()
    margin += timedelta(days=1)
    days = dates.dt.date()
    is_near = pl.Series([False]).new_from_index(0, len(days))
    for month in months:
        before = days.is_between(month.first_day - margin, month.first_day, closed="left")
        after = days.is_between(month.last_day, month.last_day + margin, closed="right")
        is_near = is_near | before | after
    is_asked = days.dt.month_start().is_in([month.first_day for month in months])
    return set((is_near & ~is_asked).fill_null(value=False).arg_true())


def filed_months(
    columns: Sequence[FilledColumn], dated_by: str, months: pl.Series, window: Sequence[Month]
) -> pl.Series:
    """The month of every row; of one without a date the one that its answer files it under, if any."""
    dates = next((one.values for one in columns if one.column.name == dated_by), None)
    if dates is None or not dates.null_count():
        return months
    filed = months_by_year_and_month(columns, window)
    return months if filed is None else months.zip_with(dates.is_not_null(), filed)


def undatable(columns: Sequence[FilledColumn], dated_by: str, key: Collection[str]) -> set[int]:
    """The rows whose date nobody can read, or which have none but all that tells rows apart.

    Not those that their answer files under a month, whichever that is.
    """
    date = next((one for one in columns if one.column.name == dated_by), None)
    if date is None or not date.values.null_count():
        return set()
    is_undated = date.values.is_null()
    for one in columns:
        if one.column.name in key:
            is_undated &= one.values.is_not_null()
    for mask in date.misfits.values():
        is_undated |= mask.fill_null(value=False)
    filed = _years_and_months(columns)
    return set((is_undated if filed is None else is_undated & filed.is_null()).arg_true())


def months_by_year_and_month(columns: Sequence[FilledColumn], months: Sequence[Month]) -> pl.Series | None:
    """The first day of the month that a row, or one above it, names; None when no columns do."""
    codes = _years_and_months(columns)
    if codes is None:
        return None
    known = {one.ordinal: one.first_day for one in months}
    return pl.Series([known.get(code) for code in codes], dtype=pl.Date)


def _years_and_months(columns: Sequence[FilledColumn]) -> pl.Series | None:
    """The ordinals of the months that rows, or those above them, name; None when no columns do."""
    named: dict[str, list[pl.Series]] = {"year": [], "month": []}
    written = []
    for one in reversed(columns):  # the last one of a name is the nearest to the row
        name = simplified(one.column.source.split(".")[-1])
        if name in named and one.values.dtype != pl.Boolean:
            named[name].append(one.values.cast(pl.Int64, strict=False))
        if name in NAMES_OF_WRITTEN and one.values.dtype in {pl.String, pl.Int64}:
            texts = one.values.cast(pl.String)
            parts = [texts.str.extract(WRITTEN_MONTH, part) for part in (1, 2)]
            if parts[0].count():
                written.append([part.cast(pl.Int64) for part in parts])
    codes = None
    for year, month in [*product(*named.values()), *written]:  # what can be neither is something else
        may_be = year.is_between(*YEARS) & month.is_between(1, 12)
        said = (year * 12 + month - 1).set(~may_be.fill_null(value=False), None)
        codes = said if codes is None else codes.zip_with(codes.is_not_null(), said)
    return codes


def rejections(
    columns: Sequence[FilledColumn],
    key: Sequence[str],
    old_keys: Mapping[str, str],
    months: pl.Series,
    dated_by: str,
    strangers: Iterable[int],
) -> dict[int, tuple[str, str | None]]:
    """The rows that do not fit, in their order, each with its weightiest reason and the column.

    `old_keys` names columns that may take the place of those of the `key`. `dated_by` is the column that the
    months are from, if they are from one. A reason never holds a value.
    """
    reasons: list[tuple[pl.Series, str, str]] = []  # which rows are rejected for what, the weightiest first
    for one in columns:
        name, type_ = one.column.name, one.column.type
        reasons += [(mask, f"{name} is no {type_}: it is {kind}", name) for kind, mask in one.misfits.items()]
    reasons += [
        (mask, f"{name} is missing, which tells rows apart", name)
        for name, mask in _lacking_key(columns, key, old_keys)
    ]
    if dated_by and months.null_count():
        dates = next((one.values for one in columns if one.column.name == dated_by), months)
        reasons += [(dates.is_null(), UNDATED, dated_by), (months.is_null(), OUTSIDE, dated_by)]
    found: dict[int, tuple[str, str | None]] = dict.fromkeys(strangers, (NO_OBJECT, None))
    for mask, reason, column in reasons:
        for row in mask.fill_null(value=False).arg_true():
            found.setdefault(row, (reason, column))
    return dict(sorted(found.items()))


def rows_without_key(
    columns: Sequence[FilledColumn], key: Sequence[str], old_keys: Mapping[str, str]
) -> set[int]:
    """The rows that lack a column of the key, and have nothing that cannot be read."""
    lacking = {row for _, mask in _lacking_key(columns, key, old_keys) for row in mask.arg_true()}
    return lacking - {row for one in columns for mask in one.misfits.values() for row in mask.arg_true()}


def _lacking_key(
    columns: Sequence[FilledColumn], key: Sequence[str], old_keys: Mapping[str, str]
) -> Iterator[tuple[str, pl.Series]]:
    """The columns of the key that rows lack, with these rows."""
    for one in columns:
        name = one.column.name
        if name in key and one.values.null_count():
            old = next(
                (other.values for other in columns if other.column.name == old_keys.get(name)), one.values
            )
            yield name, one.values.is_null() & old.is_null()


def is_total(columns: Sequence[FilledColumn], row: int, others: Sequence[int]) -> bool:
    """Whether a row is the total of others: each documented number is their sum or, an average, among them.

    One number at least is a sum, and no zero, unless all are.
    """
    sums, is_alike = [], True
    for one in columns:
        if not (one.column.documented and one.values.dtype.is_numeric()) or one.values[row] is None:
            continue
        number, beside = float(one.values[row]), one.values.gather(others).cast(pl.Float64).drop_nulls()
        if abs(number - float(beside.sum())) <= ROUNDED:
            sums.append(number)
        elif (beside <= number).any() and (beside >= number).any():
            is_alike = False
        else:
            return False
    return any(sums) or (bool(sums) and is_alike)
