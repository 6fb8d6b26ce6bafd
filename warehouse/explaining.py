"""What do an operating system's or DuckDB's words mean for an operator? Each mapped to one clear sentence."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from warehouse.errors import (
    Damaged,
    DiskFull,
    NotWritable,
    OpenedElsewhere,
    WarehouseError,
    WrongStorage,
)

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_RIGHT = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR}
_NO_ROOM_WORDS = ("No space left on device", "Disk quota exceeded", "File too large", "Out of space")
_NO_RIGHT_WORDS = ("Permission denied", "Read-only file system", "Operation not permitted")
_DAMAGED_WORDS = (
    "not a valid DuckDB database file",
    "Could not read enough bytes",
    "Corrupt database file",
    "Failed to replay WAL",
    "Failure while replaying WAL",
)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise what goes wrong with a file as an error of our family; leave every other error as it is."""
    try:
        yield
    except WarehouseError:
        raise
    except (OSError, duckdb.Error) as error:
        told = _told(error, path)
        if told is None:
            raise
        raise told from error


def _told(error: Exception, path: Path) -> WarehouseError | None:
    words = str(error)
    code = error.errno if isinstance(error, OSError) else None
    if code in _NO_ROOM or _has(words, _NO_ROOM_WORDS):
        return DiskFull(
            f"There is no room left on the disk of {path}; what was there before is unharmed. "
            "Free some space (landing_days, keep_published and compacting help) and run the same again."
        )
    if code in _NO_RIGHT or _has(words, _NO_RIGHT_WORDS):
        place = getattr(error, "filename", None) or path
        return NotWritable(
            f"{place} cannot be written by this user; give the pipeline's user write access to the data "
            "directory, or point BROKERBI_DATA_DIR somewhere else."
        )
    if isinstance(error, duckdb.Error):
        return _told_of_file(words, path)
    return None


def _told_of_file(words: str, path: Path) -> WarehouseError | None:
    if "Could not set lock on file" in words:
        found = re.search(r"PID (\d+)", words)
        holder = f"process {found[1]}" if found else "another program"
        return OpenedElsewhere(
            f"{path} is open in {holder}, which is no part of the pipeline; close it there and run the same "
            "again. Analysts read the published warehouse.duckdb, never the working file."
        )
    if "Trying to read a database file with version number" in words:
        return WrongStorage(
            f"{path} was written by a newer DuckDB than {duckdb.__version__}; install that version or newer, "
            "or put the file aside and run `brokerbi replay` to rebuild it from landing."
        )
    if _has(words, _DAMAGED_WORDS):
        return Damaged(
            f"{path} is damaged ({words.splitlines()[0]}); put it aside together with its .wal and run "
            "`brokerbi replay` to rebuild every table from landing."
        )
    return None


def _has(words: str, any_of: tuple[str, ...]) -> bool:
    return any(one in words for one in any_of)
