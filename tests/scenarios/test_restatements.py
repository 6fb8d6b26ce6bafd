"""Restatements: what the service changed afterwards is known again when everything but landing was lost."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pipelines.months import Month
from pipelines.operations.replay import replay
from pipelines.planning.selection import Selection
from tests.scenarios.rehearsal import Rehearsal, rehearsal
from warehouse.database import Store

DAYS = (date(2026, 4, 10), date(2026, 5, 6), date(2026, 6, 10))
EVERYTHING = Selection(refresh=True)
REPORTS = "commission_office,sales,running_commissions,tips_and_leads,live_activity"
RESTATED = "SELECT * EXCLUDE (load_id_before, load_id_after, _load_id) FROM marts.restatements ORDER BY ALL"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that has lived through three days and was published on each."""
    folder = tmp_path_factory.mktemp("remembering")
    world = lived(folder)
    for day in DAYS:
        world = world.on_another_day(day)
        assert world.sync(EVERYTHING).is_well
        assert world.publish().publication.published
    return folder


def lived(folder: Path) -> Rehearsal:
    return rehearsal(folder, start=Month(2026, 1), as_of=DAYS[-1], BROKERBI_REPORTS=REPORTS)


def lost(kept: Path, tmp_path: Path) -> Rehearsal:
    """The same data directory, of which only landing is left."""
    shutil.copytree(kept / "landing", tmp_path / "landing")
    return lived(tmp_path)


def restated(world: Rehearsal) -> list[tuple[Any, ...]]:
    world.publish()
    return world.rows(RESTATED)


def test_what_was_restated_is_known_again_from_landing_alone(kept: Path, tmp_path: Path) -> None:
    before = lived(kept).rows(RESTATED)
    world = lost(kept, tmp_path)
    assert replay(world.settings).notes == []
    assert before
    assert restated(world) == before
    assert not (tmp_path / "work" / "reliving").exists()


def test_it_is_known_also_when_a_night_passed_before_the_replay(kept: Path, tmp_path: Path) -> None:
    before = lived(kept).rows(RESTATED)
    world = lost(kept, tmp_path)
    assert world.sync().is_well
    world.publish()
    assert world.rows(RESTATED) == []
    replay(world.settings)
    assert restated(world) == before


def test_a_replay_of_a_file_that_forgot_nothing_leaves_its_memory_alone(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    world = lived(tmp_path)
    before = world.rows("SELECT * FROM meta.month_totals ORDER BY ALL")
    assert replay(world.settings).notes == []
    assert world.rows("SELECT * FROM meta.month_totals ORDER BY ALL") == before


def test_a_memory_older_than_landing_is_kept_and_it_is_said(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    world = lived(tmp_path)
    before = world.rows(RESTATED)
    first, *_ = sorted((tmp_path / "landing" / "sales").rglob("*.tar.zst"), key=lambda path: path.name)
    first.rename(first.with_suffix(".aside"))
    forget = "UPDATE meta.loads SET status = 'landed' WHERE report = 'tips_and_leads'"
    with Store(tmp_path).writing() as connection:
        connection.execute(forget)
    [note] = replay(world.settings).notes
    assert "behind it are no more in landing" in note
    assert restated(world) == before
