"""Is the working file whole when a process dies in the middle of writing a block?

DuckDB overwrites metadata in place, so half of such a write leaves a block whose checksum is wrong.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.scenarios.faults.test_crashes import begun, cells_of, undisturbed
from tests.scenarios.faults.victim import KILLED, Step, killed_at, run
from warehouse.errors import Damaged
from warehouse.guarding import HEADERS, journal
from warehouse.opening import wal
from warehouse.store import Store
from warehouse.working import WorkingFile

BLOCK = 256 * 1024
PAGE = 4096
JOURNAL_STANDS = Step("warehouse/guarding.py", "_keep", "return")
JOBS = {"sync": JOURNAL_STANDS, "replay": replace(JOURNAL_STANDS, turn=3)}
"""One group of loads in the log; or many, of a replay into a new file that knows of them already."""


def killed_with_a_journal(data: Path, what: str) -> None:
    """Do a job on this directory, and die when its journal stands and its checkpoint has not begun."""
    job = begun(data, what)
    if what == "replay":
        shutil.rmtree(data / "work")
    assert run(killed_at(job, JOBS[what])) == KILLED


@cache
def left_torn(what: str) -> tuple[Path, Path]:
    """A directory as a death within the writes of a checkpoint leaves it, of each block one page."""
    folder = Path(mkdtemp())
    data, further = folder / "data", folder / "further"
    killed_with_a_journal(data, what)
    shutil.copytree(data, further)
    with Store(further).writing():
        pass  # it is checkpointed as it would have been
    path = WorkingFile(data).path
    old, new = path.read_bytes(), WorkingFile(further).path.read_bytes()
    content = bytearray(old)
    for place in range(HEADERS, len(old), BLOCK):
        content[place : place + PAGE] = new[place : place + PAGE]
    path.write_bytes(content)
    return data, further


@pytest.fixture(params=sorted(JOBS))
def torn(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    for one in left_torn(request.param):
        shutil.copytree(one, tmp_path / one.name)
    return tmp_path / "data"


def test_groups_of_one_sitting_stand_in_the_log_together_until_their_checkpoint(tmp_path: Path) -> None:
    killed_with_a_journal(tmp_path / "data", "replay")
    wal(WorkingFile(tmp_path / "data").path).rename(tmp_path / "log")
    assert Store(tmp_path / "data").ledger().months == {}
    truth = undisturbed()[1]
    assert len({cell[0] for cell in truth}) > 1


def test_half_written_blocks_are_put_back_and_what_was_committed_is_replayed(torn: Path) -> None:
    assert cells_of(torn, "work/warehouse.duckdb") == undisturbed()[1]
    assert not journal(WorkingFile(torn).path).exists()


def test_without_the_journal_such_a_file_is_lost(torn: Path) -> None:
    journal(WorkingFile(torn).path).unlink()
    with pytest.raises(Damaged, match="replay"):
        cells_of(torn, "work/warehouse.duckdb")


def test_a_journal_of_a_checkpoint_that_was_finished_is_thrown_away(torn: Path, tmp_path: Path) -> None:
    further = tmp_path / "further"
    shutil.copy(journal(WorkingFile(torn).path), journal(WorkingFile(further).path))
    assert cells_of(further, "work/warehouse.duckdb") == undisturbed()[1]
    assert not journal(WorkingFile(further).path).exists()


def test_a_journal_and_a_log_without_their_file_are_thrown_away(torn: Path) -> None:
    path = WorkingFile(torn).path
    path.unlink()
    assert Store(torn).ledger().months == {}
    assert not journal(path).exists()
    assert not wal(path).exists()
