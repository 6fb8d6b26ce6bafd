"""How is a DuckDB file copied? As bytes, or row by row where its free space must not be copied too."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.opening import attach_new, quoted, remove, sync

CHUNK = 1 << 30

HEADER_BYTES = 3 * 4096
"""A DuckDB file begins with its headers; one of them changes with every checkpoint."""

_NOT_POSSIBLE = {errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK}


def _in_kernel(source: int, target: int, most: int) -> int:
    """Copy between two open files without reading them; on some file systems both then share the bytes."""
    copy = getattr(os, "copy_file_range", None)
    if copy is None:  # pragma: no cover  # only Linux has it
        raise OSError(errno.ENOSYS, "this system cannot")
    return int(copy(source, target, most))


def copy_file(source: Path, target: Path, by: Callable[[int, int, int], int] = _in_kernel) -> None:
    """Copy the bytes of a file, inside the kernel where that is possible."""
    try:
        with source.open("rb") as old, target.open("wb") as new:
            while by(old.fileno(), new.fileno(), CHUNK):
                pass
    except OSError as error:
        if error.errno not in _NOT_POSSIBLE:
            raise
        shutil.copyfile(source, target)


def rewrite_file(connection: DuckDBPyConnection, target: Path) -> None:
    """Write everything that stands in the open file into a new one, and nothing that was deleted."""
    remove(target)
    [(source,)] = connection.execute("SELECT current_database()").fetchall()
    attach_new(connection, target, "rewritten")
    connection.execute(f"COPY FROM DATABASE {quoted(source)} TO rewritten")
    connection.execute("CHECKPOINT rewritten")  # detaching does the same, but keeps quiet when it fails
    connection.execute("DETACH rewritten")


def give_name(source: Path, target: Path, link: Callable[[Path, Path], None] = os.link) -> None:
    """Let a file stand under a second name too, in one step, whatever stood there before."""
    unfinished = target.with_name(f".{target.name}.new")
    unfinished.unlink(missing_ok=True)
    try:
        link(source, unfinished)
    except OSError as error:
        if error.errno not in _NOT_POSSIBLE:
            raise
        copy_file(source, unfinished)
        shutil.copymode(source, unfinished)
        sync(unfinished)
    unfinished.replace(target)


def same_file(one: Path, other: Path) -> bool:
    """Whether two names stand for the same file, or for an untouched copy of it."""
    if not (one.exists() and other.exists()):
        return False
    return one.samefile(other) or header_sha256(one) == header_sha256(other)


def header_sha256(path: Path) -> str:
    """What tells whether a file was written to since."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(HEADER_BYTES)).hexdigest()
