"""Errors of the warehouse, and the translation of the operating system's and DuckDB's errors into them.

Callers tell only OlderFormat and LandingDamaged apart; each message names the next step.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb


class WarehouseError(Exception):
    """The warehouse cannot do what was requested; nothing is left half-done."""


class OlderFormat(WarehouseError):
    """An earlier version wrote the working file; a replay rebuilds it."""


class LandingDamaged(WarehouseError):
    """A landing file is missing, or its bytes are not those that were written."""


def reason_of(error: Exception) -> str:
    """The message of a WarehouseError, else the type and text of the error, on one line."""
    reason = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
    return " ".join(reason.split())


@dataclass(frozen=True)
class Remedy:
    """The remedies for a DuckDB file that is damaged, and for one that is open elsewhere."""

    damaged: str
    open_elsewhere: str


WORKING_FILE_REMEDY = Remedy(
    "put it aside together with its .wal and run `brokerbi replay` to rebuild every table from landing",
    "Analysts read the published warehouse.duckdb, never the working file.",
)
PUBLISHED_FILE_REMEDY = Remedy(
    "run `brokerbi publish`, which makes it again from the working file",
    "Analysts should open it read-only, which locks no other process out.",
)
SPACE_ADVICE = (
    "the oldest files in published/ may be deleted by hand, then BROKERBI_LANDING_DAYS "
    "and a smaller BROKERBI_KEEP_PUBLISHED help"
)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ACCESS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR}
_NO_ROOM_WORDS = re.compile("No space left on device|Disk quota exceeded|File too large|Out of space")
_NO_ACCESS_WORDS = re.compile("Permission denied|Read-only file system|Operation not permitted")
_UNFINISHED = re.compile(r"\.(unfinished|.+\.new$|.+\.part$|rewritten\.duckdb$)")
"""Names of our own files before they are complete and renamed."""
_DAMAGED_WORDS = re.compile(
    "not a valid DuckDB database file|Could not read enough bytes|Corrupt database file|"
    "Failed to replay WAL|Failure while replaying WAL"
)


@contextmanager
def translate_errors(path: Path, remedy: Remedy = WORKING_FILE_REMEDY) -> Iterator[None]:
    """Turn the errors of a file into a WarehouseError with a remedy; pass on any other error."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        translated = _translated(error, path, remedy)
        if translated is None:
            raise
        raise translated from error


def _translated(error: OSError | duckdb.Error, path: Path, remedy: Remedy) -> WarehouseError | None:
    words = str(error)
    code = error.errno if isinstance(error, OSError) else None
    if code in _NO_ROOM or _NO_ROOM_WORDS.search(words):
        return WarehouseError(
            f"Free some space on the disk of {path} and run the command again, as there is no room left; "
            f"{SPACE_ADVICE}, and earlier data is unharmed."
        )
    if code in _NO_ACCESS or _NO_ACCESS_WORDS.search(words):
        place = Path(getattr(error, "filename", None) or path)
        if _UNFINISHED.match(place.name):  # a temporary name that the operator would not find
            place = place.parent
        return WarehouseError(
            f"Give the pipeline's user write access to {place}, as it cannot be written; "
            "or point BROKERBI_DATA_DIR somewhere else."
        )
    if isinstance(error, OSError):
        return None
    if "Could not set lock on file" in words:
        found = re.search(r"PID (\d+)", words)
        holder = f"process {found[1]}" if found else "another program"
        return WarehouseError(
            f"{path} is open in {holder}, which is not part of the pipeline; close it there and run the "
            f"command again. {remedy.open_elsewhere}"
        )
    if "Trying to read a database file with version number" in words:
        return WarehouseError(
            f"{path} was written by a newer DuckDB than {duckdb.__version__}; install that version or newer, "
            f"or {remedy.damaged}."
        )
    if _DAMAGED_WORDS.search(words):
        return WarehouseError(f"{path} is damaged ({words.splitlines()[0]}); {remedy.damaged}.")
    return None
