"""Building of marts: their order, refusals, and what a failed build leaves."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import duckdb
import pytest

from tests.marts.given import Given, warehouse
from warehouse.marts.build import MartError, MartTooLarge, build_marts, build_within_memory
from warehouse.marts.checks import run_checks
from warehouse.marts.queries import SQL, QueryError

HEADER = "-- What is it?\n-- One row.\n"


def room(tmp_path: Path, **files: str) -> Path:
    """A folder of SQL: `marts_a="SELECT 1 AS x"` is marts/a.sql."""
    for name, sql in files.items():
        schema, _, table = name.partition("_")
        (tmp_path / schema).mkdir(exist_ok=True)
        (tmp_path / schema / f"{table}.sql").write_text(sql if sql.startswith("--") else HEADER + sql)
    return tmp_path


@pytest.fixture(scope="module")
def empty() -> Given:
    """A warehouse without rows, and all its marts."""
    given = warehouse()
    build_marts(given)
    return given


def test_every_mart_and_every_staging_query_runs_on_an_empty_warehouse_and_once_more(empty: Given) -> None:
    files = sorted(f"marts.{path.stem}" for path in (SQL / "marts").glob("*.sql"))
    assert sorted(build_marts(empty)) == files


def test_a_column_named_share_parts_or_percentage_is_not_an_amount(empty: Given) -> None:
    found = empty.execute("""
        SELECT DISTINCT data_type FROM duckdb_columns()
        WHERE schema_name = 'marts'
            AND regexp_full_match(column_name, '(.*_)?(share|parts|percentage)(_before)?')
    """).fetchall()
    assert found == [("DECIMAL(19,8)",)]


def test_a_mart_that_needs_more_memory_than_given_fails_and_is_built_with_more(tmp_path: Path) -> None:
    large = "SELECT string_agg(md5(range::VARCHAR), '') AS x FROM range(1_000_000)"
    given, folder = warehouse(), room(tmp_path, marts_a=large)
    given.begin()
    with pytest.raises(MartTooLarge, match=r"marts\.a cannot be built"):
        build_marts(given, folder, memory_limit_mb=30)
    given.rollback()
    assert build_marts(given, folder) == ["marts.a"]


def test_marts_are_built_with_twice_the_memory_and_then_without_a_limit(tmp_path: Path) -> None:
    file, tried = tmp_path / "file", list[int | None]()
    file.write_bytes(bytes(80_000_000))

    def build(limit_mb: int | None) -> str:
        tried.append(limit_mb)
        if limit_mb is not None:
            raise MartTooLarge
        return "built"

    assert (build_within_memory(file, build), tried) == ("built", [700, 1400, None])


def test_marts_are_built_after_the_marts_they_read(tmp_path: Path) -> None:
    folder = room(
        tmp_path,
        marts_a="WITH c AS (SELECT * FROM marts.b) SELECT * FROM c",
        marts_b="SELECT x FROM staging.s",
        marts_z="SELECT 1 AS x",
        staging_s="SELECT x FROM marts.z",
    )
    assert build_marts(warehouse(), folder) == ["marts.z", "marts.b", "marts.a"]


def test_a_file_without_a_header_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=r"a\.sql has no header"):
        build_marts(warehouse(), room(tmp_path, marts_a="--"))


@pytest.mark.parametrize("sql", ["SELECT * FROM bi.nobody", "SELECT FROM WHERE", "DROP TABLE bi.nobody"])
def test_a_mart_that_cannot_be_built_is_named_with_its_file(tmp_path: Path, sql: str) -> None:
    with pytest.raises(MartError, match=r"marts\.a cannot be built from .*a\.sql: "):
        build_marts(warehouse(), room(tmp_path, marts_a=sql))


def test_damage_that_a_mart_or_a_check_reads_is_an_error_of_the_file(tmp_path: Path) -> None:
    damage = "SELECT error('Corrupt database file') AS x"
    folder = room(tmp_path, marts_a=damage, checks_c=f"{HEADER}-- Severity: error\n{damage}")
    for read in (
        lambda: build_marts(warehouse(), folder),
        lambda: run_checks(warehouse(), folder / "checks"),
    ):
        with pytest.raises(duckdb.Error, match="Corrupt database file"):
            read()


@pytest.mark.parametrize("kind", ["view", "table"])
def test_a_staging_query_that_cannot_be_built_is_named_with_its_file(tmp_path: Path, kind: str) -> None:
    folder = room(tmp_path, staging_s=f"{HEADER}-- Kind: {kind}\nSELECT * FROM bi.nobody")
    with pytest.raises(MartError, match=r"staging\.s cannot be built from .*s\.sql: .*nobody"):
        build_marts(warehouse(), folder)


def test_a_build_that_fails_leaves_the_marts_of_the_caller_as_they_were(given: Given, tmp_path: Path) -> None:
    build_marts(given, room(tmp_path, marts_a="SELECT 1 AS x"))
    given.begin()
    with pytest.raises(MartError):
        build_marts(given, room(tmp_path, marts_a="SELECT 2 AS x", marts_b="SELECT * FROM bi.nobody"))
    given.rollback()
    assert given.execute("FROM marts.a").fetchall() == [(1,)]


def test_a_mart_whose_file_was_removed_is_gone_and_staging_never_stays(given: Given, tmp_path: Path) -> None:
    build_marts(given, room(tmp_path, staging_s="SELECT 1 AS x", marts_a="SELECT 1 AS x"))
    (tmp_path / "marts" / "a.sql").unlink()
    build_marts(given, room(tmp_path, marts_b="SELECT 1 AS x"))
    left = given.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name NOT IN ('bi', 'meta')"
    )
    assert left.fetchall() == [("marts", "b")]


def test_a_mart_of_kind_view_is_a_view_with_the_meanings_of_its_sources(tmp_path: Path) -> None:
    given = warehouse()
    read = f"{HEADER}-- Columns:\n--   x: the one\nSELECT 1 AS x"
    folder = room(tmp_path, marts_a=read, marts_b=f"{HEADER}-- Kind: view\nFROM marts.a")
    for _ in range(2):  # everything is described anew each time
        build_marts(given, folder)
    found = given.execute(
        "SELECT kind, description FROM meta.dictionary WHERE table_name = 'b' ORDER BY kind"
    )
    assert found.fetchall() == [("column", "the one"), ("view", "What is it? One row.")]


def test_an_amount_times_any_other_number_of_a_mart_does_not_overflow(empty: Given) -> None:
    kinds = empty.execute(
        "SELECT DISTINCT data_type FROM duckdb_columns() "
        "WHERE schema_name = 'marts' AND starts_with(data_type, 'DECIMAL')"
    ).fetchall()
    for (one,), (other,) in product(kinds, repeat=2):
        if (one, other) != ("DECIMAL(18,4)", "DECIMAL(18,4)"):  # nobody multiplies two amounts
            empty.execute(f"SELECT 9999999999::{one} * 999::{other}").fetchall()


def test_a_mart_is_built_part_by_part_each_from_its_own_rows(tmp_path: Path) -> None:
    sql = f"{HEADER}-- For each: SELECT unnest(['b', 'a']) AS part\nSELECT getvariable('part') AS x"
    given = warehouse()
    build_marts(given, room(tmp_path, marts_a=sql))
    assert given.execute("FROM marts.a").fetchall() == [("b",), ("a",)]


def test_each_id_of_a_large_mart_is_in_one_part(given: Given) -> None:
    given.execute((SQL / "macros.sql").read_text("utf-8"))
    seen = []
    for part, count in given.execute("FROM parts_of(1_200_000)").fetchall():
        given.execute(f"SET VARIABLE part = {part}; SET VARIABLE part_count = {count}")
        seen += given.execute("SELECT range FROM range(100) WHERE is_of_part(range::VARCHAR)").fetchall()
    assert sorted(seen) == [(number,) for number in range(100)]
