"""What happens when the disk fails? One clear sentence, nothing half-written, and a way on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from pipelines.operations.replay import replay
from tests.scenarios.faults.ground import FEW, Ground, content, ground
from tests.scenarios.faults.victim import NO_ROOM, Job, run
from warehouse.errors import Damaged, LandingDamaged, LandingMissing, NotWritable
from warehouse.landing import Landing


def filled(directory: Path) -> Ground:
    here = ground(directory, reports=("sales",), offices=1)
    here.sync()
    return here


def landing_files(here: Ground) -> list[Path]:
    return sorted((here.settings.data_dir / "landing").rglob("*.tar.zst"))


@pytest.mark.parametrize(("largest_file", "empty"), [(500, False), (100_000, True)])
def test_a_full_disk_is_one_sentence_and_what_was_there_stays(
    tmp_path: Path, largest_file: int, empty: bool
) -> None:
    here = ground(tmp_path / "data", offices=1)
    here.sync()
    before = here.cells()
    directory = tmp_path / "empty" if empty else tmp_path / "data"
    customers = tuple(customer.id for customer in here.settings.customers)
    job = Job("sync", str(directory), customers, "2026-10", FEW, largest_file=largest_file)
    assert run(job) == NO_ROOM
    assert here.cells() == before
    assert run(replace(job, largest_file=None)) == 0
    with duckdb.connect(str(directory / "work" / "warehouse.duckdb"), read_only=True) as file:
        assert content(file) == before


def test_a_directory_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    here = ground(tmp_path / "file" / "data", reports=("sales",), offices=1)
    with pytest.raises((NotWritable, OSError)) as caught:
        here.sync()
    assert str(tmp_path) in str(caught.value)


def test_a_landing_file_that_is_gone_is_named_and_the_rest_is_rebuilt(tmp_path: Path) -> None:
    here = filled(tmp_path)
    before = here.cells()
    landing_files(here)[0].unlink()
    failures = replay(here.settings).failures
    assert len(failures) == 1
    assert "brokerbi sync --refresh" in failures[0]
    assert here.cells() == before
    assert here.sync(refresh=True).complaints() == []
    assert replay(here.settings).failures == []


def test_a_landing_file_with_a_wrong_byte_is_named_and_its_rows_stay(tmp_path: Path) -> None:
    here = filled(tmp_path)
    before = here.cells()
    path = landing_files(here)[0]
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(bytes(body))
    [failure] = replay(here.settings).failures
    assert "damaged" in failure
    assert here.cells() == before


def test_reading_what_is_gone_or_damaged_says_which_file(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    (tmp_path / "half.tar.zst").write_bytes(b"half")
    with pytest.raises(LandingDamaged, match=r"half\.tar\.zst"):
        list(landing.read("half.tar.zst"))
    with pytest.raises(LandingMissing, match=r"none\.tar\.zst"):
        list(landing.read("none.tar.zst"))


def test_a_damaged_working_file_is_named_and_rebuilt_from_landing_alone(tmp_path: Path) -> None:
    here = filled(tmp_path)
    before = here.cells()
    here.working.write_bytes(b"not a database" * 1000)
    with pytest.raises(Damaged, match="brokerbi replay"):
        replay(here.settings)
    here.working.unlink()
    assert replay(here.settings).failures == []
    assert here.cells() == before
