"""Is the working file whole when a process dies in the middle of writing a block?

DuckDB overwrites metadata in place, so half of such a write leaves a block whose checksum is wrong.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.scenarios.faults.test_crashes import begun, cells_of, undisturbed
from tests.scenarios.faults.victim import KILLED, Step, killed_at, run
from warehouse.checkpoint_journal import HEADERS, journal_path
from warehouse.database import Store
from warehouse.errors import Damaged
from warehouse.files import wal
from warehouse.ledger import ledger_of

BLOCK = 256 * 1024
PAGE = 4096
JOURNAL_STANDS = Step("warehouse/checkpoint_journal.py", "_write_journal", "return")


def killed_with_a_journal(data: Path) -> None:
    """Sync into this directory, and die when the journal is written and the checkpoint has not begun."""
    assert run(killed_at(begun(data, "sync"), JOURNAL_STANDS)) == KILLED


@cache
def left_torn() -> tuple[Path, Path]:
    """A directory as a death within the writes of a checkpoint leaves it, of each block one page."""
    folder = Path(mkdtemp())
    data, further = folder / "data", folder / "further"
    killed_with_a_journal(data)
    shutil.copytree(data, further)
    with Store(further).writing():
        pass  # it is checkpointed as it would have been
    path = Store(data).path
    old, new = path.read_bytes(), Store(further).path.read_bytes()
    content = bytearray(old)
    for place in range(HEADERS, len(old), BLOCK):
        content[place : place + PAGE] = new[place : place + PAGE]
    path.write_bytes(content)
    return data, further


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    for one in left_torn():
        shutil.copytree(one, tmp_path / one.name)
    return tmp_path / "data"


def test_half_written_blocks_are_put_back_and_what_was_committed_is_replayed(torn: Path) -> None:
    assert cells_of(torn, "work/warehouse.duckdb") == undisturbed()[1]
    assert not journal_path(Store(torn).path).exists()


def test_without_the_journal_such_a_file_is_lost(torn: Path) -> None:
    journal_path(Store(torn).path).unlink()
    with pytest.raises(Damaged, match="replay"):
        cells_of(torn, "work/warehouse.duckdb")


def test_a_journal_of_a_checkpoint_that_was_finished_is_thrown_away(torn: Path, tmp_path: Path) -> None:
    further = tmp_path / "further"
    shutil.copy(journal_path(Store(torn).path), journal_path(Store(further).path))
    assert cells_of(further, "work/warehouse.duckdb") == undisturbed()[1]
    assert not journal_path(Store(further).path).exists()


def test_a_journal_and_a_log_without_their_file_are_thrown_away(torn: Path) -> None:
    path = Store(torn).path
    path.unlink()
    assert ledger_of(Store(torn)).months == {}
    assert not journal_path(path).exists()
    assert not wal(path).exists()
