"""The month of every row, and the rows that are rejected: misfits, missing ids, other months."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.months import Month
from pipelines.normalize.document import Document
from pipelines.normalize.objects import Rows
from pipelines.normalize.row_paths import simplified
from pipelines.normalize.tables import FilledColumn, RejectedRow
from pipelines.normalize.types import KIND_IN_WORDS, constant

OUTSIDE = "its month is not one of those asked for"
UNDATED = "it has no date, though one is documented"
NO_OBJECT = "it is no object"


@dataclass(frozen=True)
class RowMonths:
    """The first day of every row's month, null where it has none, and why it has none."""

    values: pl.Series
    reason: str = ""
    column: str = ""


def months_by_date(dates: FilledColumn, months: Sequence[Month]) -> RowMonths:
    """By a documented date; outside the months asked for there is none."""
    first_days = dates.values.dt.month_start().cast(pl.Date)
    is_asked = first_days.is_in([month.first_day for month in months])
    if not is_asked.all():
        first_days = first_days.zip_with(is_asked, constant(None, pl.Date(), len(first_days)))
    return RowMonths(first_days, OUTSIDE, dates.column.name)


def months_by_year_and_month(columns: Sequence[FilledColumn], months: Sequence[Month]) -> RowMonths | None:
    """By a year and a month in the row or above it, when there are columns of these names."""
    year, month = (_whole_numbers(columns, name) for name in ("year", "month"))
    if year is None or month is None:
        return None
    codes = (year * 12 + month - 1).set(~month.is_between(1, 12), None)
    known = {one.year * 12 + one.number - 1: one.first_day for one in months}
    return RowMonths(pl.Series([known.get(code) for code in codes], dtype=pl.Date), OUTSIDE, "month")


def months_of_window(months: Sequence[Month], length: int) -> RowMonths:
    """The window's first month for every row; a report without months has none."""
    return RowMonths(constant(months[0].first_day if months else None, pl.Date(), length))


def reject_rows(
    rows: Rows,
    table: str,
    columns: Sequence[FilledColumn],
    key: Sequence[str],
    months: RowMonths,
    pages: Sequence[Document],
) -> list[tuple[int, RejectedRow]]:
    """The rows that do not fit, by their position, each for its weightiest reason."""
    found: dict[int, tuple[str, str | None]] = dict.fromkeys(rows.strangers, (NO_OBJECT, None))
    for mask, reason, column in _reasons(columns, key, months):
        for row in mask.fill_null(value=False).arg_true():
            found.setdefault(row, (reason, column))
    rejected = []
    for row, (reason, column) in sorted(found.items()):
        page, *steps = rows.steps(row)
        raw = pages[int(page)].raw(steps)
        path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        place = f"page {int(page) + 1}: {path}" if len(pages) > 1 else path
        rejected.append((row, RejectedRow(table, place, reason, column, months.values[row], raw)))
    return rejected


def _reasons(
    columns: Sequence[FilledColumn], key: Sequence[str], months: RowMonths
) -> Iterator[tuple[pl.Series, str, str | None]]:
    """Which rows are rejected for what, without a value of theirs, and the column; the weightiest first."""
    for one in columns:
        name, type_ = one.column.name, one.column.type
        for misfit in one.misfits:
            yield misfit.mask, f"{name} is no {type_}: it is {KIND_IN_WORDS[misfit.kind]}", name
    for one in columns:
        name = one.column.name
        if name in key and one.values.null_count():
            yield one.values.is_null(), f"{name} is missing, which tells rows apart", name
    if months.reason and months.values.null_count():
        dates = next((one.values for one in columns if one.column.name == months.column), months.values)
        yield dates.is_null(), UNDATED, months.column
        yield months.values.is_null(), months.reason, months.column


def _whole_numbers(columns: Sequence[FilledColumn], name: str) -> pl.Series | None:
    """The whole numbers of the column of this name; the last one is the nearest to the row."""
    for one in reversed(columns):
        if simplified(one.column.source.split(".")[-1]) == name and one.values.dtype != pl.Boolean:
            return one.values.cast(pl.Int64, strict=False)
    return None
