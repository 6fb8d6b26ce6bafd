"""Do writers and readers of several processes stay out of each other's way?"""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.faults.crowd import WRITERS, crowd


def test_nobody_meets_a_lock_and_no_older_fetch_stands_over_a_newer_one(tmp_path: Path) -> None:
    found = crowd(tmp_path / "data", seconds=4, readers=3)
    assert found.wrong == []
    assert set(found.done) == {*WRITERS, "read"}
