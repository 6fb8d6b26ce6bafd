"""Tests of publishing: the file follows the reports by itself, stays when it must, and the run says why."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
from dagster._core.storage.partition_status_cache import AssetStatusCacheValue

from assets.definitions import build_definitions
from assets.marts import FILE
from assets.partitions import customer_months
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import CUSTOMERS, M16, RUNNING, failure_of, harness
from tests.unit.repository.files import ROOT


def test_what_is_right_is_published_though_a_customer_failed(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.service.faults.switch([Fault("404", customer=M16)])
    assert not made.run().success
    assert made.publish().success
    assert made.file.exists()
    coverage = made.metadata(FILE)["coverage"]
    assert "| running_commissions | **3 of 11** | **0 of 11** | **3 of 11** |" in coverage


def test_every_mart_and_check_has_an_event_and_every_column_a_description(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.run()
    result = made.publish()
    keys = build_definitions(made.project).resolve_all_asset_keys()
    assert {event.asset_key for event in result.get_asset_materialization_events()} == {
        *(key for key in keys if key.path[0] == "marts"),
        FILE,
    }
    checks = list((ROOT / "sql" / "checks").glob("*.sql"))
    assert len(result.get_asset_check_evaluations()) == len(checks)
    schema = made.metadata(dg.AssetKey(["marts", "office_month"]))["dagster/column_schema"]
    assert [column.name for column in schema.columns if not column.description] == []


def test_file_and_page_are_links_where_somebody_serves_them_and_paths_elsewhere(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.run()
    for url, place in (("", str(made.file.parent)), ("https://files.test/bi/", "https://files.test/bi")):
        made.change_settings(published_url=url)
        made.publish()
        metadata = made.metadata(FILE)
        assert [metadata["page"], metadata["file"]] == [f"{place}/report.html", f"{place}/warehouse.duckdb"]


def test_an_error_keeps_the_previous_file_and_the_run_says_why(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.run()
    made.publish()
    before = made.file.stat().st_ino
    with made.project.store.writing() as connection:  # rows of no load in force
        connection.execute(
            "INSERT INTO bi.running_commissions (_customer, _month, _load_id) VALUES ('G1', '2026-11-01', '')"
        )
    result = made.publish()
    assert "no_month_stands_twice" in failure_of(result)
    assert made.file.stat().st_ino == before
    failed = [one.check_name for one in result.get_asset_check_evaluations() if not one.passed]
    assert "no_month_stands_twice" in failed


def test_a_publication_tells_which_reports_gained_rows_since_the_last(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.run(last="G1|2026-11")
    made.publish()
    made.run()
    made.publish()
    assert "| running_commissions | " in made.metadata(FILE)["changed"]


def test_partitions_that_dagster_lost_count_of_are_found_again(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.run()
    (record,) = made.instance.get_asset_records([dg.AssetKey(RUNNING)])
    partitions = customer_months(made.project.settings, CUSTOMERS)
    lost = AssetStatusCacheValue(
        latest_storage_id=record.asset_entry.last_materialization_storage_id or 0,
        partitions_def_id=partitions.get_serializable_unique_identifier(),
    )
    made.instance.update_asset_cached_status_data(dg.AssetKey(RUNNING), lost)
    assert made.partitions() == {}
    made.publish()
    assert made.partitions() == {"G1 green": 3, "M30016 green": 3, "M30017 green": 3}


def test_publishing_follows_a_fetch_once(tmp_path: Path) -> None:
    made = harness(tmp_path)
    definitions = build_definitions(made.project)
    looks = [dg.evaluate_automation_conditions(definitions, made.instance)]
    made.run()
    for _ in range(2):
        looks.append(dg.evaluate_automation_conditions(definitions, made.instance, cursor=looks[-1].cursor))
    assert [look.get_num_requested(FILE) for look in looks] == [0, 1, 0]
