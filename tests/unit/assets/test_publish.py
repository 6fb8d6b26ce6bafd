"""Publishing: the file follows the reports automatically, stays if it must, and the run states why."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.partition_status_cache import AssetStatusCacheValue

from assets.definitions import build_definitions
from assets.marts import FILE
from assets.partitions import customer_months
from pipelines.clock import SystemClock
from pipelines.diagnosis.health import daemon_seen
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import CUSTOMERS, G1, M16, M17, RUNNING, Harness, failure_of, harness, look
from tests.unit.repository.files import ROOT
from warehouse.store.lock import work_lock
from warehouse.store.versions import Versions

CHECKS = {path.stem for path in (ROOT / "sql" / "checks").glob("*.sql")}


@dataclass(frozen=True)
class Published:
    """Two publications after runs in which a customer failed: M16, then M17.

    The first fetches users too, and not all its pages can be drawn. Before the second Dagster lost count of
    its partitions, and a check fails.
    """

    made: Harness
    first: dg.ExecuteInProcessResult
    refused: dg.ExecuteInProcessResult
    requested: list[int]
    files: list[int]
    partitions: list[dict[str, int]]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    made = harness(tmp_path_factory.mktemp("published"), pages="true")
    (made.file.parent / "dictionary.html").mkdir(parents=True)
    requested, files, partitions, results = [len(look(made))], [], [], []
    for customer, reports in ((M16, ("users",)), (M17, ())):
        made.service.faults.switch([Fault("404", customer=customer, path="RunningCommissions")])
        assert not made.run().success
        requested.append(len(look(made)))
        if customer == M17:
            insert_rows_of_no_load(made)
            lose_count(made)
            partitions.append(made.partitions())
        results.append(made.publish(*reports))
        requested.append(len(look(made)))
        files.append(made.file.stat().st_ino)
        partitions.append(made.partitions())
    return Published(made, results[0], results[1], requested, files, partitions)


def insert_rows_of_no_load(made: Harness) -> None:
    with made.project.store.writing() as connection:
        connection.execute(
            "INSERT INTO bi.running_commissions (_customer, _month, _load_id) VALUES ('G1', '2026-01-01', '')"
        )


def lose_count(made: Harness) -> None:
    """Make Dagster count no partition as materialized."""
    (record,) = made.instance.get_asset_records([dg.AssetKey(RUNNING)])
    partitions = customer_months(made.project.settings, CUSTOMERS)
    nothing = AssetStatusCacheValue(
        latest_storage_id=record.asset_entry.last_materialization_storage_id or 0,
        partitions_def_id=partitions.get_serializable_unique_identifier(),
    )
    made.instance.update_asset_cached_status_data(dg.AssetKey(RUNNING), nothing)


def test_other_customers_are_published_although_one_failed(published: Published) -> None:
    with Versions(published.made.file.parent).reading() as connection:
        customers = "SELECT DISTINCT customer FROM meta.months WHERE month IS NOT NULL ORDER BY 1"
        assert connection.execute(customers).fetchall() == [(G1,), (M17,)]


def test_every_mart_and_check_has_an_event_and_every_column_a_description(published: Published) -> None:
    keys = build_definitions(published.made.project).resolve_all_asset_keys()
    assert {event.asset_key for event in published.first.get_asset_materialization_events()} == {
        *(key for key in keys if key.path[0] == "marts"),
        dg.AssetKey(FILE),
        dg.AssetKey("users"),  # it has no months, so it is fetched in the same run
    }
    assert {check.check_name for check in published.first.get_asset_check_evaluations()} == CHECKS
    schema = published.made.metadata(dg.AssetKey(["marts", "office_month"]))["dagster/column_schema"]
    assert [column.name for column in schema.columns if not column.description] == []


def test_every_tick_records_that_the_daemon_is_alive(published: Published) -> None:
    assert daemon_seen(published.made.file.parent) is not None


def test_no_mart_is_built_before_the_reports(tmp_path: Path) -> None:
    graph = build_definitions(harness(tmp_path).project).resolve_asset_graph()
    marts = [key for key in graph.get_all_asset_keys() if key.path[0] == "marts"]
    assert [key for key in marts if not graph.get(key).parent_keys] == []


def test_an_error_keeps_the_previous_file_and_the_run_states_why(published: Published) -> None:
    said = failure_of(published.refused)
    assert said.startswith("The latest file was not published: ")
    assert "no_month_stands_twice" in said
    assert said.endswith("\nThe earlier file stays.")
    assert published.files[0] == published.files[1]
    found = {one.check_name: one.passed for one in published.refused.get_asset_check_evaluations()}
    assert found.keys() == CHECKS
    assert not found["no_month_stands_twice"]


def test_partitions_that_dagster_miscounted_are_counted_again(published: Published) -> None:
    _, lost, found = published.partitions
    assert (lost, found) == ({"M30017 red": 3}, {"G1 green": 3, "M30016 green": 3, "M30017 red": 3})


def test_publishing_follows_a_fetch_once(published: Published) -> None:
    assert published.requested == [0, 1, 0, 1, 0]


def test_a_page_that_cannot_be_drawn_fails_the_run_that_published(published: Published) -> None:
    said = failure_of(published.first)
    assert said.startswith("The file is published. The page report.html could not be drawn")
    assert published.made.metadata(dg.AssetKey(FILE))["page"] == "none"


def unpublished(directory: Path, published: Published) -> Harness:
    """A harness with the loads of the published one, and no published file."""
    shutil.copytree(published.made.directory / "data" / "work", directory / "data" / "work")
    made = harness(directory)
    with made.project.store.writing() as connection:
        connection.execute("DELETE FROM meta.publications")
    return made


def test_publishing_waits_for_running_fetches_but_not_for_hours(published: Published, tmp_path: Path) -> None:
    made = unpublished(tmp_path, published)
    with work_lock(made.file.parent, "brokerbi sync", on_wait=print):
        assert look(made) == []  # the command will publish
    running = dg.DagsterRun(job_name="__ASSET_JOB", run_id="a run", status=dg.DagsterRunStatus.STARTED)
    made.instance.add_run(running)
    night = dg.DagsterRun(job_name="nightly", run_id="b run", status=dg.DagsterRunStatus.STARTED)
    made.instance.add_run(night)
    assert look(made) == []
    with made.project.store.writing() as connection:
        connection.execute("UPDATE meta.loads SET loaded_at_utc = loaded_at_utc - INTERVAL 3 HOUR")
    assert len(look(made)) == 1


def test_an_ended_nightly_run_is_published_though_others_wait(published: Published, tmp_path: Path) -> None:
    made = unpublished(tmp_path, published)
    for job, run_id in (("__ASSET_JOB", "a run"), ("nightly", "b run")):
        made.instance.add_run(dg.DagsterRun(job, run_id=run_id, status=dg.DagsterRunStatus.STARTED))
    ended = made.instance.get_run_by_id("b run")
    assert ended
    assert look(made) == []
    made.instance.report_run_failed(ended)
    assert len(look(made)) == 1


@dataclass(frozen=True)
class At(SystemClock):
    """A clock that does not advance."""

    moment: datetime

    def utc_now(self) -> datetime:
        return self.moment


def test_a_failed_publication_is_retried_every_half_hour(published: Published, tmp_path: Path) -> None:
    made = unpublished(tmp_path, published)
    keys = []
    for minute in (1, 29, 31):
        context = replace(made.project.run_context, clock=At(datetime(2026, 11, 21, 4, minute, tzinfo=UTC)))
        [request] = look(made, replace(made.project, run_context=context))
        keys.append(request.run_key)  # Dagster launches one run for each key
    assert [keys[0] == key for key in keys] == [True, True, False]


def test_no_mart_compares_itself_with_every_partition_of_its_reports(tmp_path: Path) -> None:
    graph = build_definitions(harness(tmp_path).project).resolve_asset_graph()
    months = dg.AssetKey(RUNNING)
    below = [key for key in graph.get_all_asset_keys() if months in graph.get(key).parent_keys]
    mappings = [graph.get_partition_mapping(key, months) for key in below]
    assert {len(mapping.partition_keys) for mapping in mappings} == {0}  # type: ignore[attr-defined]
