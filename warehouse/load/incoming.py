"""Loads about to be stored, and their rows by table: frames with equal columns form one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

import polars as pl

from warehouse.ledger.window_result import WindowResult
from warehouse.load.schema_evolution import MAX_EXACT, NULL_TYPE, Batch, conversion
from warehouse.protocols import TableLike
from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import naive_utc
from warehouse.store.schema import StoredColumn, TableSchema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Transform = Callable[[TableLike], pl.DataFrame]
Incoming = Mapping[tuple[str, str], tuple[TableSchema, Sequence[Batch]]]
"""By report and lower-case table name: the declared schema and the new rows."""

ROWS_PER_LOAD = 1 << 24
"""Load n numbers its rows of a table from n * ROWS_PER_LOAD, so that `_row` is unique over all loads."""


@dataclass
class Load:
    """A window about to be stored: its load number, the months to be stored, and its outcome so far."""

    result: WindowResult
    number: int
    months: tuple[date | None, ...]
    is_repeated: bool = False  # loaded before: this is a replay
    opened: int = 0  # history rows that begin with this load
    closed: int = 0  # history rows that end with this load
    rows: Counter[date | None] = field(default_factory=Counter)  # number of rows in all tables, by month

    @property
    def superseded_months(self) -> tuple[date, ...]:
        """The requested months that this load leaves out, because a newer load has them."""
        return tuple(month for month in self.result.months if month not in self.months)


Part = tuple[Load, TableLike, pl.DataFrame]
"""A load, one of its tables, and the rows of this table as they will be stored."""


def incoming_rows(loads: Sequence[Load], transform: Transform | None) -> Incoming:
    """The rows of the loads by report and table, changed by `transform`. Superseded months are left out."""
    parts: dict[tuple[str, str], list[Part]] = {}
    for load in loads:
        for table in load.result.tables:
            frame = transform(table) if transform else table.frame
            if load.superseded_months:
                frame = frame.filter(~pl.col("_month").is_in(load.superseded_months))
            parts.setdefault((load.result.report, table.name.lower()), []).append((load, table, frame))
    return {key: (_declared_table(rows), _batches(rows)) for key, rows in parts.items()}


def _declared_table(parts: Sequence[Part]) -> TableSchema:
    load, table, _ = parts[0]
    columns = {column.name.lower(): StoredColumn.of(column) for column in table.columns if column.documented}
    return TableSchema(
        name=table.name,
        report=load.result.report,
        parent=None,
        history=load.result.history,
        key=tuple(table.key),
        nested=any("_parent_row" in frame.columns for *_, frame in parts),
        description="",
        columns=columns,
    )


def _batches(parts: Sequence[Part]) -> list[Batch]:
    groups: dict[object, list[Part]] = {}
    for load, table, frame in parts:
        if frame.height:
            layout = tuple(frame.schema.items()), tuple(column.type for column in table.columns)
            groups.setdefault(layout, []).append((load, table, frame))
    return [_batch(group) for group in groups.values()]


def _batch(group: Sequence[Part]) -> Batch:
    """Frames with equal columns as one batch, with the customer and load of each row."""
    loads = [load for load, *_ in group]
    origin = pl.DataFrame(
        {
            "_customer": [load.result.customer for load in loads],
            "_load_id": [load.result.load_id for load in loads],
            "_fetched_at_utc": [naive_utc(load.result.fetched) for load in loads],
            "_first_row": [load.number * ROWS_PER_LOAD for load in loads],
        }
    )
    heights = pl.Series([frame.height for *_, frame in group])
    origin = origin[pl.select(pl.int_range(origin.height).repeat_by(heights).explode()).to_series()]
    frame = pl.concat([frame for *_, frame in group])
    columns, values = {}, []
    for received in group[0][1].columns:
        name, column, value = received.name.lower(), StoredColumn.of(received), frame[received.name]
        if value.null_count() == frame.height:
            column = replace(column, type=NULL_TYPE)
        elif (
            not column.documented
            and value.dtype.is_integer()
            and not value.is_between(-MAX_EXACT, MAX_EXACT).all()
        ):
            column, value = replace(column, type="VARCHAR"), value.cast(pl.String)
        columns[name] = column
        values.append(value.alias(name))
    our_columns = frame.select("_month", pl.col("^_(parent_)?row$") + origin["_first_row"])
    frames = [origin.drop("_first_row"), our_columns, pl.DataFrame(values)]
    return Batch(pl.concat(frames, how="horizontal"), columns)


@dataclass
class _ArrowStream:
    """A frame that DuckDB reads through an Arrow capsule, without a copy."""

    frame: pl.DataFrame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def insert(
    connection: DuckDBPyConnection, schema: TableSchema, table: str, incoming: Incoming, loads: Sequence[Load]
) -> None:
    """Insert the rows of these loads into `table`, and count them in `Load.rows`.

    `table` has the columns of `schema`. Raises ValueError for a row of a month that its load did not request.
    """
    by_id = {load.result.load_id: load for load in loads}
    _, batches = incoming.get((schema.report, schema.name.lower()), (schema, ()))
    for batch in batches:
        has_load = batch.frame["_load_id"].is_in([*by_id])
        frame = batch.frame if has_load.all() else batch.frame.filter(has_load)
        if frame.is_empty():
            continue
        for load_id, month, rows in frame.group_by("_load_id", "_month").len().iter_rows():
            load = by_id[load_id]
            if month not in (load.result.months or (None,)):
                raise ValueError(
                    f"load {load_id} has {rows} rows of {schema.name} for {month}, which is not its month"
                )
            load.rows[month] += rows
        names = [quoted(name) for name in schema.our_columns if name in frame.columns]
        values = list(names)
        for name, column in batch.columns.items():
            if column.type != NULL_TYPE:
                stored = schema.columns[name]
                names.append(quoted(stored.name))
                values.append(conversion(f"CAST({quoted(name)} AS {column.type})", column.type, stored.type))
        stream = _ArrowStream(frame)
        connection.register("batch", stream)
        connection.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM batch")
        connection.unregister("batch")
        stream.frame = frame.clear()  # DuckDB keeps the stream until the next garbage collection
