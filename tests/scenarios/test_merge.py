"""Merging: the file of three shards is that of one machine, and what is wrong with a shard is said."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import pytest

from pipelines.upkeep.merge import Merged, merge_shards
from tests.scenarios.scenario import NOON, Scenario, content, whole_chain
from warehouse.errors import WarehouseError
from warehouse.publishing.merge import ALL_ROWS, DECLARED, OF_ITS_OWN, REMEMBERED
from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import SQL
from warehouse.store.versions import Versions

NOT_COMPARED = (
    "_row",
    "_parent_row",
    "load_id",
    "_load_id",
    "first_load_id",
    "run_id",
    "load_number",
    "login",
    "landing",
    "sha256",
)


@cache
def chain() -> tuple[Scenario, ...]:
    """One machine that asks every customer, and three shards that ask a third of them each; all published."""
    folder = Path(mkdtemp())
    whole = whole_chain(folder / "whole", as_of=NOON.date())
    customers = [one.id for one in whole.settings.customers]
    parts = [whole]
    for number, name in enumerate(("north", "south", "west")):
        mine = ",".join(customers[number::3])
        parts.append(whole_chain(folder / name, as_of=NOON.date(), customers=mine))
    for one in parts:
        assert one.sync().complaints() == []
        assert one.publish().publication.published
    return tuple(parts)


@pytest.fixture
def shards() -> dict[str, Path]:
    return {one.data_dir.name: one.data_dir for one in chain()[1:]}


def merged(directory: Path, shards: dict[str, Path]) -> Merged:
    here = chain()[0].with_settings(data_dir=directory)
    return merge_shards(here.settings, shards, clock=here.clock)


def compared(file: duckdb.DuckDBPyConnection, database: str) -> dict[str, str]:
    """The query of every table of bi and marts, without what differs between any two syncs."""
    found = file.execute(
        "SELECT schema_name || '.' || quoted, list(column_name ORDER BY column_name) FROM ("
        "SELECT schema_name, '\"' || table_name || '\"' AS quoted, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = $1 AND schema_name IN ('bi', 'marts') AND NOT internal "
        "AND data_type NOT LIKE 'TIMESTAMP%' AND NOT list_contains($2, column_name)) GROUP BY ALL",
        [database, [*NOT_COMPARED]],
    ).fetchall()
    return {
        name: f"SELECT {', '.join(map(quoted, columns))} FROM {database}.{name}" for name, columns in found
    }


def test_a_merge_of_three_shards_is_what_one_machine_publishes(
    tmp_path: Path, shards: dict[str, Path]
) -> None:
    assert merged(tmp_path / "all", shards).finished.publication.published
    with duckdb.connect() as file:
        file.execute(f"ATTACH '{chain()[0].data_dir}/warehouse.duckdb' AS whole (READ_ONLY)")
        file.execute(f"ATTACH '{tmp_path}/all/warehouse.duckdb' AS parts (READ_ONLY)")
        one, other = compared(file, "whole"), compared(file, "parts")
        assert one.keys() == other.keys()
        differing = {}
        for name, query in one.items():
            for here, there in ((query, other[name]), (other[name], query)):
                try:
                    [(n,)] = file.execute(f"SELECT count(*) FROM ({here} EXCEPT ALL {there})").fetchall()
                except duckdb.Error as error:
                    n = str(error)[:200]
                if n:
                    differing[name] = n, file.execute(f"({here} EXCEPT ALL {there}) LIMIT 3").fetchall()
        assert differing == {}
