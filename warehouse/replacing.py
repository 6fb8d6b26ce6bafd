"""How does a new answer take the place of an old one? Its months are deleted everywhere, then inserted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import polars as pl

from warehouse.entering import Entry
from warehouse.opening import quoted
from warehouse.shapes import Shape
from warehouse.stacking import Part, Stack, month_counts, show, stacks
from warehouse.widening import converted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Counts = Counter[tuple[str, str, date | None]]
"""Rows written, by load, table and month."""


def replace_months(
    connection: DuckDBPyConnection, shape: Shape, entries: Sequence[Entry], parts: Sequence[Part]
) -> Counts:
    """Delete the months of these loads from a table and insert what came instead, which may be nothing."""
    _delete(connection, shape, entries)
    return insert_parts(connection, shape, shape.stored, parts)


def insert_parts(connection: DuckDBPyConnection, shape: Shape, into: str, parts: Sequence[Part]) -> Counts:
    """Insert the rows of many loads into a table that has the columns of the shape."""
    counts: Counts = Counter()
    filled = [part for part in parts if part.table.frame.height]
    for stack in stacks(filled):
        for part, month, rows in month_counts(stack, filled):
            counts[part.entry.load.load_id, shape.name, month] += rows
        _insert(connection, shape, into, stack)
    return counts


def _insert(connection: DuckDBPyConnection, shape: Shape, into: str, stack: Stack) -> None:
    columns = [quoted(name) for name in shape.ours]
    values = list(columns)
    for name, type_ in stack.types.items():
        known = shape.columns[name]
        columns.append(quoted(known.name))
        values.append(converted(f"CAST({quoted(name)} AS {type_})", type_, known.type))
    show(connection, "arriving", stack.frame)
    connection.execute(f"INSERT INTO {into} ({', '.join(columns)}) SELECT {', '.join(values)} FROM arriving")
    connection.unregister("arriving")


def _delete(connection: DuckDBPyConnection, shape: Shape, entries: Sequence[Entry]) -> None:
    pairs = {(entry.load.customer, month) for entry in entries for month in entry.months}
    scopes = pl.DataFrame(
        sorted(pairs, key=str), schema={"customer": pl.String, "month": pl.Date}, orient="row"
    )
    show(connection, "scopes", scopes)
    connection.execute(
        f"DELETE FROM {shape.stored} AS old USING scopes "
        "WHERE old._customer = scopes.customer AND old._month IS NOT DISTINCT FROM scopes.month"
    )
    connection.unregister("scopes")
