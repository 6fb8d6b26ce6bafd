"""The month of every row, and the rows that are rejected, with the reasons."""

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

OUTSIDE = "its month was not requested"
NO_MONTH = "its month cannot be read"
NOT_AN_OBJECT = "it is not an object"
NO_DECLARED_COLUMN = "it has none of the declared columns"
YEAR = r"^\s*((?:19|20|21)\d\d)\s*$"

Columns = Mapping[str, FilledColumn]


@dataclass
class Months:
    """The months of rows, and how the rows state them.

    - `first_days` are the months' first days, null for an unknown month or a date in no requested month.
    - `dated_by` is the column that states the months, if any.
    - `left_out` are rows that are neither loaded nor rejected, because another request will bring them. If
      rows name their month, rows of other months are left out. If rows have a date, only those just outside
      the window are: for May, a row of 30 April is left out, but a row of 15 April is rejected.
    - `are_unknown` is true if several months were requested, but no row states its month, and all rows
      therefore count for the first month.
    """

    first_days: pl.Series
    dated_by: str = ""
    left_out: set[int] = field(default_factory=set)
    are_unknown: bool = False


def months_of(report: Report, table: Table, columns: Columns, window: Sequence[Month], length: int) -> Months:
    """The months of the rows of a topmost table; `window` are the requested months."""
    if not window:
        return Months(constant(None, pl.Date(), length))
    first_month = constant(window[0].first_day, pl.Date(), length)
    requested = [month.first_day for month in window]
    first_month_only = Months(first_month, are_unknown=len(window) > 1 and length > 0)
    if report.month_of_row == "documented date" and table.dated_by:
        dates = columns[table.dated_by].values
        all_documented = all(column.column.documented for column in columns.values())
        has_no_date = not dates.count() and not columns[table.dated_by].misfits
        if table.key and has_no_date and all_documented and named_months(columns) is None:
            return first_month_only
        months = dates.dt.month_start().cast(pl.Date)
        is_other = ~months.is_in(requested)
        margin = report.margin + timedelta(days=1)  # the service's days may be in another time zone
        is_near = dates.dt.date().is_between(window[0].first_day - margin, window[-1].last_day + margin)
        left_out = set((is_near & is_other).fill_null(value=False).arg_true())
        return Months(months.set(is_other.fill_null(value=True), None), table.dated_by, left_out)
    if report.month_of_row == "year and month":
        if (named := named_months(columns)) is None:
            return first_month_only
        is_other = named.is_not_null() & ~named.is_in(requested)
        return Months(named, "month", set(is_other.arg_true()))
    return Months(first_month)


def named_months(columns: Columns) -> pl.Series | None:
    """The first days of the months in column `month`, or in `month` and `year`. None if no row has one."""
    if "month" not in columns or not columns["month"].values.count():
        return None
    texts = columns["month"].values.cast(pl.String)
    years, months = texts.str.extract(WHOLE_MONTH, 1), texts.str.extract(WHOLE_MONTH, 2)
    if "year" in columns:
        stated_years = columns["year"].values.cast(pl.String).str.extract(YEAR, 1)
        years = years.zip_with(years.is_not_null(), stated_years)
        months = months.zip_with(months.is_not_null(), texts.str.extract(NUMBER_OF_MONTH, 1))
    return (years + months.str.zfill(2)).str.to_date("%Y%m", strict=False)


def rejections(
    table: Table, columns: Columns, months: Months, rejected: Mapping[int, str]
) -> dict[int, tuple[str, str | None]]:
    """The indexes of rejected rows, each with its most important reason and the column at fault, if any.

    `rejected` has rows that are already rejected, with reasons. A reason never contains a value of the row.
    """
    reasons: dict[int, tuple[str, str | None]] = {row: (reason, None) for row, reason in rejected.items()}
    for mask, reason, column in _reasons(table, columns, months):
        for row in mask.fill_null(value=False).arg_true():
            reasons.setdefault(row, (reason, column))
    return {row: reasons[row] for row in sorted(reasons) if row not in months.left_out}


def undatable_rows(table: Table, columns: Columns, months: Months) -> set[int]:
    """Rows that may belong to any requested month, because their date is unreadable or missing.

    In a table with a key, a row without a date is included only if it has its whole key.
    """
    if not months.dated_by or not months.first_days.null_count():
        return set()
    column = columns[months.dated_by]
    lacks_date = column.values.is_null() if table.dated_by else months.first_days.is_null()
    for name in table.key:
        lacks_date &= columns[name].values.is_not_null()
    for mask in column.misfits.values():
        lacks_date |= mask.fill_null(value=False)
    return set(lacks_date.arg_true())


def _reasons(table: Table, columns: Columns, months: Months) -> Iterator[tuple[pl.Series, str, str]]:
    """Yield masks of rejected rows, each with its reason and column, the most important first."""
    for name, column in columns.items():
        for kind, mask in column.misfits.items():
            yield mask, f"{name} is {kind}, not {column.column.type}", name
    for name in table.key:
        if name in columns and columns[name].values.null_count():
            old_key = columns.get(table.old_keys.get(name, name), columns[name])
            is_missing = columns[name].values.is_null() & old_key.values.is_null()
            yield is_missing, f"{name}, which identifies a row, is missing", name
    if months.dated_by and months.first_days.null_count():
        if table.dated_by:
            no_date = f"{months.dated_by}, which dates a row, is empty"
            yield columns[months.dated_by].values.is_null(), no_date, months.dated_by
        yield months.first_days.is_null(), OUTSIDE if table.dated_by else NO_MONTH, months.dated_by
