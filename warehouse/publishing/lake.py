"""Lake: the published tables as Delta tables, which Spark, Trino, Fabric and Power BI can read.

A table of the published file becomes the Delta table `marts/NAME` or `bi/NAME`. Several installations may
share a lake: the column `_shard` names the installation that a row comes from (BROKERBI_SHARD). A publication
overwrites the rows of its own shard in each table. Then it appends a row to the table `_publications`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import has_lake, record_lake
from warehouse.publishing.table_export import PublishedColumn, PublishedTable, TableExport, table_export
from warehouse.store.database import Store
from warehouse.store.duckdb_file import literal, quoted
from warehouse.store.files import SHARED_FOLDER, make_folder
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from deltalake import DeltaTable

SHARD = "_shard"
WITHOUT_SHARD = "all"
PUBLICATIONS = "_publications"
LAKE_NOT_NAMED = "a lake was written before, but BROKERBI_LAKE is not set; set it, and run the command again"
KEPT_HOURS = 7 * 24
"""How long the files of earlier publications are kept."""
TIMEOUTS = {"connect_timeout": "10s", "timeout": "60s", "retry_timeout": "60s"}
"""Without these timeouts, the library waits for minutes if the server of the lake hangs."""
WITHOUT_STATISTICS = {"delta.dataSkippingNumIndexedCols": "0"}
"""By default, the log of a Delta table has the smallest and largest values of columns, even personal ones."""
_TYPES = {
    "BOOLEAN": ("BOOLEAN", "boolean"),
    "DATE": ("DATE", "date"),
    "TIMESTAMP.*": ("TIMESTAMP WITH TIME ZONE", "timestamp"),
    "U?(TINY|SMALL)INT|U?INTEGER|BIGINT": ("BIGINT", "long"),
    "UBIGINT|U?HUGEINT|DECIMAL.*|FLOAT|DOUBLE": ("DOUBLE", "double"),
    ".*": ("VARCHAR", "string"),
}
"""Patterns of types in the published file, each with the lake's type: DuckDB's name, then Delta's."""
_PUBLICATION = {"publication": "string", "published_at_utc": "timestamp", "tables": "string"}
_WITHOUT_VALUES = '"NULL"'
"""DuckDB's type of a column that has no value yet. The lake lacks such a column."""


def refresh_lake(data_dir: Path, address: str, shard: str, now: datetime) -> str:
    """Write the published file into the lake, if one is configured; returns the error, or "".

    The result is recorded in meta.sinks. A failure does not undo the publication.
    """
    if not address:
        return ""
    error = _write_lake(data_dir, address, shard, now, erases=False)
    return f"The lake could not be written and is out of date: {error}" if error else ""


def clean_lake(data_dir: Path, address: str, shard: str, now: datetime) -> str:
    """Refresh the lake, and remove its files of earlier publications; returns the error, or "".

    Older versions of the Delta tables become unreadable, also for other shards. Does nothing if no write to a
    lake was ever tried.
    """
    with Store(data_dir).reading() as connection:
        if not has_lake(connection):
            return ""
    if not address:
        return LAKE_NOT_NAMED
    error = _write_lake(data_dir, address, shard, now, erases=True)
    return f"The lake could not be cleaned: {error}" if error else ""


def _write_lake(data_dir: Path, address: str, shard: str, now: datetime, *, erases: bool) -> str:
    error = ""
    try:
        _Lake(address, shard or WITHOUT_SHARD, is_alone=not shard).write(data_dir, now, erases=erases)
    except ImportError:
        error = "deltalake is not installed: pip install 'brokerbi[lake]'"
    except WarehouseError as caught:
        error = str(caught)
    except Exception as caught:  # noqa: BLE001 the library raises errors of many kinds, with many lines
        error = f"{type(caught).__name__}: {str(caught).partition(chr(10))[0]}"
    with Store(data_dir).writing() as connection:
        record_lake(connection, now, error)
    return error


