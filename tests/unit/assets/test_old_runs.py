"""Tests of the deletion of old runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from assets.old_runs import delete_old_runs
from tests.unit.assets.harness import harness

LONG_AGO, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def test_a_run_goes_with_its_files_once_others_have_read_all_that_it_read(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    made = harness(tmp_path, instance)
    superseded = made.run(first="G1|2026-09", last="G1|2026-10").run_id
    last_reader = made.run(first="G1|2026-08", last="G1|2026-09").run_id
    latest = made.run(first="G1|2026-09", last="G1|2026-11").run_id
    gone = [one for _, one in delete_old_runs(made.project, instance, LONG_AGO, LATER)]
    assert gone == [True, False, False]
    assert {run.run_id for run in instance.get_runs()} == {last_reader, latest}
    assert made.partitions() == {"G1 green": 4}
    assert not list(Path(instance.root_directory).rglob(f"*{superseded}*"))
