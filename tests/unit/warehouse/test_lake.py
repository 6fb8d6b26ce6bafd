"""The lake: Delta tables of the published file, each shard in its own rows, and no person in their logs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from deltalake import DeltaTable

from warehouse.publishing.lake import LAKE_NOT_NAMED, clean_lake, refresh_lake
from warehouse.store.database import Store
from warehouse.store.versions import VERSION, Versions

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
OFFICES = {
    "marts.offices": "SELECT 'M1' AS office_id, DATE '2026-10-01' AS month, 1.5::DECIMAL(18, 4) AS sold"
}


def refresh(folder: Path, tables: Mapping[str, str], *, shard: str = "", number: int = 0) -> str:
    """Publish a file with these tables, by name and SELECT, and write it into the lake."""
    data_dir, now = folder / f"data{shard}", NOON + timedelta(minutes=number)
    versions = Versions(data_dir)
    versions.folder.mkdir(parents=True, exist_ok=True)
    name = now.strftime(VERSION)
    with duckdb.connect(versions.path(name)) as connection:
        for schema in ("bi", "marts", "meta"):
            connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute("CREATE TABLE meta.clock AS SELECT 'Europe/Stockholm' AS timezone")
        for table, select in tables.items():
            connection.execute(f"CREATE TABLE {table} AS {select}")
    versions.make_current(name)
    return refresh_lake(data_dir, str(folder / "lake"), shard, now)


def rows(folder: Path, path: str = "marts/offices") -> list[dict[str, Any]]:
    """The rows of a table as Polars reads it, without our code."""
    found = pl.read_delta(str(folder / "lake" / path)).sort("_shard").to_dicts()
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def files(folder: Path, kind: str = "*.parquet") -> list[Path]:
    return sorted((folder / "lake" / "marts" / "offices").rglob(kind))


def sold(number: str) -> dict[str, str]:
    return {"marts.offices": f"SELECT {number} AS sold"}


def test_a_published_table_is_in_the_lake_with_its_rows_and_its_shard(tmp_path: Path) -> None:
    assert refresh(tmp_path, OFFICES) == ""
    office = {"office_id": "M1", "month": date(2026, 10, 1), "sold": 1.5}
    assert rows(tmp_path) == [office | {"_shard": "all"}]


def test_a_publication_is_noted_with_its_tables(tmp_path: Path) -> None:
    refresh(tmp_path, {**OFFICES, "bi.sales": "SELECT 1 AS id"})
    [noted] = rows(tmp_path, "_publications")
    assert noted == {
        "publication": NOON.strftime(VERSION),
        "published_at_utc": NOON,
        "tables": "marts/offices bi/sales",
        "_shard": "all",
    }


def test_the_next_publication_replaces_the_rows_and_keeps_the_earlier_files_until_an_erasure(
    tmp_path: Path,
) -> None:
    refresh(tmp_path, sold("1"))
    refresh(tmp_path, sold("2"), number=1)
    assert rows(tmp_path) == [{"sold": 2, "_shard": "all"}]
    assert len(files(tmp_path)) == 2
    assert clean_lake(tmp_path / "data", str(tmp_path / "lake"), "", NOON) == ""
    assert (len(files(tmp_path)), rows(tmp_path)) == (1, [{"sold": 2, "_shard": "all"}])


def test_a_shard_replaces_its_own_rows_alone(tmp_path: Path) -> None:
    for number, (shard, sales) in enumerate({"north": "1", "south": "2"}.items()):
        refresh(tmp_path, sold(sales), shard=shard, number=number)
    refresh(tmp_path, sold("3"), shard="north", number=2)
    assert rows(tmp_path) == [{"sold": 3, "_shard": "north"}, {"sold": 2, "_shard": "south"}]


def test_a_table_that_is_no_longer_published_has_no_rows_of_the_shard(tmp_path: Path) -> None:
    refresh(tmp_path, {**OFFICES, "bi.sales": "SELECT 1 AS id"})
    refresh(tmp_path, {"bi.sales": "SELECT 1 AS id"}, number=1)
    assert (rows(tmp_path), rows(tmp_path, "bi/sales")) == ([], [{"id": 1, "_shard": "all"}])


def test_a_new_column_is_null_in_the_rows_of_other_shards(tmp_path: Path) -> None:
    refresh(tmp_path, sold("1"), shard="north")
    refresh(tmp_path, {"marts.offices": "SELECT 2 AS sold, 'b' AS name"}, shard="south")
    assert rows(tmp_path) == [{"sold": 1, "_shard": "north"}, {"sold": 2, "name": "b", "_shard": "south"}]


def test_a_column_of_another_type_is_written_again_if_there_is_one_shard(tmp_path: Path) -> None:
    refresh(tmp_path, sold("1"))
    assert refresh(tmp_path, sold("2.5"), number=1) == ""
    assert rows(tmp_path) == [{"sold": 2.5, "_shard": "all"}]


def test_a_column_with_another_type_than_in_other_shards_loses_no_digit(tmp_path: Path) -> None:
    refresh(tmp_path, sold("1"), shard="north")
    assert "marts/offices in the lake has the column sold with another type" in refresh(
        tmp_path, sold("2.5"), shard="south"
    )
    assert rows(tmp_path) == [{"sold": 1, "_shard": "north"}]


VALUES: dict[str, tuple[str, object]] = {
    "time": ("TIME '10:30:00'", "10:30:00"),
    "hugeint": ("1000000::HUGEINT", 1e6),
    "tiny": ("7::UTINYINT", 7),
    "list": ("['a', 'b']", '["a","b"]'),
    "struct": ("{'a': 1}", '{"a":1}'),
    "json": ("'{\"a\": 1}'::JSON", '{"a": 1}'),
    "word": ("'x'::ENUM ('x')", "x"),
    "truth": ("true", True),
}


def test_a_value_has_a_type_that_every_program_reads(tmp_path: Path) -> None:
    columns = ", ".join(f"{value} AS {name}" for name, (value, _) in VALUES.items())
    assert refresh(tmp_path, {"marts.offices": f"SELECT {columns}, NULL AS nothing"}) == ""
    found = {name: found for name, (_, found) in VALUES.items()}
    assert rows(tmp_path) == [found | {"_shard": "all"}]
    assert DeltaTable(str(tmp_path / "lake/marts/offices")).protocol().min_reader_version == 1


def test_times_are_instants_in_utc_or_on_the_brokerages_clock(tmp_path: Path) -> None:
    moment = "TIMESTAMP '2026-07-01 00:30:00'"
    refresh(tmp_path, {"marts.offices": f"SELECT {moment} AS read_at_utc, {moment} AS sold_at"})
    [row] = rows(tmp_path)
    assert row["read_at_utc"] == datetime(2026, 7, 1, 0, 30, tzinfo=UTC)
    assert row["sold_at"] == datetime(2026, 6, 30, 22, 30, tzinfo=UTC)


def test_the_log_of_a_table_holds_no_value(tmp_path: Path) -> None:
    refresh(tmp_path, {"marts.offices": "SELECT 'Someone' AS name, 4711 AS sold"})
    assert not any(
        b"Someone" in path.read_bytes() or b"4711" in path.read_bytes() for path in files(tmp_path, "*.json")
    )


def test_an_erasure_reports_a_lake_that_is_no_longer_configured(tmp_path: Path) -> None:
    refresh(tmp_path, OFFICES)
    assert clean_lake(tmp_path / "data", "", "", NOON) == LAKE_NOT_NAMED


def test_a_lake_that_cannot_be_written_is_noted_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("no folder")
    said = refresh(tmp_path, OFFICES)
    assert said.startswith("The lake could not be written and is out of date: FileExistsError")
    with Store(tmp_path / "data").reading() as connection:
        [(waiting, error)] = connection.execute("SELECT waiting_count, error FROM meta.sinks").fetchall()
    assert (waiting, said.endswith(error)) == (1, True)
