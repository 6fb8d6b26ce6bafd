"""Nightly runs as the schedule requests them, runs whose process has died, and old runs."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Timer
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME
from dagster._core.storage import tags

from assets import reports, runs
from assets.definitions import build_definitions
from assets.project import Project
from assets.runs import NIGHT_TAG, RANGE_END, RANGE_START, RUNS, mark_alive, old_runs_sensor, silent_runs
from pipelines.clock import SystemClock
from pipelines.sync.run_context import RunContext
from tests.unit.assets.harness import TODAY, Harness, harness, run_requests, settings
from warehouse.store.files import make_folder
from warehouse.store.lock import is_locked

STOCKHOLM = ZoneInfo("Europe/Stockholm")
LONG_AGO = datetime(2026, 11, 19, 5, tzinfo=STOCKHOLM)


@dataclass(frozen=True)
class Later(SystemClock):
    """A clock that is ahead by this time."""

    ahead: timedelta

    def utc_now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def later(made: Harness) -> Project:
    project = made.project
    return replace(project, run_context=replace(project.run_context, clock=Later(timedelta(minutes=2))))


@pytest.fixture
def made(tmp_path: Path) -> Harness:
    made = harness(tmp_path)
    run = dg.DagsterRun("nightly", run_id="1", status=dg.DagsterRunStatus.STARTED)
    made.instance.add_run(run)
    return made


def test_a_run_whose_file_is_not_locked_is_failed_at_the_second_tick(made: Harness) -> None:
    [sensor] = [one for one in build_definitions(later(made)).sensors or () if one.name == "dead_runs"]
    assert isinstance(sensor, dg.SensorDefinition)
    with dg.build_sensor_context(made.instance, sensor_name="dead_runs") as context:
        statuses = []
        for _ in range(2):
            sensor.evaluate_tick(context)
            [run] = made.instance.get_runs()
            statuses.append(run.status.value)
    assert statuses == ["STARTED", "FAILURE"]


def test_a_run_that_works_or_has_just_begun_is_left_alone(made: Harness) -> None:
    assert silent_runs(made.project, made.instance) == []
    made.instance.add_run(dg.DagsterRun("nightly", run_id="2", status=dg.DagsterRunStatus.STARTED))
    mark_alive(made.project, "2")
    assert [run.run_id for run in silent_runs(later(made), made.instance)] == ["1"]


def test_a_cancelled_run_whose_process_died_is_over(made: Harness) -> None:
    made.instance.add_run(dg.DagsterRun("nightly", run_id="2", status=dg.DagsterRunStatus.CANCELING))
    assert {run.run_id for run in silent_runs(later(made), made.instance)} == {"1", "2"}


def test_a_run_begins_although_a_sensor_checks_its_file_at_that_moment(made: Harness) -> None:
    path = made.project.settings.data_dir / RUNS / "3"
    make_folder(path.parent)
    with path.open("w") as looked_at:
        fcntl.flock(looked_at, fcntl.LOCK_SH)
        Timer(0.1, fcntl.flock, (looked_at, fcntl.LOCK_UN)).start()
        mark_alive(made.project, "3")
    assert is_locked(path)


def test_a_run_is_deleted_once_later_runs_have_read_its_partitions(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    made = harness(tmp_path, instance)
    superseded = made.run(first="G1|2026-09", last="G1|2026-10").run_id
    last_reader = made.run(first="G1|2026-08", last="G1|2026-09").run_id
    latest = made.run(first="G1|2026-09", last="G1|2026-11").run_id
    project = replace(made.project, run_context=RunContext(clock=Later(timedelta(days=91))))
    sensor = old_runs_sensor(project)
    with dg.build_sensor_context(instance) as context:
        sensor.evaluate_tick(context)
    assert {run.run_id for run in instance.get_runs()} == {last_reader, latest}
    assert made.partitions() == {"G1 green": 4}
    assert not list(Path(instance.root_directory).rglob(f"*{superseded}*"))


def test_a_nightly_run_has_its_time_is_first_and_covers_active_customers(tmp_path: Path) -> None:
    project = Project(settings(tmp_path, today=str(TODAY), customer__c01__active="false"))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        [request] = run_requests(project, "nightly", LONG_AGO, instance)
    assert request.run_key == "night 2026-11-19 05:00"
    assert (request.tags[NIGHT_TAG], request.tags["dagster/priority"]) == (str(TODAY), "10")
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == ("c02|2026-09", "c03|2026-11")


def test_dagsters_own_names_are_the_names_it_uses() -> None:
    ours = {
        runs.JOB_OF_SELECTED_ASSETS: IMPLICIT_ASSET_JOB_NAME,
        "dagster/will_retry": tags.WILL_RETRY_TAG,
        reports.RETRY_NUMBER: tags.RETRY_NUMBER_TAG,
        runs.BACKFILL: tags.BACKFILL_ID_TAG,
        runs.RANGE_START: tags.ASSET_PARTITION_RANGE_START_TAG,
        runs.RANGE_END: tags.ASSET_PARTITION_RANGE_END_TAG,
    }
    assert list(ours) == list(ours.values())
