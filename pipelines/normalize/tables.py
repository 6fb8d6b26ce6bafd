"""The tables that an answer becomes, the rows that were rejected, and what was noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from pipelines.catalogue.model import Column, prefixed
from pipelines.normalize.objects import Contents
from pipelines.normalize.row_paths import OUR_COLUMNS, Keys, name_of, unique_names
from pipelines.normalize.types import DTYPES, Misfit, constant, converted, discovered


@dataclass(frozen=True)
class NormalizedTable:
    """Rows of one table in document order.

    The frame holds `_row` (0, 1, 2 ... within this answer and table), `_parent_row` (the `_row` of the
    parent; only where there is one), `_month` (its first day; null for a report without months) and
    one column for each of `columns`.
    """

    name: str
    columns: tuple[Column, ...]
    frame: pl.DataFrame
    key: tuple[str, ...]
    parent: str = ""  # the table that `_parent_row` points into


@dataclass(frozen=True)
class RejectedRow:
    """A row that did not fit its table, whole and with everything nested in it.

    `place` is a JSON path; `reason` never holds a value of the row, so that reasons can be counted
    and published; `month` is a first day, if it is known.
    """

    table: str
    place: str
    reason: str
    column: str | None
    month: date | None
    raw: str


@dataclass(frozen=True)
class Findings:
    """What was noticed while normalizing.

    `recognised` is false when an answer held something, but not what the catalogue declares: its
    rows must not be taken for an empty month. `year_and_month` says whether rows that are assumed to
    carry their month did (None: there were no rows, or it is not assumed). `undated` says that rows
    without a date came for several months at once, and were all counted to the first.
    """

    notes: tuple[str, ...] = ()
    recognised: bool = True
    year_and_month: bool | None = None
    repeated_ids: int = 0
    undated: bool = False


@dataclass(frozen=True)
class Normalized:
    """A whole answer, normalized; every table of the report is here, even when it is empty."""

    tables: tuple[NormalizedTable, ...]
    rejected: tuple[RejectedRow, ...]
    findings: Findings


@dataclass(frozen=True)
class FilledColumn:
    """A column with its values, and which of them do not fit it."""

    column: Column
    values: pl.Series
    misfits: tuple[Misfit, ...] = ()


def fill_columns(
    contents: Contents, documented: Mapping[Keys, Column], prefix: str, zone: str, length: int
) -> dict[Keys, FilledColumn]:
    """Every value of the rows as a column; a documented one is known by its keys, else by its name."""
    missing = {column.name: column for keys, column in documented.items() if keys not in contents.found}
    columns = {}
    for keys, kinds in contents.columns.items():
        name = prefixed(prefix, name_of(keys))
        column = documented.get(keys) or missing.pop(name, None)
        if column:
            values, misfits = converted(kinds, column.type, zone, length)
            columns[keys] = FilledColumn(column, values, tuple(misfits))
        else:
            values, type_ = discovered(kinds)
            columns[keys] = FilledColumn(Column(name, type_, False, ".".join(keys), ""), values)
    return columns


def arrange_columns(
    declared: Sequence[Column], columns: Sequence[FilledColumn], length: int
) -> list[FilledColumn]:
    """Declared columns in their order, empty where nothing came, then all others under names of their own.

    Names that collide are numbered by the order of their sources, whatever order they came in.
    """
    by_name = {one.column.name: one for one in columns if one.column.documented}
    first = []
    placed = set()
    for column in declared:
        one = by_name.get(column.name) or FilledColumn(column, constant(None, DTYPES[column.type], length))
        first.append(replace(one, column=column))
        placed.add(id(one))
    others = [one for one in columns if id(one) not in placed]
    by_source = sorted(others, key=lambda one: (not one.column.documented, one.column.source))
    taken = (*OUR_COLUMNS, *(column.name for column in declared))
    unique = unique_names((one.column.name for one in by_source), taken)
    names = {id(one): name for one, name in zip(by_source, unique, strict=True)}
    return [*first, *(replace(one, column=replace(one.column, name=names[id(one)])) for one in others)]


def make_table(
    name: str,
    columns: Sequence[FilledColumn],
    months: pl.Series,
    *,
    key: tuple[str, ...] = (),
    parent: str = "",
    parent_rows: pl.Series | None = None,
) -> NormalizedTable:
    """A table of these columns, with the columns that are ours before them."""
    row = pl.int_range(len(months), dtype=pl.Int64, eager=True).alias("_row")
    above = [] if parent_rows is None else [parent_rows.rename("_parent_row")]
    own = [one.values.rename(one.column.name) for one in columns]
    frame = pl.DataFrame([row, *above, months.rename("_month"), *own])
    return NormalizedTable(name, tuple(one.column for one in columns), frame, key, parent)
