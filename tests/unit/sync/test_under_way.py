"""What is known of a sync that has not ended: it is under way, was killed, or gave up with an error."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.diagnosis.health import of_directory
from pipelines.sync.under_way import noted, sync_notes
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Kind

FIVE, SIX = (datetime(2026, 6, 1, hour, tzinfo=UTC) for hour in (5, 6))
KILLED = f"""
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from pipelines.sync.under_way import noted
with noted(Path(sys.argv[1]), datetime(2026, 6, 1, 5, tzinfo=UTC), str):
    os.kill(os.getpid(), {int(signal.SIGKILL)})
"""


def left(data_dir: Path) -> list[str]:
    return [one.error for one in of_directory(data_dir, SIX) if one.kind == Kind.SYNC_LEFT]


def test_a_sync_that_is_under_way_is_no_trouble_and_none_is_left_when_it_has_ended(tmp_path: Path) -> None:
    with noted(tmp_path, FIVE, str):
        assert [(one.begun_utc, one.was_left) for one in sync_notes(tmp_path)] == [(FIVE, False)]
        assert left(tmp_path) == []
    assert sync_notes(tmp_path) == []


def test_a_sync_that_was_killed_is_trouble_until_another_has_ended(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert left(tmp_path) == ["The sync begun 2026-06-01 05:00 UTC was stopped before it ended."]
    with noted(tmp_path, SIX, str):
        assert len(left(tmp_path)) == 1
    assert left(tmp_path) == []


def test_a_sync_that_gave_up_says_why_and_the_latest_speaks(tmp_path: Path) -> None:
    for moment, why in ((FIVE, "the disk is full"), (SIX, "the clock is wrong")):
        with pytest.raises(WarehouseError), noted(tmp_path, moment, str):
            raise WarehouseError(why)
    assert left(tmp_path) == ["The sync begun 2026-06-01 06:00 UTC gave up: the clock is wrong"]


def test_where_no_note_can_be_written_the_sync_goes_on(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("in the way")
    with noted(tmp_path, FIVE, str):
        pass
    assert sync_notes(tmp_path) == []
