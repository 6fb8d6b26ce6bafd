"""Merging: rows and columns of shards together, and what is wrong with a shard said or refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.working_file import give_working_file
from warehouse.errors import WarehouseError
from warehouse.load.schema_evolution import declare
from warehouse.marts.build import build_marts
from warehouse.publishing.merge import ALL_ROWS, DECLARED, OF_ITS_OWN, REMEMBERED, merge
from warehouse.publishing.publish import publish
from warehouse.store.database import Store
from warehouse.store.meta_schema import SQL
from warehouse.store.schema import StoredColumn, TableSchema

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def given_shard(
    folder: Path,
    customer: str,
    *,
    now: datetime = NOW,
    column: str = "BIGINT",
    value: object = 1,
    **more: str,
) -> Path:
    """A published shard of one customer with one row of a table that has an undocumented column."""
    give_working_file(folder)
    columns = {
        name: StoredColumn(name, type_, False, name, "")
        for name, type_ in {"amount": column, **dict.fromkeys(more, "VARCHAR")}.items()
    }
    table = TableSchema("things", "a_report", None, False, (), False, "things", columns)
    with Store(folder).writing() as connection:
        declare(connection, [table], NOW.replace(tzinfo=None))
        connection.execute(
            "INSERT INTO bi.things BY NAME SELECT $1 AS _customer, 7 AS _row, $2 AS amount", [customer, value]
        )
        connection.execute("INSERT INTO meta.months (report, customer) VALUES ('a_report', $1)", [customer])
        connection.execute(
            "INSERT INTO meta.loads (load_id, load_number, customer, report) VALUES ($1, 1, $1, 'a_report')",
            [customer],
        )
        connection.execute("INSERT INTO meta.clock VALUES ('Europe/Stockholm')")
    assert publish(folder, keep=1, now=now).published
    return folder


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with Store(folder).reading() as connection:
        return connection.execute(query).fetchall()


def merged(folder: Path, **shards: Path) -> Path:
    merge(folder / "all", shards, now=NOW)
    return folder / "all"


def test_every_table_of_meta_is_added_up_remembered_declared_or_made_anew() -> None:
    decided = [*ALL_ROWS, *REMEMBERED, *DECLARED, *OF_ITS_OWN]
    assert sorted(decided) == sorted(path.stem for path in (SQL / "tables").glob("*.sql"))


def test_columns_are_united_by_name_in_the_type_that_loses_nothing(tmp_path: Path) -> None:
    a = given_shard(tmp_path / "a", "M1")
    b = given_shard(tmp_path / "b", "M2", column="DOUBLE", value=1.5, extra="")
    found = rows(merged(tmp_path, a=a, b=b), "SELECT _customer, amount, extra FROM bi.things ORDER BY 1")
    assert found == [("M1", 1.0, None), ("M2", 1.5, None)]


def test_a_whole_number_that_a_fraction_would_spoil_becomes_text_beside_one(tmp_path: Path) -> None:
    a = given_shard(tmp_path / "a", "M1", value=2**53 + 1)
    b = given_shard(tmp_path / "b", "M2", column="DOUBLE", value=2.0)
    found = rows(merged(tmp_path, a=a, b=b), "SELECT amount FROM bi.things ORDER BY _customer")
    assert found == [(str(2**53 + 1),), ("2",)]


def test_rows_and_loads_of_two_shards_have_numbers_of_their_own(tmp_path: Path) -> None:
    folder = merged(tmp_path, a=given_shard(tmp_path / "a", "M1"), b=given_shard(tmp_path / "b", "M2"))
    assert rows(folder, "SELECT count(DISTINCT _row) FROM bi.things") == [(2,)]
    assert rows(folder, "SELECT load_number FROM meta.loads ORDER BY 1") == [(1,), (2,)]


def test_a_customer_of_two_shards_is_refused_by_name_and_the_file_stays(tmp_path: Path) -> None:
    a, b = given_shard(tmp_path / "a", "M1"), given_shard(tmp_path / "b", "M2")
    folder = merged(tmp_path, a=a, b=b)
    twice = given_shard(tmp_path / "c", "M1")
    with pytest.raises(WarehouseError, match="M1 is in a and in c"):
        merged(tmp_path, a=a, c=twice)
    assert rows(folder, "SELECT count(*) FROM bi.things") == [(2,)]


def test_shards_that_declare_different_things_are_refused_and_the_file_stays(tmp_path: Path) -> None:
    a, b = given_shard(tmp_path / "a", "M1"), given_shard(tmp_path / "b", "M2")
    folder = merged(tmp_path, a=a)
    with Store(b).writing() as connection:
        connection.execute("UPDATE meta.clock SET timezone = 'UTC'")
    publish(b, keep=1, now=NOW)
    with pytest.raises(WarehouseError, match="set them alike"):
        merged(tmp_path, a=a, b=b)
    assert rows(folder, "SELECT _customer FROM bi.things") == [("M1",)]


def test_a_shard_that_an_earlier_version_published_is_merged_with_what_it_has(tmp_path: Path) -> None:
    a, b = given_shard(tmp_path / "a", "M1"), given_shard(tmp_path / "b", "M2")
    with duckdb.connect(b / "warehouse.duckdb") as file:
        file.execute("DROP TABLE meta.turns; ALTER TABLE meta.loads DROP COLUMN login")
    assert rows(merged(tmp_path, a=a, b=b), "SELECT count(*) FROM meta.loads") == [(2,)]


def test_a_directory_that_a_sync_loads_into_is_no_place_for_a_merge(tmp_path: Path) -> None:
    a = given_shard(tmp_path / "a", "M1")
    with pytest.raises(WarehouseError, match="directory of its own"):
        merge(a, {"a": a}, now=NOW)


def conditions(folder: Path) -> Mapping[str, str]:
    """What the conditions of a merged file say of shards."""
    with Store(folder).writing() as connection:
        build_marts(connection, wanted=["meta.conditions"])
        found = connection.execute(
            "SELECT cause, kind FROM meta.conditions WHERE kind LIKE 'shard%'"
        ).fetchall()
    return dict(found)


def test_a_missing_and_a_late_shard_are_conditions_and_the_others_are_merged(tmp_path: Path) -> None:
    a = given_shard(tmp_path / "a", "M1")
    late = given_shard(tmp_path / "late", "M2", now=NOW - timedelta(days=3))
    folder = merged(tmp_path, a=a, late=late, gone=tmp_path / "gone")
    assert conditions(folder) == {"late": "shard late", "gone": "shard missing"}
    assert rows(folder, "SELECT count(*) FROM bi.things") == [(2,)]


def test_of_a_shard_that_is_missing_now_its_customers_stay_known(tmp_path: Path) -> None:
    a, b = given_shard(tmp_path / "a", "M1"), given_shard(tmp_path / "b", "M2")
    merged(tmp_path, a=a, b=b)
    (b / "warehouse.duckdb").unlink()
    folder = merged(tmp_path, a=a, b=b)
    assert rows(folder, "SELECT customers, error IS NULL FROM meta.shards ORDER BY shard") == [
        (["M1"], True),
        (["M2"], False),
    ]


def test_nothing_is_merged_when_no_shard_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "warehouse.duckdb").write_bytes(b"no file of DuckDB")
    with pytest.raises(WarehouseError, match="No shard can be read"):
        merged(tmp_path, a=tmp_path / "a", b=tmp_path / "b")


def test_earlier_publications_of_the_merged_file_stay_so_that_they_can_be_put_back(tmp_path: Path) -> None:
    a = given_shard(tmp_path / "a", "M1")
    folder = merged(tmp_path, a=a)
    publish(folder, keep=3, now=NOW)
    merged(tmp_path, a=a)
    publish(folder, keep=3, now=NOW + timedelta(hours=1))
    assert len(rows(folder, "FROM meta.publications")) == 2
    with duckdb.connect(folder / "warehouse.duckdb", read_only=True) as file:
        assert file.execute("SELECT count(*) FROM bi.things").fetchall() == [(1,)]
