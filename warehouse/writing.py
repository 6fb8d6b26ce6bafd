"""How do rows of ours reach a table of schema meta? As one frame, however many they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from warehouse.meta_table import MetaTable
from warehouse.stacking import show

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DTYPES: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "VARCHAR[]": pl.List(pl.String()),
    "DATE": pl.Date(),
    "DATE[]": pl.List(pl.Date()),
    "TIMESTAMP": pl.Datetime("us"),
    "BIGINT": pl.Int64(),
    "INTEGER": pl.Int32(),
    "DOUBLE": pl.Float64(),
    "BOOLEAN": pl.Boolean(),
}


def write(
    connection: DuckDBPyConnection,
    table: MetaTable,
    rows: Iterable[Mapping[str, object]],
    *,
    instead_of: Sequence[str] = (),
) -> None:
    """Insert rows, after deleting those that agree with a new one in the columns `instead_of`."""
    schema = {name: _DTYPES[type_] for name, type_ in table.types.items()}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    show(connection, "rows_of_ours", frame)
    if instead_of:
        same = " AND ".join(f'old."{name}" IS NOT DISTINCT FROM new."{name}"' for name in instead_of)
        connection.execute(f"DELETE FROM meta.{table.name} AS old USING rows_of_ours AS new WHERE {same}")
    connection.execute(f"INSERT INTO meta.{table.name} BY NAME FROM rows_of_ours")
    connection.unregister("rows_of_ours")