@dataclass(frozen=True)
class _Lake:
    """The Delta tables of a lake, as a shard writes them; `is_alone` is true if there are no other shards."""

    address: str
    shard: str
    is_alone: bool

    def write(self, data_dir: Path, now: datetime, *, erases: bool) -> None:
        """Overwrite the rows of this shard in every table, record the publication and remove old files."""
        from deltalake import write_deltalake

        publication = Versions(data_dir).current()
        if publication is None:
            raise WarehouseError("The published file is not a version in published/; run `brokerbi publish`.")
        if "://" not in self.address:
            make_folder(Path(self.address), SHARED_FOLDER)
        with table_export(data_dir) as export:
            publications = self._table(PUBLICATIONS, _PUBLICATION)
            path_lists = pl.read_delta(publications).filter(pl.col(SHARD) == self.shard)["tables"]
            recorded = {path for paths in path_lists for path in paths.split()}
            tables = {f"{table.schema}/{table.table}": table for table in export.tables()}
            timezone = export.timezone()
            for path, table in tables.items():
                self._overwrite(path, export, table, timezone)
            for path in recorded - tables.keys():
                self._table(path, {}).delete(self._own_rows)
            row = (publication, now, " ".join(tables), self.shard)
            columns = [*_PUBLICATION, SHARD]
            write_deltalake(publications, pl.DataFrame([row], columns, orient="row"), mode="append")
            for path in (PUBLICATIONS, *recorded | tables.keys()):
                written = self._table(path, {})
                if erases:
                    written.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
                written.vacuum(retention_hours=KEPT_HOURS, dry_run=False, full=True)

    @property
    def _own_rows(self) -> str:
        return f"{SHARD} = {literal(self.shard)}"

    def _table(self, path: str, types: Mapping[str, str]) -> DeltaTable:
        """The table at a path; creates it with columns of these Delta types if it does not exist."""
        from deltalake import DeltaTable, Field, Schema
        from deltalake.schema import PrimitiveType

        options = TIMEOUTS if "://" in self.address else None
        uri = f"{self.address.rstrip('/')}/{path}"
        if not DeltaTable.is_deltatable(uri, options):
            columns = {**types, SHARD: "string"}
            DeltaTable.create(
                uri,
                Schema([Field(name, PrimitiveType(type_)) for name, type_ in columns.items()]),
                mode="ignore",
                partition_by=[SHARD],
                configuration=WITHOUT_STATISTICS,
                storage_options=options,
            )
        return DeltaTable(uri, storage_options=options)

    def _overwrite(self, path: str, export: TableExport, table: PublishedTable, timezone: str) -> None:
        # The library repeats the write if another shard writes at the same time.
        from deltalake import write_deltalake

        columns = [column for column in table.columns if column.type != _WITHOUT_VALUES]
        types = {column.name: _type(column)[1] for column in columns}
        values = [f"{_value(column, timezone)} AS {quoted(column.name)}" for column in columns]
        select = f"SELECT {', '.join([*values, f'{literal(self.shard)} AS {SHARD}'])} FROM {table.source}"
        target = self._table(path, types)
        changed = _changed_column(target, types)
        if changed and not self.is_alone:
            raise WarehouseError(
                f"{path} in the lake has the column {changed} with another type than this publication; "
                f"remove the folder {path}, then run `brokerbi publish` for each shard."
            )
        write_deltalake(
            target,
            export.connection.sql(select),
            mode="overwrite",
            predicate=None if changed else self._own_rows,
            schema_mode="overwrite" if changed else "merge",
            partition_by=[SHARD],
        )


def _type(column: PublishedColumn) -> tuple[str, str]:
    return next(types for pattern, types in _TYPES.items() if re.fullmatch(pattern, column.type))


def _value(column: PublishedColumn, timezone: str) -> str:
    """SQL of a column's values: timestamps become instants, nested values become JSON."""
    name = quoted(column.name)
    if re.fullmatch("TIMESTAMP(_S|_MS|_NS)?", column.type):
        zone = "UTC" if column.name.endswith("_utc") else timezone
        return f"({name}::TIMESTAMP AT TIME ZONE {literal(zone)})"
    is_nested = re.match(r"STRUCT|MAP|UNION|.*\]$", column.type)
    return f"to_json({name})::VARCHAR" if is_nested else f"{name}::{_type(column)[0]}"


def _changed_column(table: DeltaTable, types: Mapping[str, str]) -> str:
    """The first of these columns that has another type in the table; "" if there is none."""
    stored = {field.name: getattr(field.type, "type", "") for field in table.schema().fields}
    return next((name for name, type_ in types.items() if stored.get(name, type_) != type_), "")
