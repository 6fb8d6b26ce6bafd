"""Tables of several shapes of documents made one, and rows that pages repeat left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pipelines.catalogue.model import Column, Report
from pipelines.normalize.columns.tables import NormalizedTable
from pipelines.normalize.columns.types import (
    DTYPES,
    FRACTION,
    NESTED,
    TEXT,
    TRUTH,
    WHOLE,
    constant,
    discovered,
)

Tables = dict[str, NormalizedTable]
_KIND_OF_TYPE = {"VARCHAR": TEXT, "JSON": NESTED, "BIGINT": WHOLE, "DOUBLE": FRACTION, "BOOLEAN": TRUTH}
PLACES = ("_row", "_parent_row", "_month")
NEARLY_ALL = 0.9
"""The share of ids of the first choice that comes again with another only where the service ignores it."""


def stacked(groups: Sequence[Tables]) -> Tables:
    """The tables of all groups, parents before children; undocumented columns widen to hold all values."""
    if len(groups) == 1:
        return groups[0]
    before: dict[str, int] = {}
    parts: dict[str, list[tuple[NormalizedTable, int]]] = {}
    for tables in groups:
        for name, table in tables.items():
            parts.setdefault(name, []).append((table, before.get(table.parent, 0)))
        for name, table in tables.items():
            before[name] = before.get(name, 0) + table.frame.height
    return {name: _stack(found) for name, found in parts.items()}


def _stack(parts: Sequence[tuple[NormalizedTable, int]]) -> NormalizedTable:
    """One table of several; beside each is how many rows its parent's parts before it have."""
    first = parts[0][0]
    if len(parts) == 1 and not parts[0][1]:
        return first
    places = []
    for table, rows_above in parts:
        own = table.frame.select(one for one in PLACES if one in table.frame.columns)
        if table.parent:
            own = own.with_columns(pl.col("_parent_row") + rows_above)
        places.append(own)
    frame = pl.concat(places).with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("_row"))
    columns, values = [], []
    for name in dict.fromkeys(column.name for table, _ in parts for column in table.columns):
        column, series = _column(name, [table for table, _ in parts])
        columns.append(column)
        values.append(series.rename(name))
    return NormalizedTable(first.name, tuple(columns), frame.with_columns(values), first.key, first.parent)


def _column(name: str, tables: Sequence[NormalizedTable]) -> tuple[Column, pl.Series]:
    """One column of all tables, null in those that have none."""
    of_tables = [next((one for one in table.columns if one.name == name), None) for table in tables]
    column = next(one for one in of_tables if one)
    types = dict.fromkeys(one.type for one in of_tables if one)

    def values_of(type_: str) -> pl.Series:
        return pl.concat(
            table.frame[name]
            if one and one.type == type_
            else constant(None, DTYPES[type_], table.frame.height)
            for table, one in zip(tables, of_tables, strict=True)
        )

    if len(types) == 1:
        return column, values_of(column.type)
    values, type_ = discovered({_KIND_OF_TYPE[one]: values_of(one) for one in types})
    return Column(name, type_, False, column.source, column.description), values


def without_repeated(tables: Tables, report: Report) -> tuple[Tables, int]:
    """The tables without rows that pages repeat, and how many these were.

    Only rows with a documented id are looked at, and only those whose documented values are equal: two rows
    of one id that say different things are both kept, unless one came with an earlier choice of the report's.
    Where the service ignores the choice, it is null in a row that came with several.
    """
    repeated = 0
    is_ignored = ignores_choice(tables, report)
    for table in report.tables:
        held = tables.get(table.name)
        if not (report.endpoint.paged and held and table.key and not table.parent):
            continue
        if not held.frame.select(table.key).is_duplicated().any():
            continue
        choice = report.endpoint.choices.column.name if report.endpoint.choices else ""
        said = [one.name for one in held.columns if one.documented and one.name != choice]
        frame = held.frame
        if report.endpoint.choices:  # of equal ids, what the last question says
            last = list(report.endpoint.choices.values.values())
            rank = pl.col(choice).replace_strict(last, range(len(last)), default=-1, return_dtype=pl.Int64)
            several = (pl.col(choice).n_unique().over(table.key) > 1) & is_ignored
            frame = frame.with_columns(_unknown=several).filter(rank == rank.max().over(table.key))
            known = pl.when(~pl.col("_unknown")).then(choice)
            frame = frame.with_columns(known.alias(choice)).drop("_unknown")
        frame = frame.filter(pl.struct(said).is_first_distinct())
        repeated += held.frame.height - frame.height
        tables = _only(tables, table.name, frame)
    return tables, repeated


def ignores_choice(tables: Mapping[str, NormalizedTable], report: Report) -> bool:
    """Whether nearly all ids of the first choice came again with the other, of all tables together.

    A few may have moved while both were asked for, but not nearly all.
    """
    if (choices := report.endpoint.choices) is None:
        return False
    of_first = pl.col(choices.column.name) == next(iter(choices.values.values()))
    first, again = 0, 0
    for table in report.tables:
        held = tables.get(table.name)
        if held and table.key and not table.parent:
            ids = held.frame.group_by(table.key).agg(first=of_first.any(), again=(~of_first).any())
            first += ids.filter("first").height
            again += ids.filter("first", "again").height
    return first > 0 and again >= NEARLY_ALL * first


def _only(tables: Mapping[str, NormalizedTable], name: str, rows: pl.DataFrame) -> Tables:
    """The tables with only these rows of one, and what is nested in them."""
    numbered = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("_row"))
    numbers = pl.DataFrame({"_parent_row": rows["_row"], "_new": numbered["_row"]})
    held = tables[name]
    left = {**tables, name: NormalizedTable(name, held.columns, numbered, held.key, held.parent)}
    for child in tables.values():
        if child.parent == name:
            below = left[child.name].frame.join(numbers, on="_parent_row", how="inner", maintain_order="left")
            kept = below.with_columns(_parent_row="_new").drop("_new")
            left = _only(left, child.name, kept)
    return left
