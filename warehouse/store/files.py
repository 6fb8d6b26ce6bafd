"""Files on disk: private, synced, copied, and replaced atomically."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
SHARED_FILE = 0o640
"""Readable by the group of the pipeline's user, to which analysts should belong."""
SHARED_FOLDER = 0o750

HEADER_BYTES = 3 * 4096
"""A DuckDB file begins with its headers; one of them changes with every checkpoint."""


@contextmanager
def replacement(path: Path, *, mode: int = PRIVATE_FILE, unfinished: Path | None = None) -> Iterator[Path]:
    """A temporary path for the `with` block to write to; it is renamed to `path` at the end.

    If the block raises or the process is killed, the old file stays. The next call removes the temporary
    file that a killed process left.
    """
    unfinished = unfinished or path.with_name(f".{path.name}.new")
    remove(unfinished)
    try:
        yield unfinished
        unfinished.chmod(mode)
        sync(unfinished)
        unfinished.replace(path)
        sync(path.parent)
    finally:
        remove(unfinished)


def write_file(path: Path, content: bytes, *, mode: int = PRIVATE_FILE) -> None:
    """Replace a file with this content, atomically."""
    with replacement(path, mode=mode) as unfinished:
        unfinished.touch(mode=PRIVATE_FILE)
        unfinished.write_bytes(content)


def copy_file(source: Path, target: Path) -> None:
    """Copy the bytes of a file."""
    shutil.copyfile(source, target)
    sys.audit("brokerbi.file_copied")


def give_name(source: Path, target: Path, link: Callable[[Path, Path], None] = os.link) -> None:
    """Give a file a second name, atomically replacing any file of that name."""
    sys.audit("brokerbi.before_naming")
    with replacement(target, mode=source.stat().st_mode & 0o777) as unfinished:
        try:
            link(source, unfinished)
        except OSError:  # not every file system supports hard links
            copy_file(source, unfinished)
    sys.audit("brokerbi.file_named")


def same_file(path: Path, other: Path) -> bool:
    """Whether two paths are the same DuckDB file or unchanged copies of one; False if a path is missing."""
    if not (path.exists() and other.exists()):
        return False
    return path.samefile(other) or header_sha256(path) == header_sha256(other)


def header_sha256(path: Path) -> str:
    """The checksum of a DuckDB file's headers, which changes with every checkpoint."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(HEADER_BYTES)).hexdigest()


def file_sha256(path: Path) -> str:
    """The checksum of a whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(path: Path, mode: int = PRIVATE_FOLDER) -> None:
    """Make a directory, by default a private one.

    Missing parents are made too, and the group can enter them. Existing directories stay as they are.
    """
    if path.is_dir():
        return
    if not path.parent.is_dir():
        make_folder(path.parent, SHARED_FOLDER)
    path.mkdir(mode=mode, exist_ok=True)
    path.chmod(mode)


def remove(path: Path) -> None:
    """Remove a file together with the write-ahead logs that DuckDB may keep next to it."""
    path.unlink(missing_ok=True)
    remove_logs(path)


def remove_logs(path: Path) -> None:
    """Remove the write-ahead log next to a file, and the files that a checkpoint or recovery made from it."""
    for ending in ("", ".checkpoint", ".recovery"):
        path.with_name(wal(path).name + ending).unlink(missing_ok=True)


def wal(path: Path) -> Path:
    """The write-ahead log: commits that are not yet in the file itself."""
    return path.with_name(f"{path.name}.wal")


def sync(path: Path) -> None:
    """Wait until a file or directory is on the disk."""
    sys.audit("brokerbi.disk_sync")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
