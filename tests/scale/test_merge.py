"""Merging: the file of shards is that of one machine, and what is wrong with a shard is said or refused."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import duckdb
import pytest

from pipelines.upkeep.merge import merge_shards
from tests.scenarios.scenario import Scenario, whole_chain
from tests.working_file import give_working_file
from warehouse.errors import WarehouseError
from warehouse.load.schema_evolution import declare
from warehouse.marts.build import build_marts
from warehouse.publishing.merge import ALL_ROWS, DECLARED, REMEMBERED, merge
from warehouse.publishing.publish import publish
from warehouse.store.database import Store
from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import SQL
from warehouse.store.schema import StoredColumn, TableSchema

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


OF_ITS_OWN = (
    "archived", "assumptions", "check_results", "columns", "customers", "dictionary", "keys",
    "loads", "mart_sources", "publications", "relations", "reports", "shards", "sinks", "storage", "tables",
)  # fmt: skip
"""Tables that are made anew, or put together in a way of their own."""


def given_shard(
    folder: Path,
    customer: str,
    *,
    now: datetime = NOW,
    column: str = "BIGINT",
    value: object = 1,
    extra: str = "",
) -> Path:
    """A published shard of one customer with one row of a table that has an undocumented column."""
    return Path(shutil.copytree(_shard(customer, now, column, value, extra), folder))


@cache
def _shard(customer: str, now: datetime, column: str, value: object, extra: str) -> Path:
    folder = Path(mkdtemp())
    give_working_file(folder)
    types = {"amount": column, **({extra: "VARCHAR"} if extra else {})}
    columns = {name: StoredColumn(name, type_, False, name, "") for name, type_ in types.items()}
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
    b = given_shard(tmp_path / "b", "M2", column="DOUBLE", value=1.5, extra="extra")
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


def test_agents_of_remembered_sales_that_are_one_text_in_an_old_shard_are_merged(tmp_path: Path) -> None:
    a, b = given_shard(tmp_path / "a", "M1"), given_shard(tmp_path / "b", "M2")
    for shard, type_, agents in ((a, "VARCHAR", "'U1, U2'"), (b, "VARCHAR[]", "['U3']")):
        with duckdb.connect(shard / "warehouse.duckdb") as file:
            file.execute(f"ALTER TABLE meta.sale_versions ALTER agent_ids TYPE {type_}")
            file.execute(
                f"INSERT INTO meta.sale_versions (estate_id, agent_ids) VALUES ('{shard.name}', {agents})"
            )
    found = rows(merged(tmp_path, a=a, b=b), "SELECT agent_ids FROM meta.sale_versions ORDER BY ALL")
    assert found == [(["U1", "U2"],), (["U3"],)]


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


NOT_COMPARED = (
    "_row", "_parent_row", "load_id", "_load_id", "first_load_id", "run_id", "load_number", "sha256",
    "landing",
)  # fmt: skip
"""Columns that differ between any two syncs; so do moments."""


@cache
def chain() -> tuple[Scenario, ...]:
    """One machine that asks every customer, and two shards that ask half of them each; all published."""
    folder = Path(mkdtemp())
    whole = whole_chain(folder / "whole", start="2026-10", as_of=NOW.date())
    customers = [one.id for one in whole.settings.customers]
    parts = [whole]
    for number, name in enumerate(("north", "south")):
        mine = ",".join(customers[number::2])
        parts.append(whole_chain(folder / name, start="2026-10", as_of=NOW.date(), customers=mine))
    for one in parts:
        assert one.sync().complaints() == []
        assert one.publish().publication.published
    return tuple(parts)


def compared(file: duckdb.DuckDBPyConnection, database: str) -> dict[str, str]:
    """The query of every table of bi and marts, without what differs between any two syncs."""
    found = file.execute(
        "SELECT schema_name || '.' || quoted, list(column_name ORDER BY column_name) FROM ("
        "SELECT schema_name, '\"' || table_name || '\"' AS quoted, column_name FROM duckdb_columns() "
        "WHERE database_name = $1 AND schema_name IN ('bi', 'marts') AND NOT internal "
        "AND data_type NOT LIKE 'TIMESTAMP%' AND NOT list_contains($2, column_name)) GROUP BY ALL",
        [database, [*NOT_COMPARED]],
    ).fetchall()
    return {
        name: f"SELECT {', '.join(map(quoted, columns))} FROM {database}.{name}" for name, columns in found
    }


def test_a_merge_of_two_shards_is_what_one_machine_publishes(tmp_path: Path) -> None:
    whole, *parts = chain()
    shards = {one.data_dir.name: one.data_dir for one in parts}
    found = merge_shards(whole.with_settings(data_dir=tmp_path).settings, shards, clock=whole.clock)
    assert found.finished.publication.published
    assert whole.publish().publication.published  # a merge builds on what the shards remember
    with duckdb.connect() as file:
        file.execute(f"ATTACH '{whole.data_dir}/warehouse.duckdb' AS whole (READ_ONLY)")
        file.execute(f"ATTACH '{tmp_path}/warehouse.duckdb' AS parts (READ_ONLY)")
        one, other = compared(file, "whole"), compared(file, "parts")
        both_ways = [(name, one[name], other[name]) for name in one]
        both_ways += [(name, other[name], one[name]) for name in other]
        differing = [
            name
            for name, here, there in both_ways
            if file.execute(f"({here} EXCEPT ALL {there}) LIMIT 1").fetchall()
        ]
        assert (one.keys(), differing) == (other.keys(), [])
