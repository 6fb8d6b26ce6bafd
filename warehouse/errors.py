"""Errors of the warehouse; errors of the operating system and of DuckDB are translated into them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb


class WarehouseError(Exception):
    """The warehouse cannot do what was requested."""


class ReplayNeeded(WarehouseError):
    """The working file has an older format or is gone; a replay rebuilds it."""


class NotWritable(WarehouseError):
    """A file or folder cannot be written by this user."""


class FileDamaged(WarehouseError):
    """A DuckDB file is damaged."""


class LandingDamaged(WarehouseError):
    """A landing file is missing, or differs from what was written."""


def reason_of(error: Exception) -> str:
    """The message of a WarehouseError, or the type and text of any other error; always one line."""
    reason = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
    return " ".join(reason.split())


@dataclass(frozen=True)
class Remedy:
    """Remedies for a damaged DuckDB file, and for one that is open elsewhere."""

    damaged: str
    open_elsewhere: str


WORKING_FILE_REMEDY = Remedy(
    "move it away together with its .wal and run `brokerbi replay` to rebuild every table from landing",
    "Analysts read the published warehouse.duckdb, never the working file.",
)
PUBLISHED_FILE_REMEDY = Remedy(
    "run `brokerbi publish`, which makes a new copy of the working file",
    "Analysts should open it read-only, which locks no other process out.",
)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ACCESS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR}
NO_ROOM = "There is no room left on the disk"
_NO_ROOM_WORDS = re.compile("No space left on device|Disk quota exceeded|File too large|Out of space")
_NO_ACCESS_WORDS = re.compile("Permission denied|Read-only file system|Operation not permitted")
DAMAGED_WORDS = re.compile(
    "not a valid DuckDB database file|Could not read enough bytes|Corrupt database file|"
    "Failed to replay WAL|Failure while replaying WAL|Serialization Error"
)


@contextmanager
def translate_errors(path: Path, remedy: Remedy = WORKING_FILE_REMEDY) -> Iterator[None]:
    """Turn errors about a file into a WarehouseError with a remedy; other errors pass unchanged."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":  # DuckDB raises this if a signal arrives during a statement
            raise
        raise KeyboardInterrupt from error
    except (OSError, duckdb.Error) as error:
        translation = _translation(error, path, remedy)
        if translation is None:
            raise
        raise translation from error


def _translation(error: OSError | duckdb.Error, path: Path, remedy: Remedy) -> WarehouseError | None:
    text, code = str(error), error.errno if isinstance(error, OSError) else None
    if code in _NO_ROOM or _NO_ROOM_WORDS.search(text):
        return WarehouseError(
            f"{NO_ROOM} of {path}; earlier data is unharmed. Free some space, then run the command again."
        )
    if code in _NO_ACCESS or _NO_ACCESS_WORDS.search(text):
        named = Path(getattr(error, "filename", None) or path)  # temporary, or in a closed folder, perhaps
        found = [place for place in (named, *named.parents) if os.access(place, os.F_OK)]
        target = next((place for place in found[:2] if not os.access(place, os.W_OK)), found[0])
        how = "mount it for writing" if "Read-only" in text else "run brokerbi as its owner, give it access"
        return NotWritable(f"{target} is not writable; {how}, or point BROKERBI_DATA_DIR somewhere else.")
    if "Could not set lock on file" in text:
        pid = re.search(r"PID (\d+)", text)
        holder = f"process {pid[1]}" if pid else "another program"
        return WarehouseError(
            f"{path} is open in {holder}, which is not part of the pipeline; close it there and run the "
            f"command again. {remedy.open_elsewhere}"
        )
    if "Trying to read a database file with version number" in text:
        return WarehouseError(
            f"{path} was written by a newer DuckDB than {duckdb.__version__}; install a newer one, "
            f"or {remedy.damaged}."
        )
    if DAMAGED_WORDS.search(text):
        return FileDamaged(f"{path} is damaged ({text.splitlines()[0]}); {remedy.damaged}.")
    return None
