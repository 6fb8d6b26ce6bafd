"""Does the analysts' file follow the reports by itself, stay when it must, and say why?"""

from __future__ import annotations

from pathlib import Path

import dagster as dg
from dagster._core.storage.partition_status_cache import AssetStatusCacheValue

from assets.assembling import definitions
from pipelines.sandbox.faults import Fault
from tests.unit.assets.stage import M16, RUNNING, Stage, failure_of, stage
from warehouse.store import Store

FILE = dg.AssetKey("warehouse_file")


def standing(play: Stage) -> dict[str, object]:
    event = play.instance.get_latest_materialization_event(FILE)
    assert event is not None
    assert event.asset_materialization is not None
    return {name: one.value for name, one in event.asset_materialization.metadata.items()}


def spoil(play: Stage) -> None:
    """Let rows stand in the working file that no load in force has brought."""
    with Store(play.project.settings.data_dir).writing() as connection:
        connection.execute(
            "INSERT INTO bi.running_commissions (_customer, _month, _load_id) VALUES ('G1', '2026-11-01', '')"
        )


def test_what_is_right_is_published_though_a_customer_failed(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.service.faults.switch([Fault("404", customer=M16)])
    assert not play.run().success
    assert play.publish().success
    assert (play.project.settings.data_dir / "warehouse.duckdb").exists()
    assert "| running_commissions | **3 of 11** | **0 of 11** | **3 of 11** |" in str(
        standing(play)["coverage"]
    )


def test_every_mart_and_every_check_is_told_of(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    result = play.publish()
    marts = {key for key in definitions(play.project).resolve_all_asset_keys() if key.path[0] == "marts"}
    told = {event.asset_key for event in result.get_asset_materialization_events()}
    assert told == {*marts, FILE}
    assert len(result.get_asset_check_evaluations()) == len(list(Path("sql/checks").glob("*.sql")))


def test_file_and_page_are_links_where_somebody_serves_them_and_paths_elsewhere(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    play.publish()
    data = play.project.settings.data_dir
    assert standing(play)["page"] == str(data / "report.html")
    assert standing(play)["file"] == str(data / "warehouse.duckdb")
    play.set(published_url="https://files.test/bi/")
    play.publish()
    assert standing(play)["page"] == "https://files.test/bi/report.html"
    assert standing(play)["file"] == "https://files.test/bi/warehouse.duckdb"


def test_a_mart_says_what_every_column_of_it_means(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    play.publish()
    event = play.instance.get_latest_materialization_event(dg.AssetKey(["marts", "office_month"]))
    assert event is not None
    assert event.asset_materialization is not None
    schema = event.asset_materialization.metadata["dagster/column_schema"].value
    assert isinstance(schema, dg.TableSchema)
    assert [column.name for column in schema.columns if not column.description] == []


def test_an_error_keeps_the_file_of_before_and_the_run_says_why(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    play.publish()
    before = (play.project.settings.data_dir / "warehouse.duckdb").stat().st_ino
    spoil(play)
    result = play.publish()
    assert "no_month_stands_twice" in failure_of(result)
    assert (play.project.settings.data_dir / "warehouse.duckdb").stat().st_ino == before
    failed = [one.check_name for one in result.get_asset_check_evaluations() if not one.passed]
    assert "no_month_stands_twice" in failed


def test_rows_that_came_are_told_at_the_next_publication(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run(last="G1|2026-11")
    play.publish()
    play.run()
    play.publish()
    assert "| running_commissions | " in str(standing(play)["changed"])


def test_squares_that_dagster_lost_count_of_are_found_again(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    (record,) = play.instance.get_asset_records([dg.AssetKey(RUNNING)])
    lost = AssetStatusCacheValue(
        latest_storage_id=record.asset_entry.last_materialization_storage_id or 0,
        partitions_def_id=play.partitions.get_serializable_unique_identifier(),
    )
    play.instance.update_asset_cached_status_data(dg.AssetKey(RUNNING), lost)
    assert play.squares() == {}
    play.publish()
    assert play.squares() == {"G1 green": 3, "M30016 green": 3, "M30017 green": 3}


def test_publishing_follows_a_fetch_once(tmp_path: Path) -> None:
    play = stage(tmp_path)
    defs = definitions(play.project)
    looks = [dg.evaluate_automation_conditions(defs, play.instance)]
    play.run()
    for _ in range(2):
        looks.append(dg.evaluate_automation_conditions(defs, play.instance, cursor=looks[-1].cursor))
    assert [look.get_num_requested(FILE) for look in looks] == [0, 1, 0]


def test_nothing_is_published_when_nothing_was_fetched(tmp_path: Path) -> None:
    play = stage(tmp_path)
    assert dg.evaluate_automation_conditions(definitions(play.project), play.instance).total_requested == 0
