"""The month of every row, and the rows that are rejected: misfits, missing ids, other months."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import polars as pl

from pipelines.catalogue.model import Report, Table
from pipelines.months import Month
from pipelines.normalize.contents import FilledColumn
from pipelines.normalize.types import constant
from pipelines.shapes.proposal import NUMBER_OF_MONTH, WHOLE_MONTH

OUTSIDE = "its month is not one of those requested"
UNDATED = "it has no date, though one is declared"
NO_MONTH = "it names no month that can be read"
NO_OBJECT = "it is no object"
UNLIKE = "it has none of the declared columns"
YEAR = r"^\s*((?:19|20|21)\d\d)\s*$"

Columns = Mapping[str, FilledColumn]


@dataclass
class Months:
    """The first day of every row's month, null where it has none.

    `dated_by` is the column that the months are from, if they are from one; `left_out` are rows of months
    that are not requested, which belong to windows of their own, and `undated` says that no row names a month
    although several were requested.
    """

    of_rows: pl.Series
    dated_by: str = ""
    left_out: set[int] = field(default_factory=set)
    undated: bool = False


def months_of(report: Report, table: Table, columns: Columns, window: Sequence[Month], length: int) -> Months:
    """The months of the rows of a topmost table."""
    if not window:
        return Months(constant(None, pl.Date(), length))
    first = constant(window[0].first_day, pl.Date(), length)
    requested = [month.first_day for month in window]
    undated = Months(first, undated=len(window) > 1 and length > 0)
    if report.month_of_row == "documented date" and table.dated_by:
        dates = columns[table.dated_by].values
        is_known = all(column.column.documented for column in columns.values())
        has_no_date = not dates.count() and not columns[table.dated_by].misfits
        if table.key and has_no_date and is_known and named_months(columns) is None:
            return undated
        months = dates.dt.month_start().cast(pl.Date)
        is_other = ~months.is_in(requested)
        margin = report.margin + timedelta(days=1)  # a service may count days elsewhere
        is_near = dates.dt.date().is_between(window[0].first_day - margin, window[-1].last_day + margin)
        left_out = set((is_near & is_other).fill_null(value=False).arg_true())
        return Months(months.set(is_other.fill_null(value=True), None), table.dated_by, left_out)
    if report.month_of_row == "year and month":
        if (named := named_months(columns)) is None:
            return undated
        is_other = named.is_not_null() & ~named.is_in(requested)
        return Months(named, "month", set(is_other.arg_true()))
    return Months(first)


def named_months(columns: Columns) -> pl.Series | None:
    """The first day of the month that rows name in `month`, alone or next to a `year`; None if none does."""
    if "month" not in columns or not columns["month"].values.count():
        return None
    texts = columns["month"].values.cast(pl.String)
    years, months = texts.str.extract(WHOLE_MONTH, 1), texts.str.extract(WHOLE_MONTH, 2)
    if "year" in columns:
        beside = columns["year"].values.cast(pl.String).str.extract(YEAR, 1)
        years = years.zip_with(years.is_not_null(), beside)
        months = months.zip_with(months.is_not_null(), texts.str.extract(NUMBER_OF_MONTH, 1))
    return (years + months.str.zfill(2)).str.to_date("%Y%m", strict=False)


def rejections(
    table: Table, columns: Columns, months: Months, strangers: Mapping[int, str]
) -> dict[int, tuple[str, str | None]]:
    """The rows that do not fit, in their order, each with its weightiest reason and the column.

    A reason never holds a value.
    """
    found: dict[int, tuple[str, str | None]] = {row: (reason, None) for row, reason in strangers.items()}
    for mask, reason, column in _reasons(table, columns, months):
        for row in mask.fill_null(value=False).arg_true():
            found.setdefault(row, (reason, column))
    return {row: found[row] for row in sorted(found) if row not in months.left_out}


def undatable(table: Table, columns: Columns, months: Months) -> set[int]:
    """The rows that may be of any month requested, if nothing else names theirs: their key is all there."""
    if not months.dated_by or not months.of_rows.null_count():
        return set()
    column = columns[months.dated_by]
    is_undated = column.values.is_null() if table.dated_by else months.of_rows.is_null()
    for name in table.key:
        is_undated &= columns[name].values.is_not_null()
    for mask in column.misfits.values():
        is_undated |= mask.fill_null(value=False)
    return set(is_undated.arg_true())


def _reasons(table: Table, columns: Columns, months: Months) -> Iterator[tuple[pl.Series, str, str]]:
    """Which rows are rejected for what, the weightiest reason first."""
    for name, column in columns.items():
        for kind, mask in column.misfits.items():
            yield mask, f"{name} is no {column.column.type}: it is {kind}", name
    for name in table.key:
        if name in columns and columns[name].values.null_count():
            old = columns.get(table.old_keys.get(name, name), columns[name])
            is_missing = columns[name].values.is_null() & old.values.is_null()
            yield is_missing, f"{name} is missing, which tells rows apart", name
    if months.dated_by and months.of_rows.null_count():
        is_null = months.of_rows.is_null()
        if table.dated_by:
            yield columns[months.dated_by].values.is_null(), UNDATED, months.dated_by
        yield is_null, OUTSIDE if table.dated_by else NO_MONTH, months.dated_by
