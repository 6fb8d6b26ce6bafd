"""How do rows of many loads become few inserts? Frames of one table, stacked and marked with their load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from warehouse.entering import Entry, naive_utc
from warehouse.loads import ColumnLike, TableLike
from warehouse.widening import NOTHING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PLACES = {"_row", "_parent_row", "_month"}
"""Our own columns that stand in a frame; every other one is the service's."""

TOO_WIDE = (pl.Int128, pl.UInt64)
"""Whole numbers that BIGINT may not hold; they rest as text."""


class ArrowStream:
    """A frame as DuckDB reads it: through an Arrow capsule, without a copy and without a file."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def show(connection: DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    """Let SQL read a frame under a name."""
    connection.register(name, ArrowStream(frame))


@dataclass(frozen=True)
class Part:
    """The rows of one table in one load."""

    entry: Entry
    table: TableLike

    @cached_property
    def types(self) -> dict[str, str]:
        """The type in which each column arrives; NULL where nothing but null has come."""
        frame = self.table.frame
        nulls = dict(zip(frame.columns, frame.null_count().row(0), strict=True))
        return {
            column.name: _arrived_type(column, frame.schema[column.name])
            if nulls.get(column.name, frame.height) < frame.height
            else NOTHING
            for column in self.table.columns
        }

    @property
    def frame(self) -> pl.DataFrame:
        """The rows without those of superseded months."""
        frame = self.table.frame
        if not self.entry.superseded:
            return frame
        return frame.filter(~pl.col("_month").is_in(self.entry.superseded))


@dataclass(frozen=True)
class Stack:
    """Rows of several loads, ready for one insert; `types` are the types their columns arrived with."""

    frame: pl.DataFrame
    types: dict[str, str]  # by lower-case name, which is the frame's column name too


def _arrived_type(column: ColumnLike, dtype: pl.DataType) -> str:
    return "VARCHAR" if dtype in TOO_WIDE and not column.documented else column.type


def stacks(parts: Sequence[Part]) -> Iterator[Stack]:
    """Stack parts whose columns agree in type; usually all of them do."""
    ready = [_ready(position, part) for position, part in enumerate(parts)]
    seen: dict[str, set[tuple[pl.DataType, str]]] = {}
    for frame, types in ready:
        for name, type_ in types.items():
            seen.setdefault(name, set()).add((frame.schema[name], type_))
    disputed = [name for name, kinds in seen.items() if len(kinds) > 1]
    piles: dict[tuple[object, ...], list[tuple[pl.DataFrame, dict[str, str]]]] = {}
    for frame, types in ready:
        kind = tuple((frame.schema[name], types[name]) if name in types else None for name in disputed)
        piles.setdefault(kind, []).append((frame, types))
    for pile in piles.values():
        together: dict[str, str] = {}
        for _, types in pile:
            together.update(types)
        yield Stack(pl.concat([frame for frame, _ in pile], how="diagonal"), together)


def _ready(position: int, part: Part) -> tuple[pl.DataFrame, dict[str, str]]:
    """A part with our own columns, its names in lower case, and nothing that DuckDB cannot read."""
    frame, entry = part.frame, part.entry
    types, service = {}, []
    for column in part.table.columns:
        arrived = part.types[column.name]
        if arrived != NOTHING:
            name = column.name.lower()
            types[name] = arrived
            value = pl.col(column.name)
            wide = frame.schema[column.name] in TOO_WIDE
            service.append((value.cast(pl.String) if wide else value).alias(name))
    columns = set(frame.columns)
    ours = [
        pl.lit(position, pl.Int32).alias("_part"),
        pl.lit(entry.load.customer, pl.String).alias("_customer"),
        _or_null("_month", columns, pl.Date),
        pl.lit(entry.load.load_id, pl.String).alias("_load_id"),
        pl.lit(naive_utc(entry.load.fetched_at_utc), pl.Datetime("us")).alias("_fetched_at_utc"),
        pl.col("_row").cast(pl.Int64) + entry.first_row,
        _or_null("_parent_row", columns, pl.Int64) + entry.first_row,
    ]
    return frame.select(*ours, *service), types


def _or_null(name: str, columns: set[str], dtype: type[pl.DataType]) -> pl.Expr:
    return pl.col(name).cast(dtype) if name in columns else pl.lit(None, dtype).alias(name)


def month_counts(stack: Stack, parts: Sequence[Part]) -> Iterator[tuple[Part, date | None, int]]:
    """Rows by part and month; refuses rows of a month that is not their load's."""
    for position, month, rows in stack.frame.group_by("_part", "_month").len().iter_rows():
        part = parts[position]
        load = part.entry.load
        if month not in (load.months or (None,)):
            raise ValueError(
                f"load {load.load_id} brings {rows} rows of {part.table.name} with the month {month}, "
                "which is not one of its own"
            )
        yield part, month, rows
