"""Shards: several code locations in one Dagster, whose assets and runs are never mixed up."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from assets.definitions import build_definitions
from assets.marts import FILE
from assets.project import REPOSITORY, Project
from tests.unit.assets.harness import RUNNING, failure_of, harness, settings


def keys_of(directory: Path, shard: str) -> set[dg.AssetKey]:
    return set(build_definitions(Project(settings(directory, shard=shard))).resolve_all_asset_keys())


def test_every_key_of_a_shard_begins_with_its_name_and_is_otherwise_unchanged(tmp_path: Path) -> None:
    without = keys_of(tmp_path, "")
    assert keys_of(tmp_path, "north") == {key.with_prefix("north") for key in without}


def test_every_check_of_a_shard_is_about_its_own_assets(tmp_path: Path) -> None:
    graph = build_definitions(Project(settings(tmp_path, shard="north"))).resolve_asset_graph()
    assert {key.asset_key.path[0] for key in graph.asset_check_keys} == {"north"}


def test_a_shard_looks_only_at_runs_of_its_own_code_location(tmp_path: Path) -> None:
    filters = [Project(settings(tmp_path, shard=shard)).runs_filter() for shard in ("north", "")]
    assert filters == [dg.RunsFilter(tags={REPOSITORY: "__repository__@north"}), dg.RunsFilter()]


def test_a_shard_fetches_turns_its_own_partitions_green_and_publishes_at_its_address(tmp_path: Path) -> None:
    made = harness(tmp_path, shard="north", published_url="https://files.test/bi/")
    result = made.run(f"north/{RUNNING}", first="G1|2026-10", last="G1|2026-11")
    assert result.success, failure_of(result)
    assert made.partitions(f"north/{RUNNING}") == {"G1 green": 2}
    assert made.publish().success
    assert made.metadata(dg.AssetKey(["north", FILE]))["file"] == "https://files.test/bi/warehouse.duckdb"


def test_a_failed_run_of_a_shard_turns_its_own_partitions_red(tmp_path: Path) -> None:
    made = harness(tmp_path, shard="north", password="wrong")
    assert not made.run(f"north/{RUNNING}", first="G1|2026-10", last="G1|2026-11").success
    assert made.partitions(f"north/{RUNNING}") == {"G1 red": 2}
