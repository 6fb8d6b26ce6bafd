"""Does the night read older months that were changed, in the same run, and show them in the matrix?"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from assets.fetching import HELD, NIGHT_OF, SKIP
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from tests.unit.assets.stage import Stage, stage

FIRST, LATER = date(2026, 11, 5), date(2026, 11, 14)
FIRST_SQUARE, LAST_SQUARE = "G1|2026-09", "M30017|2026-11"
NIGHT = {NIGHT_OF: "2026-11-14", HELD: SKIP}


def moved_on(directory: Path) -> Stage:
    """Everything was read, and then a week and a half went by."""
    play = stage(directory, reports="sales", today=FIRST.isoformat(), start="2026-04")
    play.service = Service(World.build(seed=1, offices=7, as_of=FIRST))
    assert play.run("sales", first="G1|2026-04", last="M30017|2026-11").success
    play.service.set_as_of(LATER)
    play.set(today=LATER.isoformat())
    return play


def older(play: Stage) -> list[str]:
    return [window for window in play.asked() if window.split()[1] < "2026-09"]


def test_the_night_reads_older_months_that_were_changed_and_logs_their_squares(tmp_path: Path) -> None:
    play = moved_on(tmp_path)
    result = play.run("sales", first=FIRST_SQUARE, last=LAST_SQUARE, tags=NIGHT)
    assert result.success
    beyond = [key for key in play.events(result, "sales") if key[-7:] < "2026-09"]
    assert sorted(beyond) == ["G1|2026-07", "G1|2026-08", "M30016|2026-07", "M30016|2026-08"]
    assert older(play) == ["G1 2026-07-01..2026-11-14", "M30016 2026-07-01..2026-11-14"]
    assert play.squares("sales") == {"G1 green": 8, "M30016 green": 8, "M30017 green": 8}


def test_a_backfill_reads_what_was_selected_and_asks_for_no_changes(tmp_path: Path) -> None:
    play = moved_on(tmp_path)
    assert play.run("sales", first=FIRST_SQUARE, last=LAST_SQUARE).success
    assert older(play) == []
