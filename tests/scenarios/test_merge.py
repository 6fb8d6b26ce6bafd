"""Merging: the file of three shards is that of one machine."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import pytest

from pipelines.upkeep.merge import merge_shards
from tests.scenarios.scenario import NOON, Scenario, whole_chain
from warehouse.store.duckdb_file import quoted

NOT_COMPARED = (
    "_row", "_parent_row", "load_id", "_load_id", "first_load_id", "run_id", "load_number", "sha256",
    "landing",
)  # fmt: skip
"""Columns that differ between any two syncs; so do moments."""


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


def test_a_merge_of_three_shards_is_what_one_machine_publishes(
    tmp_path: Path, shards: dict[str, Path]
) -> None:
    found = merge_shards(chain()[0].with_settings(data_dir=tmp_path).settings, shards, clock=chain()[0].clock)
    assert found.finished.publication.published
    assert chain()[0].publish().publication.published  # a merge builds on what the shards remember
    with duckdb.connect() as file:
        file.execute(f"ATTACH '{chain()[0].data_dir}/warehouse.duckdb' AS whole (READ_ONLY)")
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
