"""Lake: the published tables as Delta tables, which Spark, Trino, Fabric and Power BI read.

A table of the published file is the Delta table `marts/NAME` or `bi/NAME`, with the column `_shard`. A
publication overwrites the rows of its own shard in each of them, and then appends a row to `_publications`.
Needs the extra `lake`, which is only imported if a lake is set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from warehouse.errors import WarehouseError
from warehouse.ledger.sinks import has_lake, note_lake
from warehouse.publishing.table_export import PublishedColumn, PublishedTable, TableExport, table_export
from warehouse.store.database import LOCK_SECONDS, Store
from warehouse.store.duckdb_file import literal, quoted
from warehouse.store.files import SHARED_FOLDER, make_folder
from warehouse.store.lock import locked_file
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from deltalake import DeltaTable

SHARD = "_shard"
WITHOUT_SHARD = "all"
"""The value of `_shard` if BROKERBI_SHARD is not set."""
PUBLICATIONS = "_publications"
LAKE_NOT_NAMED = (
    "there are publications in a lake, and BROKERBI_LAKE does not say where: name it, and run the same again"
)
KEPT_HOURS = 7 * 24
"""How long the files of earlier publications stay."""
TRIES = 8
"""How often a write is tried while other shards write the same table."""
PATIENCE = {"connect_timeout": "10s", "timeout": "60s", "retry_timeout": "60s"}
"""The library's own limits would have a publication wait for minutes if the store hangs."""
WITHOUT_STATISTICS = {"delta.dataSkippingNumIndexedCols": "0"}
"""The log would keep the smallest and the largest value of each column, some of them personal."""
_TYPES = {
    "BOOLEAN": ("BOOLEAN", "boolean"),
    "DATE": ("DATE", "date"),
    "TIMESTAMP.*": ("TIMESTAMP WITH TIME ZONE", "timestamp"),
    "U?(TINY|SMALL)INT|U?INTEGER|BIGINT": ("BIGINT", "long"),
    "UBIGINT|U?HUGEINT|DECIMAL.*|FLOAT|DOUBLE": ("DOUBLE", "double"),
    ".*": ("VARCHAR", "string"),
}
"""The types of a column in the lake, for DuckDB and for Delta, by its type in the published file."""
_PUBLICATION = {"publication": "string", "published_at_utc": "timestamp", "tables": "string"}
_WITHOUT_VALUES = '"NULL"'
"""The type of a column that no row has a value of; the lake gets the column with its first value."""
_COLOURS = re.compile(r"\x1b\[\d*m")
LONGEST_ERROR = 300


def refresh_lake(data_dir: Path, address: str, shard: str, now: datetime) -> str:
    """Write the published file into the lake, if one is set; why it could not be written, else "".

    The result is noted in meta.sinks. The numbers are published even if the lake fails.
    """
    if not address:
        return ""
    error = _error_of(data_dir, address, shard, now, erases=False)
    return f"The lake could not be written, it stays behind: {error}" if error else ""


def clean_lake(data_dir: Path, address: str, shard: str, now: datetime) -> str:
    """Write the published file into the lake and remove the files of earlier publications; why not, else "".

    Older versions cannot be read any more, those of other shards in the same tables neither.
    """
    with Store(data_dir).reading() as connection:
        if not has_lake(connection):
            return ""
    if not address:
        return LAKE_NOT_NAMED
    error = _error_of(data_dir, address, shard, now, erases=True)
    return f"The lake could not be cleaned: {error}" if error else ""


def _error_of(data_dir: Path, address: str, shard: str, now: datetime, *, erases: bool) -> str:
    error = ""
    try:
        _Lake(address, shard or WITHOUT_SHARD, is_alone=not shard).write(data_dir, now, erases=erases)
    except WarehouseError as caught:
        error = str(caught)
    except Exception as caught:  # noqa: BLE001 the library raises errors of many kinds
        words = " ".join(_COLOURS.sub("", str(caught)).split())
        error = f"{type(caught).__name__}: {words[:LONGEST_ERROR]}"
    with Store(data_dir).writing() as connection:
        note_lake(connection, now, error)
    return error


