"""Tests of the deletion of old runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from assets.runs import old_runs_sensor
from pipelines.clock import SystemClock
from pipelines.sync.run_context import RunContext
from tests.unit.assets.harness import harness


class ThreeMonthsLater(SystemClock):
    def utc_now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=91)


def test_a_run_goes_with_its_files_once_others_have_read_all_that_it_read(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    made = harness(tmp_path, instance)
    superseded = made.run(first="G1|2026-09", last="G1|2026-10").run_id
    last_reader = made.run(first="G1|2026-08", last="G1|2026-09").run_id
    latest = made.run(first="G1|2026-09", last="G1|2026-11").run_id
    project = replace(made.project, run_context=RunContext(clock=ThreeMonthsLater()))
    sensor = old_runs_sensor(project)
    with dg.build_sensor_context(instance) as context:
        sensor.evaluate_tick(context)
    assert {run.run_id for run in instance.get_runs()} == {last_reader, latest}
    assert made.partitions() == {"G1 green": 4}
    assert not list(Path(instance.root_directory).rglob(f"*{superseded}*"))
