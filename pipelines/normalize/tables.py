"""The tables and rejected rows made from an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from pipelines.catalogue.model import Column, Report, Table, declared_columns
from pipelines.normalize.contents import FilledColumn, empty_column

Tables = dict[str, "NormalizedTable"]
OUR_COLUMNS = (
    "_customer", "_month", "_load_id", "_fetched_at_utc", "_row", "_parent_row",
    "valid_from_utc", "valid_to_utc", "rowid",  # rowid is DuckDB's own row number
)  # fmt: skip
NEARLY_ALL = 0.9
"""A report with `Choices` is requested once for each value of a parameter. If the second value
returns at least this share of the first value's ids again, the service is taken to ignore the parameter."""


@dataclass(frozen=True)
class NormalizedTable:
    """Rows of one table in document order.

    The frame has `_row` (0, 1, 2 ...), `_month` (its first day; null in a report without months) and the
    `columns`. A nested table also has `_parent_row`, the `_row` of the parent.
    """

    name: str
    columns: tuple[Column, ...]
    frame: pl.DataFrame
    key: tuple[str, ...]
    parent: str = ""  # the table that `_parent_row` points into


@dataclass(frozen=True)
class RejectedRow:
    """A row that did not fit its table, with everything nested in it.

    `place` is the row's path and number. `reason` contains no value of the row, so reasons can be counted
    and published. `month` is the first day of the row's month, if that is known and was requested.
    `is_undatable` is true if the row may belong to any requested month (see `undatable_rows`).
    """

    table: str
    place: str
    reason: str
    column: str | None
    month: date | None
    raw: str
    is_undatable: bool = False


@dataclass(frozen=True)
class Normalized:
    """A normalized answer, with every table of its report, even an empty one.

    `missing` are the needed columns that no row has, as table.column. `undated` is true if several months
    were requested, but the rows of a table state no months. They then all count for the first month.
    """

    tables: tuple[NormalizedTable, ...]
    rejected: tuple[RejectedRow, ...]
    missing: tuple[str, ...]
    undated: bool


def arrange_columns(
    declared: Sequence[Column],
    columns: Mapping[str, FilledColumn],
    undeclared: Collection[FilledColumn],
    length: int,
) -> list[FilledColumn]:
    """The declared columns in order, then the others with unique names.

    A declared column that the answer lacks is null. Equal names are numbered in the order of the columns'
    paths, so the order of the fields in the answer does not matter.
    """
    arranged = [
        replace(columns.get(column.name) or empty_column(column, length), column=column)
        for column in declared
    ]
    by_source = sorted((filled.column for filled in undeclared), key=lambda column: column.source)
    taken = (*OUR_COLUMNS, *(column.name for column in declared))
    unique = unique_names([column.name for column in by_source], taken)
    names = dict(zip(map(id, by_source), unique, strict=True))
    renamed = [replace(filled.column, name=names[id(filled.column)]) for filled in undeclared]
    return [*arranged, *(replace(old, column=new) for old, new in zip(undeclared, renamed, strict=True))]


def make_table(
    table: Table, columns: Sequence[FilledColumn], first_days: pl.Series, parent_rows: pl.Series
) -> NormalizedTable:
    """Make a table of our own columns, followed by `columns`."""
    row = pl.int_range(len(first_days), dtype=pl.Int64, eager=True).alias("_row")
    parent_row = [parent_rows.rename("_parent_row")] if table.parent else []
    values = [filled.values.rename(filled.column.name) for filled in columns]
    frame = pl.DataFrame([row, *parent_row, first_days.rename("_month"), *values])
    all_columns = tuple(filled.column for filled in columns)
    return NormalizedTable(table.name, all_columns, frame, table.key, table.parent or "")


def empty_table(table: Table) -> NormalizedTable:
    """A declared table without rows."""
    columns = [empty_column(column, 0) for column in declared_columns(table)]
    return make_table(table, columns, pl.Series(dtype=pl.Date), pl.Series(dtype=pl.Int64))


def unique_names(names: Iterable[str], taken: Iterable[str] = OUR_COLUMNS) -> list[str]:
    """The names, with `_2`, `_3` ... added to a name that is taken or repeated; letter case is ignored."""
    used = {name.lower() for name in taken}
    unique = []
    for name in names:
        candidate, number = name, 2
        while candidate.lower() in used:
            candidate, number = f"{name}_{number}", number + 1
        used.add(candidate.lower())
        unique.append(candidate)
    return unique


def drop_repeated_rows(tables: Tables, report: Report) -> Tables:
    """Keep one copy of each row that a report with pages and a choice (`Choices`) has returned repeatedly.

    Of an id returned for both values, only the rows of the second value stay: a lead returned as active and
    as removed stays as removed. If the service ignores the choice, these rows get null in its column, because
    the true value is unknown. Of rows with equal declared columns, only the first stays.
    """
    choices = report.endpoint.choices
    if not (report.endpoint.paged and choices):
        return tables
    choice = choices.column.name
    keyed = [table for table in report.tables if table.key and not table.parent]
    is_ignored = _ignores_choice([(tables[table.name].frame, table.key) for table in keyed], choice)
    for table in keyed:
        rows = tables[table.name]
        if not rows.frame.select(table.key).is_duplicated().any():
            continue
        order = pl.col(choice).cast(pl.Int8).fill_null(-1)  # the rank of the choice's value
        has_both = (pl.col(choice).n_unique().over(table.key) > 1) & is_ignored
        documented = [column.name for column in rows.columns if column.documented and column.name != choice]
        frame = rows.frame.with_columns(
            pl.when(~has_both).then(choice).alias(choice), _is_last=order == order.max().over(table.key)
        )
        frame = frame.filter("_is_last").drop("_is_last").filter(pl.struct(documented).is_first_distinct())
        tables = _keep_rows(tables, table.name, frame)
    return tables


def _ignores_choice(keyed: Sequence[tuple[pl.DataFrame, tuple[str, ...]]], choice: str) -> bool:
    """Whether nearly all ids of the first value were returned for the second too."""
    first_count, both_count = 0, 0
    for frame, key in keyed:
        ids = frame.group_by(key).agg(first=(~pl.col(choice)).any(), in_both=pl.col(choice).any())
        first_count += ids.filter("first").height
        both_count += ids.filter("first", "in_both").height
    return first_count > 0 and both_count >= NEARLY_ALL * first_count


def _keep_rows(tables: Mapping[str, NormalizedTable], name: str, rows: pl.DataFrame) -> Tables:
    """The tables, with only these rows in the table `name`, and only their nested rows in its children."""
    numbered = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("_row"))
    numbers = pl.DataFrame({"_parent_row": rows["_row"], "_new": numbered["_row"]})
    result = {**tables, name: replace(tables[name], frame=numbered)}
    for child in tables.values():
        if child.parent == name:
            nested = result[child.name].frame.join(numbers, on="_parent_row", maintain_order="left")
            result = _keep_rows(result, child.name, nested.with_columns(_parent_row="_new").drop("_new"))
    return result
