"""Published files as they are given, and a lake as a reader without the product sees it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from deltalake import DeltaTable

from warehouse.publishing.lake import Lake, LakePublication
from warehouse.store.versions import VERSION, Versions

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SALES = "SELECT 'M1' AS office_id, DATE '2026-10-01' AS month, 3 AS sold, 1.5::DECIMAL(18, 4) AS commission"


def give_publication(data_dir: Path, tables: dict[str, str], *, number: int = 0) -> None:
    """Let analysts see a file with these tables, by name and SELECT, as the publication of this number."""
    versions = Versions(data_dir)
    versions.folder.mkdir(parents=True, exist_ok=True)
    name = (NOON + timedelta(seconds=number)).strftime(VERSION)
    versions.path(name).unlink(missing_ok=True)  # of a process that was killed
    with duckdb.connect(versions.path(name)) as connection:
        for schema in ("bi", "marts", "meta"):
            connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute("CREATE TABLE meta.clock AS SELECT 'Europe/Stockholm' AS timezone")
        for table, select in tables.items():
            connection.execute(f"CREATE TABLE {table} AS {select}")
    versions.show(name)


def publish(
    data_dir: Path, lake: Lake, tables: dict[str, str], *, number: int = 0, now: datetime = NOON
) -> LakePublication | None:
    give_publication(data_dir, tables, number=number)
    return lake.publish(data_dir, now=now, is_personal=lambda _, column: column == "name")


def read(lake: Lake, path: str, *, version: int | None = None) -> pl.DataFrame:
    """A table as Polars reads it, without our code."""
    return pl.read_delta(lake.uri(path), version=version)


def rows(lake: Lake, path: str, columns: str, *, version: int | None = None) -> list[tuple[Any, ...]]:
    return sorted(read(lake, path, version=version).select(columns.split()).rows(), key=repr)


def version(lake: Lake, path: str) -> int:
    return int(DeltaTable(lake.uri(path)).version())
