"""Kills at the worst moments, half-written blocks, a full disk, and many processes at once.

One directory is killed at one step after the other, so that every kill meets what the last one left.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import httpx
import pytest

from pipelines.upkeep.replay import replay
from tests.scenarios.processes import NO_ROOM, Job, Step, is_killed, run
from tests.scenarios.scenario import Cell, Rows, Scenario, contents, scenario, synced, wrong_cells
from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import ledger_of
from warehouse.publishing.publish import publish
from warehouse.store.checkpoint_journal import journal_path
from warehouse.store.database import Store
from warehouse.store.files import HEADER_BYTES, wal
from warehouse.store.lock import is_locked

BOTH_FILES = ("working file", "published file")
BLOCK, PAGE = 256 * 1024, 4096
JOURNAL_WRITTEN = Step("journal_written")
SYNC = (
    Step("disk_sync"),
    Step("file_made"),
    Step("tables_declared"),
    Step("before_landing_closed"),
    Step("landing_closed"),
    Step("before_load"),
    Step("rows_written"),
    Step("ledger_written"),
    JOURNAL_WRITTEN,
    Step("checkpointed"),
    Step("load_committed"),
)
FIRST_SYNC = SYNC[:5]
STEPS = {
    "sync": SYNC[5:],
    "publish": (Step("marts_built"),),
    "copy": (
        Step("file_copied"),
        Step("before_version_shown"),
        Step("version_shown"),
        Step("before_publication_noted", 2),
    ),
    "replay": (Step("rows_written"), Step("load_committed", 2)),
    "rollback": (Step("before_naming"), Step("file_named")),
    "compact": (Step("before_rewriting"), Step("file_rewritten"), Step("compacted")),
}


@cache
def undisturbed() -> tuple[Scenario, Mapping[Cell, Rows]]:
    here = synced(Path(mkdtemp()) / "data", ("users", "sales"), whole=True)
    for _ in range(2):
        publish(here.data_dir, keep=2, now=here.clock.utc_now())
    return here, here.cells()


def test_a_first_sync_killed_at_its_steps_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    here, truth = undisturbed()
    job = Job.of("sync", here.with_settings(data_dir=tmp_path / "data"))
    for step in FIRST_SYNC:
        assert is_killed(job, step), step
        assert wrong_cells(job.data_dir, truth, may_lack=BOTH_FILES) == [], step
    assert run(job) == 0
    assert contents(job.data_dir) == {"working file": truth}
    assert replay(job.settings).failures == []


@pytest.mark.parametrize("what", STEPS)
def test_killed_at_any_step_both_files_are_true_and_the_next_run_completes(tmp_path: Path, what: str) -> None:
    here, truth = undisturbed()
    job = Job.of(what, here.copied_to(tmp_path / "data"))
    for step in STEPS[what]:
        assert is_killed(job, step), step
        assert wrong_cells(job.data_dir, truth, may_lack=BOTH_FILES) == [], step
    assert run(job if what != "rollback" else replace(job, what="copy")) == 0
    assert contents(job.data_dir) == dict.fromkeys(BOTH_FILES, truth)


@cache
def torn_directory() -> tuple[Path, Path]:
    """A directory after a kill during a checkpoint, one page of each block written; and recovered.

    DuckDB overwrites metadata in place, so half of such a write leaves a block whose checksum is wrong.
    """
    torn, mended = Path(mkdtemp()) / "data", Path(mkdtemp()) / "data"
    assert is_killed(Job.of("sync", undisturbed()[0].copied_to(torn)), JOURNAL_WRITTEN)
    shutil.copytree(torn, mended)
    with Store(mended).writing():
        pass  # it is checkpointed as it would have been
    old, new = Store(torn).path.read_bytes(), Store(mended).path.read_bytes()
    written = bytearray(old)
    for place in range(HEADER_BYTES, len(old), BLOCK):
        written[place : place + PAGE] = new[place : place + PAGE]
    Store(torn).path.write_bytes(written)
    return torn, mended


@pytest.fixture
def torn(tmp_path: Path) -> Store:
    return Store(shutil.copytree(torn_directory()[0], tmp_path / "torn"))


def test_half_written_blocks_are_put_back_and_what_was_committed_is_replayed(torn: Store) -> None:
    assert wrong_cells(torn.data_dir, undisturbed()[1]) == []
    assert not journal_path(torn.path).exists()


def test_half_written_blocks_without_their_journal_are_damage(torn: Store) -> None:
    journal_path(torn.path).unlink()
    with pytest.raises(WarehouseError, match="replay"):
        contents(torn.data_dir)


def test_a_journal_of_a_checkpoint_that_was_finished_is_thrown_away(torn: Store, tmp_path: Path) -> None:
    mended = Store(shutil.copytree(torn_directory()[1], tmp_path / "mended"))
    shutil.copy(journal_path(torn.path), journal_path(mended.path))
    assert wrong_cells(mended.data_dir, undisturbed()[1]) == []
    assert not journal_path(mended.path).exists()


def test_a_journal_and_a_log_without_their_file_are_thrown_away(torn: Store) -> None:
    torn.path.unlink()
    assert ledger_of(torn).stored == {}
    with Store(torn.data_dir, rebuilds=True).locked():  # which makes it anew
        pass
    assert [path for path in (journal_path(torn.path), wal(torn.path)) if path.exists()] == []


@pytest.mark.parametrize(("largest_file", "is_empty"), [(500, False), (100_000, True)])
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, largest_file: int, is_empty: bool) -> None:
    here = synced(tmp_path / "data", ("users", "sales"), whole=True)
    before = here.cells()
    there = here.with_settings(data_dir=tmp_path / "empty") if is_empty else here
    job = Job.of("sync", there, largest_file=largest_file)
    assert run(job) == NO_ROOM
    assert here.cells() == before
    assert run(replace(job, largest_file=None)) == 0
    assert there.cells() == before


@dataclass
class Interrupted(httpx.AsyncBaseTransport):
    """A sandbox during whose last answers Ctrl-C is pressed, while rows are being loaded."""

    sandbox: httpx.AsyncBaseTransport
    data_dir: Path
    left: int

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.left -= 1
        if self.left < 0:
            for _ in range(100_000):
                if is_locked(Store(self.data_dir).lock_path):
                    raise KeyboardInterrupt
                await asyncio.sleep(0)
        return await self.sandbox.handle_async_request(request)


def test_a_sync_that_is_interrupted_while_it_loads_ends_and_counts_what_it_asked(tmp_path: Path) -> None:
    here = scenario(tmp_path, offices=2)
    with pytest.raises(KeyboardInterrupt):
        replace(here, transport=Interrupted(here.sandbox, tmp_path, left=6)).sync()
    assert here.value("SELECT sum(requests) FROM meta.requests_by_day") >= 6
