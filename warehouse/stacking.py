"""How do rows of many loads become few inserts? Frames of one table, stacked and marked with their load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import TYPE_CHECKING

import polars as pl

from warehouse.entering import Entry, naive_utc
from warehouse.loads import RestingLike
from warehouse.widening import NOTHING
from warehouse.window_result import ColumnLike, TableLike

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

    def release(self) -> None:
        """Let the rows go: DuckDB holds on to a stream until Python next looks for garbage."""
        self._frame = self._frame.clear()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def show(connection: DuckDBPyConnection, name: str, frame: pl.DataFrame) -> ArrowStream:
    """Let SQL read a frame under a name."""
    stream = ArrowStream(frame)
    connection.register(name, stream)
    return stream


@dataclass(frozen=True)
class Part:
    """The rows of one table in one load."""

    entry: Entry
    table: TableLike

    @property
    def frame(self) -> pl.DataFrame:
        """The rows without those of superseded months."""
        frame = self.table.frame
        if not (self.entry.superseded and frame.height):
            return frame
        return frame.filter(~pl.col("_month").is_in(self.entry.superseded))


@dataclass(frozen=True)
class Stack:
    """Rows of loads whose frames are alike; `_part` in the frame says which of the parts a row is of.

    `types` are the types in which the service's columns arrive: NULL where nothing but null has come.
    """

    parts: Sequence[Part]
    columns: Sequence[ColumnLike]
    read: Callable[[], pl.DataFrame]
    types: dict[str, str]

    @property
    def frame(self) -> pl.DataFrame:
        """The rows; those that rest on the disk are read anew, so that only some are in memory."""
        return self.read()

    def first_with(self, column: str) -> Part | None:
        """The first part in which a column is there and not all null."""
        if self.types[column] == NOTHING:
            return self.parts[0] if column in self.frame.columns else None
        first = self.frame[column].is_not_null().arg_max()  # parts stand in their order
        return None if first is None else self.parts[self.frame["_part"][first]]


@dataclass(frozen=True)
class Coming:
    """All that comes for one table in a group of loads."""

    parts: Sequence[Part]

    @cached_property
    def stacks(self) -> list[Stack]:
        """The parts that have rows, stacked; usually all of them are alike."""
        return _stacks(self.parts)

    def of(self, entries: Collection[Entry]) -> Coming:
        """What comes with some of the loads."""
        if len(entries) == len(self.parts):
            return self
        loads = {entry.load.load_id for entry in entries}
        return Coming([part for part in self.parts if part.entry.load.load_id in loads])


def _stacks(parts: Sequence[Part]) -> list[Stack]:
    piles: dict[object, list[tuple[Part, pl.DataFrame]]] = {}
    resting = []
    for part in parts:
        frame = part.frame
        if frame.height and isinstance(part.table, RestingLike):
            resting.append(_stacked([part], [frame], partial(_alone, part)))
        elif frame.height:
            says = tuple((column.name, column.type) for column in part.table.columns)
            alike = (tuple(frame.columns), tuple(frame.dtypes), says)
            piles.setdefault(alike, []).append((part, frame))
    stacks = [_stacked([part for part, _ in pile], [frame for _, frame in pile]) for pile in piles.values()]
    return [*stacks, *resting]


def _stacked(
    parts: Sequence[Part], frames: Sequence[pl.DataFrame], read: Callable[[], pl.DataFrame] | None = None
) -> Stack:
    frame = _marked_with_parts(frames)
    nulls = dict(zip(frame.columns, frame.null_count().row(0), strict=True))
    dtypes, columns = dict(frame.schema), parts[0].table.columns
    types = {
        column.name: _arrived_type(column, dtypes[column.name])
        if nulls.get(column.name, frame.height) < frame.height
        else NOTHING
        for column in columns
    }
    return Stack(parts, columns, read or (lambda: frame), types)


def _alone(part: Part) -> pl.DataFrame:
    return _marked_with_parts([part.frame])


def _marked_with_parts(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    heights = pl.DataFrame({"_part": range(len(frames)), "rows": [frame.height for frame in frames]})
    marks = heights.select(pl.col("_part").cast(pl.Int32).repeat_by("rows").explode())
    return pl.concat([marks, pl.concat(frames)], how="horizontal")


def _arrived_type(column: ColumnLike, dtype: pl.DataType) -> str:
    return "VARCHAR" if dtype in TOO_WIDE and not column.documented else column.type


def marked(stack: Stack) -> pl.DataFrame:
    """A stack with our own columns, the service's in lower case, and nothing that DuckDB cannot read."""
    loads = pl.DataFrame(
        {
            "_customer": [part.entry.load.customer for part in stack.parts],
            "_load_id": [part.entry.load.load_id for part in stack.parts],
            "_fetched_at_utc": [naive_utc(part.entry.load.fetched) for part in stack.parts],
            "_first_row": [part.entry.first_row for part in stack.parts],
        },
        schema_overrides={"_fetched_at_utc": pl.Datetime("us")},
    )
    frame = pl.concat([loads.select(pl.all().gather(stack.frame["_part"])), stack.frame], how="horizontal")
    dtypes = dict(frame.schema)
    service = [
        (pl.col(name).cast(pl.String) if dtypes[name] in TOO_WIDE else pl.col(name)).alias(name.lower())
        for name, type_ in stack.types.items()
        if type_ != NOTHING
    ]
    return frame.select(
        "_customer",
        pl.col("_month").cast(pl.Date) if "_month" in dtypes else pl.lit(None, pl.Date).alias("_month"),
        "_load_id",
        "_fetched_at_utc",
        pl.col("_row").cast(pl.Int64) + pl.col("_first_row"),
        *([pl.col("_parent_row").cast(pl.Int64) + pl.col("_first_row")] if "_parent_row" in dtypes else []),
        *service,
    )


def month_counts(stack: Stack) -> Iterator[tuple[Part, date | None, int]]:
    """Rows by part and month; refuses rows of a month that is not their load's."""
    by = ["_part", "_month"] if "_month" in stack.frame.columns else ["_part"]
    for row in stack.frame.group_by(by).len().iter_rows():
        part, rows = stack.parts[row[0]], row[-1]
        load, month = part.entry.load, row[1] if len(by) > 1 else None
        if month not in (load.months or (None,)):
            raise ValueError(
                f"load {load.load_id} brings {rows} rows of {part.table.name} with the month {month}, "
                "which is not one of its own"
            )
        yield part, month, rows