@dataclass(frozen=True)
class _Lake:
    """The Delta tables below an address, as one shard writes them; `is_alone` if no other shard does."""

    address: str
    shard: str
    is_alone: bool

    def write(self, data_dir: Path, now: datetime, *, erases: bool) -> None:
        """Overwrite the rows of this shard in every table, then note the publication."""
        publication = Versions(data_dir).current()
        if publication is None:
            raise WarehouseError("The published file is no kept version; `brokerbi publish` makes one.")
        make_folder(data_dir / "work")
        if "://" not in self.address:
            make_folder(Path(self.address), SHARED_FOLDER)
        with locked_file(data_dir / "work" / "lake.lock", LOCK_SECONDS), table_export(data_dir) as export:
            noted = self._noted_tables()
            tables = {f"{table.schema}/{table.table}": table for table in export.tables()}
            timezone = export.timezone()
            for path, table in tables.items():
                self._overwrite(path, export, table, timezone)
            for path in noted - tables.keys():
                self._made(path, {}).delete(self._predicate)
            self._note(publication, now, list(tables))
            for path in (PUBLICATIONS, *noted | tables.keys()):
                table_in_lake = self._made(path, {})
                if erases:
                    table_in_lake.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
                # killed writers leave files that no version knows: they go once they are old
                table_in_lake.vacuum(retention_hours=KEPT_HOURS, dry_run=False, full=True)

    @property
    def _predicate(self) -> str:
        return f"{SHARD} = {literal(self.shard)}"

    def _made(self, path: str, types: Mapping[str, str]) -> DeltaTable:
        """A table, which is made with columns of these Delta types if it does not exist."""
        delta, options = _deltalake(), PATIENCE if "://" in self.address else None
        uri = f"{self.address.rstrip('/')}/{path}"
        if not delta.DeltaTable.is_deltatable(uri, options):
            columns = {**types, SHARD: "string"}
            delta.DeltaTable.create(
                uri,
                delta.Schema(
                    [delta.Field(name, delta.schema.PrimitiveType(type_)) for name, type_ in columns.items()]
                ),
                mode="ignore",
                partition_by=[SHARD],
                configuration=WITHOUT_STATISTICS,
                storage_options=options,
            )
        table: DeltaTable = delta.DeltaTable(uri, storage_options=options)
        return table

    def _overwrite(self, path: str, export: TableExport, table: PublishedTable, timezone: str) -> None:
        """Replace the rows of this shard; tried again if another shard wrote the table meanwhile."""
        delta = _deltalake()
        columns = [column for column in table.columns if column.type != _WITHOUT_VALUES]
        types = {column.name: _type(column)[1] for column in columns}
        values = [f"{_value(column, timezone)} AS {quoted(column.name)}" for column in columns]
        select = f"SELECT {', '.join([*values, f'{literal(self.shard)} AS {SHARD}'])} FROM {table.source}"
        for tries_left in reversed(range(TRIES)):
            target = self._made(path, types)
            changed = _changed_column(target, types)
            if changed and not self.is_alone:
                raise WarehouseError(
                    f"{path} of the lake has {changed} with another type than this publication: remove the "
                    "folder of that table, and run `brokerbi publish` for each shard."
                )
            try:
                delta.write_deltalake(
                    target,
                    export.connection.sql(select),
                    mode="overwrite",
                    predicate=None if changed else self._predicate,
                    schema_mode="overwrite" if changed else "merge",
                    partition_by=[SHARD],
                )
            except delta.exceptions.CommitFailedError:
                if not tries_left:
                    raise
            else:
                return

    def _noted_tables(self) -> set[str]:
        """The tables that this shard has ever written."""
        noted = _deltalake().QueryBuilder().register("noted", self._made(PUBLICATIONS, _PUBLICATION))
        rows = noted.execute(f"SELECT DISTINCT tables FROM noted WHERE {self._predicate}")
        return {path for (paths,) in pl.DataFrame(rows).rows() for path in paths.split()}

    def _note(self, publication: str, now: datetime, tables: Sequence[str]) -> None:
        """Append the row that says that the publication is whole."""
        values = (publication, now, " ".join(tables), self.shard)
        row = pl.DataFrame([values], [*_PUBLICATION, SHARD], orient="row")
        _deltalake().write_deltalake(self._made(PUBLICATIONS, _PUBLICATION), row, mode="append")


def _deltalake() -> Any:
    """The library, imported only if there is a lake."""
    try:
        import deltalake
    except ImportError as error:
        raise WarehouseError(
            "BROKERBI_LAKE needs deltalake, which is not installed: pip install 'brokerbi[lake]'."
        ) from error
    return deltalake


def _type(column: PublishedColumn) -> tuple[str, str]:
    """The type of a column in the lake, as DuckDB and as Delta call it; text if Delta has none like it."""
    return next(types for pattern, types in _TYPES.items() if re.fullmatch(pattern, column.type))


def _value(column: PublishedColumn, timezone: str) -> str:
    """The SQL of a column's values: moments are instants, nested values are JSON."""
    name = quoted(column.name)
    if re.fullmatch("TIMESTAMP(_S|_MS|_NS)?", column.type):
        zone = "UTC" if column.name.endswith("_utc") else timezone
        return f"({name}::TIMESTAMP AT TIME ZONE {literal(zone)})"
    if re.match(r"STRUCT|MAP|UNION|.*\]$", column.type):
        return f"to_json({name})::VARCHAR"
    return f"{name}::{_type(column)[0]}"


def _changed_column(table: DeltaTable, types: Mapping[str, str]) -> str:
    """The first column that the table has with another type; "" if there is none."""
    known = {field.name: getattr(field.type, "type", "") for field in table.schema().fields}
    return next((name for name, type_ in types.items() if known.get(name, type_) != type_), "")
