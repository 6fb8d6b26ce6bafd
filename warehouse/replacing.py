"""How does a new answer take the place of an old one? Its months are deleted everywhere, then inserted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import date
from typing import TYPE_CHECKING

import polars as pl

from warehouse.opening import quoted
from warehouse.shapes import Shape
from warehouse.stacking import Coming, Stack, marked, month_counts, show
from warehouse.widening import NOTHING, converted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Counts = Counter[tuple[str, str, date | None]]
"""Rows written, by load, table and month."""


Month = tuple[str, date | None]
"""A month of a customer."""


def replace_months(
    connection: DuckDBPyConnection, shape: Shape, held: Collection[Month], coming: Coming
) -> Counts:
    """Delete months from a table and insert what came instead, which may be nothing."""
    if held:
        _delete(connection, shape, held)
    return insert(connection, shape, shape.stored, coming)


def insert(connection: DuckDBPyConnection, shape: Shape, into: str, coming: Coming) -> Counts:
    """Insert the rows of many loads into a table that has the columns of the shape."""
    counts: Counts = Counter()
    for stack in coming.stacks:
        for part, month, rows in month_counts(stack):
            counts[part.entry.load.load_id, shape.name, month] += rows
        _insert(connection, shape, into, stack)
    return counts


def _insert(connection: DuckDBPyConnection, shape: Shape, into: str, stack: Stack) -> None:
    frame = marked(stack)
    columns = [quoted(name) for name in shape.ours if name in frame.columns]
    values = list(columns)
    for name, type_ in stack.types.items():
        if type_ != NOTHING:
            known = shape.columns[name.lower()]
            columns.append(quoted(known.name))
            values.append(converted(f"CAST({quoted(name.lower())} AS {type_})", type_, known.type))
    shown = show(connection, "arriving", frame)
    connection.execute(f"INSERT INTO {into} ({', '.join(columns)}) SELECT {', '.join(values)} FROM arriving")
    connection.unregister("arriving")
    shown.release()


def _delete(connection: DuckDBPyConnection, shape: Shape, held: Collection[Month]) -> None:
    months = pl.DataFrame(list(held), schema={"customer": pl.String, "month": pl.Date}, orient="row")
    show(connection, "held_months", months)
    connection.execute(
        f"DELETE FROM {shape.stored} AS old USING held_months AS gone "
        "WHERE old._customer = gone.customer AND old._month IS NOT DISTINCT FROM gone.month"
    )
    connection.unregister("held_months")
