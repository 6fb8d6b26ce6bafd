"""A run whose process has died is failed; one that lives, or has only begun, is not."""

from __future__ import annotations

import fcntl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Timer

import dagster as dg
import pytest

from assets.definitions import build_definitions
from assets.project import Project
from assets.runs import RUNS, mark_alive, silent_runs
from pipelines.clock import SystemClock
from tests.unit.assets.harness import Harness, harness
from warehouse.store.files import make_folder
from warehouse.store.lock import is_locked


class TwoMinutesLater(SystemClock):
    def utc_now(self) -> datetime:
        return datetime.now(UTC) + timedelta(minutes=2)


def later(made: Harness) -> Project:
    project = made.project
    return replace(project, run_context=replace(project.run_context, clock=TwoMinutesLater()))


@pytest.fixture
def made(tmp_path: Path) -> Harness:
    made = harness(tmp_path)
    run = dg.DagsterRun("nightly", run_id="1", status=dg.DagsterRunStatus.STARTED)
    made.instance.add_run(run)
    return made


def test_a_run_whose_file_is_not_locked_is_failed_at_the_second_look(made: Harness) -> None:
    [sensor] = [one for one in build_definitions(later(made)).sensors or () if one.name == "dead_runs"]
    assert isinstance(sensor, dg.SensorDefinition)
    with dg.build_sensor_context(made.instance, sensor_name="dead_runs") as context:
        statuses = []
        for _ in range(2):
            sensor.evaluate_tick(context)
            [run] = made.instance.get_runs()
            statuses.append(run.status.value)
    assert statuses == ["STARTED", "FAILURE"]


def test_a_run_that_works_or_has_only_begun_is_left_alone(made: Harness) -> None:
    assert silent_runs(made.project, made.instance) == []
    made.instance.add_run(dg.DagsterRun("nightly", run_id="2", status=dg.DagsterRunStatus.STARTED))
    mark_alive(made.project, "2")
    assert [run.run_id for run in silent_runs(later(made), made.instance)] == ["1"]


def test_a_cancelled_run_whose_process_died_is_over(made: Harness) -> None:
    made.instance.add_run(dg.DagsterRun("nightly", run_id="2", status=dg.DagsterRunStatus.CANCELING))
    assert {run.run_id for run in silent_runs(later(made), made.instance)} == {"1", "2"}


def test_a_run_begins_though_a_sensor_looks_at_its_file_in_that_moment(made: Harness) -> None:
    path = made.project.settings.data_dir / RUNS / "3"
    make_folder(path.parent)
    with path.open("w") as looked_at:
        fcntl.flock(looked_at, fcntl.LOCK_SH)
        Timer(0.1, fcntl.flock, (looked_at, fcntl.LOCK_UN)).start()
        mark_alive(made.project, "3")
    assert is_locked(path)
