"""Loads about to be stored, and their rows by table: frames with equal columns are one batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from warehouse.handed_over import ColumnLike, TableLike
from warehouse.ledger.window_result import WindowResult
from warehouse.load.history import ROWS_OF_A_LOAD
from warehouse.load.schema_evolution import Batch
from warehouse.store.meta_schema import naive_utc
from warehouse.store.schema import EXACT, NOTHING, StoredColumn, TableSchema

Transform = Callable[[TableLike], pl.DataFrame]
Incoming = dict[str, tuple[TableSchema, Sequence[Batch]]]
"""By lower-case table name: the declared schema and the new rows."""

OUR_COLUMNS = {"_row", "_parent_row", "_month"}
"""Our own columns in a frame; every other one is the service's."""


@dataclass
class Load:
    """A window about to be stored: its load number, and the months that it replaces."""

    result: WindowResult
    number: int
    months: tuple[date | None, ...]
    superseded: tuple[date, ...] = ()  # months left alone, because a newer load has filled them
    is_repeated: bool = False  # loaded before: this is a replay
    changed_before: tuple[int, int] = (0, 0)  # history rows that the first load opened and closed
    opened: int = 0  # history rows that it began
    closed: int = 0  # history rows that it ended

    def leave_out(self, months: Collection[date | None]) -> None:
        """Leave out these months, which a newer load has filled."""
        self.months = tuple(month for month in self.months if month not in months)
        self.superseded = tuple(month for month in self.result.months if month not in self.months)


def incoming_rows(loads: Sequence[Load], transform: Transform | None) -> Incoming:
    """All rows of the loads by table; frames with equal columns are one batch."""
    by_table: dict[str, list[tuple[Load, TableLike]]] = {}
    for load in loads:
        for table in load.result.tables:
            by_table.setdefault(table.name.lower(), []).append((load, table))
    incoming: Incoming = {}
    for name, parts in by_table.items():
        (first, table), nested = parts[0], False
        piles: dict[object, list[tuple[Load, TableLike, pl.DataFrame]]] = {}
        for load, part in parts:
            if (load.result.report, load.result.history) != (first.result.report, first.result.history):
                raise ValueError(
                    f"{table.name} belongs to {first.result.report}, not to {load.result.report}"
                )
            frame = transform(part) if transform else part.frame
            nested = nested or "_parent_row" in frame.columns
            if load.superseded and frame.height:
                frame = frame.filter(~pl.col("_month").is_in(load.superseded))
            if frame.height:
                layout = (
                    tuple(frame.schema.items()),
                    tuple((column.name, column.type) for column in part.columns),
                )
                piles.setdefault(layout, []).append((load, part, frame))
        declared = TableSchema(
            name=table.name,
            report=first.result.report,
            parent=None,
            history=first.result.history,
            key=tuple(table.key),
            nested=nested,
            description="",
            columns={
                column.name.lower(): StoredColumn.of(column) for column in table.columns if column.documented
            },
        )
        incoming[name] = declared, [_batch(pile) for pile in piles.values()]
    return incoming


def _batch(pile: Sequence[tuple[Load, TableLike, pl.DataFrame]]) -> Batch:
    """Frames with equal columns as one batch, our own columns first."""
    columns: Mapping[str, ColumnLike] = {column.name.lower(): column for column in pile[0][1].columns}
    frames = [frame for *_, frame in pile]
    frame = pl.concat(frames)
    unknown = set(frame.columns) - {column.name for column in columns.values()} - OUR_COLUMNS
    if unknown or len(columns) < len(pile[0][1].columns):
        names = sorted(column.name for column in pile[0][1].columns)
        raise ValueError(f"the columns {names} do not match the frame, which has {sorted(unknown)} too")
    dtypes = frame.schema
    large = {
        name
        for name, dtype in dtypes.items()
        if dtype.is_integer() and name not in OUR_COLUMNS and not frame[name].is_between(-EXACT, EXACT).all()
    }
    nulls = dict(zip(frame.columns, frame.null_count().row(0), strict=True))
    types = {
        name: NOTHING
        if nulls.get(column.name, frame.height) == frame.height
        else "VARCHAR"
        if column.name in large and not column.documented
        else column.type
        for name, column in columns.items()
    }
    load_columns = pl.DataFrame(
        {
            "_customer": [load.result.customer for load, *_ in pile],
            "_load_id": [load.result.load_id for load, *_ in pile],
            "_fetched_at_utc": [naive_utc(load.result.fetched) for load, *_ in pile],
            "_first_row": [load.number * ROWS_OF_A_LOAD for load, *_ in pile],
            "_height": [part.height for part in frames],
        },
        schema_overrides={"_fetched_at_utc": pl.Datetime("us")},
    )
    load_index = load_columns.select(pl.int_range(pl.len()).repeat_by("_height").explode()).to_series()
    marks = load_columns.drop("_height").select(pl.all().gather(load_index))
    first_row = pl.col("_first_row")
    nested = [pl.col("_parent_row").cast(pl.Int64) + first_row] if "_parent_row" in dtypes else []
    service = [
        (pl.col(column.name).cast(pl.String) if column.name in large else pl.col(column.name)).alias(name)
        for name, column in columns.items()
        if column.name in dtypes
    ]
    marked = pl.concat([marks, frame], how="horizontal").select(
        "_customer",
        pl.col("_month").cast(pl.Date) if "_month" in dtypes else pl.lit(None, pl.Date).alias("_month"),
        "_load_id",
        "_fetched_at_utc",
        pl.col("_row").cast(pl.Int64) + first_row,
        *nested,
        *service,
    )
    return Batch(marked, columns, types)


def batches_of(loads: Collection[Load], batches: Iterable[Batch]) -> Iterator[Batch]:
    """The batches, each with the rows of these loads only."""
    load_ids = [load.result.load_id for load in loads]
    for batch in batches:
        frame = batch.frame.filter(pl.col("_load_id").is_in(load_ids))
        if frame.height:
            yield Batch(frame, batch.columns, batch.types)
