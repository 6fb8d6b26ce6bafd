"""How is a DuckDB file copied? As bytes, or row by row where its free space must not be copied too."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.opening import attach_new, remove

HEADER_BYTES = 3 * 4096
"""A DuckDB file begins with its headers; one of them changes with every checkpoint."""

_NOT_POSSIBLE = {errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


def copy_file(source: Path, target: Path) -> None:
    """Copy bytes inside the kernel; on file systems that can, both files then share them."""
    with source.open("rb") as old, target.open("wb") as new:
        left = os.fstat(old.fileno()).st_size
        try:
            while left:
                copied = os.copy_file_range(old.fileno(), new.fileno(), left)
                if not copied:
                    break
                left -= copied
        except OSError as error:
            if error.errno not in _NOT_POSSIBLE:
                raise
    if left:
        shutil.copyfile(source, target)


def rewrite_file(connection: DuckDBPyConnection, target: Path) -> None:
    """Write everything that stands in the open file into a new one, and nothing that was deleted."""
    remove(target)
    [(source,)] = connection.execute("SELECT current_database()").fetchall()
    attach_new(connection, target, "rewritten")
    try:
        connection.execute(f'COPY FROM DATABASE "{source}" TO rewritten')
    finally:
        connection.execute("DETACH rewritten")


def give_name(source: Path, target: Path) -> None:
    """Let a file stand under a second name too, in one step, whatever stood there before."""
    unfinished = target.with_name(f".{target.name}.new")
    unfinished.unlink(missing_ok=True)
    try:
        unfinished.hardlink_to(source)
    except OSError as error:
        if error.errno not in _NOT_POSSIBLE and error.errno != errno.EMLINK:
            raise
        copy_file(source, unfinished)
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
