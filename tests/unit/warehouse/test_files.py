"""Files: copies, second names and replacements, on every file system, complete or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from warehouse.store.files import SHARED_FOLDER, give_name, make_folder, replacement, same_file, write_file

CONTENT = os.urandom(1 << 16)


def fails(*_: object) -> None:
    """A hard link on a file system without hard links."""
    raise OSError(errno.EPERM, "not on this file system")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(CONTENT)
    path.chmod(0o640)
    return path


def test_a_second_name_is_the_same_file(source: Path) -> None:
    target = source.with_name("target")
    target.write_text("what was there before")
    give_name(source, target)
    assert target.samefile(source)


def test_a_second_name_is_a_copy_on_file_systems_without_hard_links(source: Path) -> None:
    target = source.with_name("target")
    give_name(source, target, fails)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (CONTENT, 0o640)
    assert (target.samefile(source), same_file(source, target)) == (False, True)


def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(source: Path) -> None:
    with suppress(KeyError), replacement(source) as unfinished:
        unfinished.write_bytes(b"half")
        raise KeyError
    assert [(path.name, path.read_bytes()) for path in source.parent.iterdir()] == [("source", CONTENT)]


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_folders_have_their_permissions_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_folder(tmp_path / "data" / "offices", SHARED_FOLDER)
        make_folder(tmp_path / "data" / "work")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"data": 0o750, "offices": 0o750, "work": 0o700}


def test_a_file_is_written_atomically_with_its_permissions(source: Path) -> None:
    write_file(source, b"new")
    assert (source.read_bytes(), source.stat().st_mode & 0o777) == (b"new", 0o600)
    assert list(source.parent.iterdir()) == [source]
