"""Landing files: answers byte by byte, private to their owner, and damage is noticed."""

from __future__ import annotations

import stat
import subprocess
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
import zstandard
from hypothesis import given as given_any
from hypothesis import strategies as st

from warehouse.errors import LandingDamaged
from warehouse.load.landing import Landing, LandingFile, safe_name

JANUARY = (date(2024, 1, 1), date(2024, 1, 31))
BODIES = (b'{"a": 1}', b"\xff\x00 not JSON at all", b"")


def landed(root: Path, load_id: str = "load", customer: str = "M1") -> tuple[Landing, LandingFile]:
    landing = Landing(root / "landing")
    writer = landing.open("sales", customer, *JANUARY, load_id, {"run_id": "run", "months": ["2024-01-01"]})
    for number, body in enumerate(BODIES):
        writer.add({"path": f"/Sales/{number}", "status": 200}, body)
    return landing, writer.close({"used": [2, 0], "fetched_at_utc": "2024-04-01T12:00:00+00:00"})


def test_answers_are_read_in_the_order_received_or_in_the_order_used(tmp_path: Path) -> None:
    landing, file = landed(tmp_path)
    found = [(meta["path"], body) for meta, body in landing.read(file.path, file.sha256)]
    assert found == [(f"/Sales/{number}", body) for number, body in enumerate(BODIES)]
    assert [body for _, body in landing.read_used(file.path)] == [BODIES[2], BODIES[0]]


def test_the_path_has_report_customer_window_and_load(tmp_path: Path) -> None:
    landing, file = landed(tmp_path)
    assert file.path == "sales/M1/2024-01-01_2024-01-31/load.tar.zst"
    assert landing.open("users", "M1", None, None, "l").close().path == "users/M1/now/l.tar.zst"


def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    landing, _ = landed(tmp_path)
    modes = {stat.filemode(path.stat().st_mode) for path in (landing.root, *landing.root.rglob("*"))}
    assert modes == {"drwx------", "-rw-------"}


def test_no_file_has_its_name_before_it_is_complete(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    writer = landing.open("sales", "M1", *JANUARY, "load")
    writer.add({}, b"half")
    assert (landing.paths(), len(list(tmp_path.rglob("*.part")))) == ([], 1)
    writer.discard()
    assert list(tmp_path.rglob("*.part")) == []


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    (tmp_path / "killed.tar.zst.part").write_bytes(b"half")
    assert [Landing(tmp_path).clear_unfinished() for _ in range(2)] == [1, 0]


@given_any(names=st.sets(st.text(), min_size=2, max_size=6))
def test_the_path_of_any_customer_is_unique_and_inside_the_folder(names: set[str]) -> None:
    paths = {safe_name(name) for name in names}
    assert len(paths) == len(names)
    assert all(path and path not in {".", ".."} and "/" not in path and len(path) < 200 for path in paths)


def test_a_changed_byte_is_noticed_and_never_changes_a_body(tmp_path: Path) -> None:
    landing, file = landed(tmp_path)
    path = landing.root / file.path
    whole, before = path.read_bytes(), list(landing.read(file.path))
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(LandingDamaged, match="damaged"):
            list(landing.read(file.path, file.sha256))
        with suppress(LandingDamaged):
            assert list(landing.read(file.path)) == before


def test_a_file_that_is_gone_or_ends_early_is_noticed_without_the_ledger_too(tmp_path: Path) -> None:
    landing, file = landed(tmp_path)
    path = landing.root / file.path
    path.write_bytes(path.read_bytes()[: file.bytes // 2])
    with pytest.raises(LandingDamaged, match="restore it from a backup"):
        list(landing.read(file.path))
    path.unlink()
    with pytest.raises(LandingDamaged, match="is gone"):
        list(landing.read(file.path))


def test_walking_yields_every_load_with_all_that_a_ledger_needs(tmp_path: Path) -> None:
    landing, first = landed(tmp_path, "a")
    landed(tmp_path, "b", "M2")
    (landing.root / first.path).write_bytes(b"?")
    damaged, found = landing.walk(["sales"])
    assert isinstance(damaged, LandingDamaged)
    assert isinstance(found, LandingFile)
    about = [found.header[name] for name in ("load_id", "customer", "window_start")]
    assert about == ["b", "M2", "2024-01-01"]


def test_a_landing_file_opens_with_everyday_tools(tmp_path: Path) -> None:
    landing, file = landed(tmp_path)
    unpack = f"zstd -dc '{landing.root / file.path}' | tar -xO 0000.body"
    if subprocess.run(["which", "zstd"], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no zstd")
    assert subprocess.run(unpack, shell=True, capture_output=True, check=True).stdout == BODIES[0]


def test_a_file_without_its_end_is_noticed(tmp_path: Path) -> None:
    landing, file = landed(tmp_path)
    path = landing.root / file.path
    content = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()
    path.write_bytes(zstandard.compress(content[: content.index(b"end.json")] + bytes(1024)))
    for read in (landing.describe, lambda path: list(landing.read(path))):
        with pytest.raises(LandingDamaged, match="its end is missing"):
            read(file.path)


def test_a_landing_file_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    writer = landing.open("sales", "M1", *JANUARY, "load")
    for path in tmp_path.rglob("*.part"):
        path.unlink()
    with pytest.raises(FileNotFoundError):
        writer.close()
    writer.discard()
    assert landing.paths() == []
