"""Are files copied whole on every file system, also where the quick ways are missing?"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from warehouse.files import copy_file, give_name, same_file

CONTENT = os.urandom(1 << 16)


def refusing(code: int) -> OSError:
    return OSError(code, "not on this file system")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(CONTENT)
    path.chmod(0o640)
    return path


def test_a_copy_is_the_same_byte_by_byte(source: Path) -> None:
    copy_file(source, source.with_name("copy"))
    assert source.with_name("copy").read_bytes() == CONTENT


def test_a_file_is_copied_in_the_plain_way_where_the_kernel_cannot(source: Path) -> None:
    def cannot(*_: int) -> int:
        raise refusing(errno.EXDEV)

    copy_file(source, source.with_name("copy"), cannot)
    assert source.with_name("copy").read_bytes() == CONTENT


def test_a_full_disk_is_no_reason_to_try_another_way(source: Path) -> None:
    def full(*_: int) -> int:
        raise refusing(errno.ENOSPC)

    with pytest.raises(OSError, match="not on this"):
        copy_file(source, source.with_name("copy"), full)


def test_a_second_name_is_the_same_file(source: Path) -> None:
    target = source.with_name("target")
    target.write_text("what stood there before")
    give_name(source, target)
    assert target.samefile(source)


def test_a_second_name_is_a_copy_where_files_have_only_one(source: Path) -> None:
    def cannot(*_: Path) -> None:
        raise refusing(errno.EPERM)

    target = source.with_name("target")
    give_name(source, target, cannot)
    assert (target.read_bytes(), target.stat().st_mode & 0o777, target.samefile(source)) == (
        CONTENT,
        0o640,
        False,
    )
    assert same_file(source, target)


def test_a_link_that_fails_for_another_reason_is_told(source: Path) -> None:
    def full(*_: Path) -> None:
        raise refusing(errno.ENOSPC)

    with pytest.raises(OSError, match="not on this"):
        give_name(source, source.with_name("target"), full)


def test_a_file_that_is_not_there_is_no_copy(source: Path) -> None:
    assert not same_file(source, source.with_name("nowhere"))
