"""Archiving: landing files put into the archive after they were loaded, and let go from the disk then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.ledger.sinks import ARCHIVE, note_sink
from warehouse.load.landing import Landing, file_sha256
from warehouse.store.database import LOCK_SECONDS
from warehouse.store.files import make_folder
from warehouse.store.lock import locked_file
from warehouse.store.meta_schema import naive_utc, replace_rows

if TYPE_CHECKING:
    from warehouse.load.archive import Archive
    from warehouse.store.database import Store

AT_ONCE = 4
BETWEEN_NOTES = 400
"""Files between two notes in the ledger and looks at the clock: a note costs a checkpoint."""
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Drained:
    """How many files were put into the archive, and how many still wait, since when and why."""

    archived: int = 0
    waiting: int = 0
    waiting_since: datetime | None = None
    error: str = ""


@contextmanager
def archive_lock(data_dir: Path) -> Iterator[None]:
    """Let nobody put files into the archive: what an erasure rewrites must not be put there as it was.

    Whoever wants the write lock as well takes this one first.
    """
    make_folder(data_dir / "work")
    with locked_file(data_dir / "work" / "archive.lock", LOCK_SECONDS):
        yield


def drain(
    store: Store,
    archive: Archive,
    *,
    seconds: float | None = None,
    epoch: int | None = None,
    still_owner: Callable[[], None] | None = None,
) -> Drained:
    """Put all finished landing files into the archive, the oldest first; for so long at most.

    Files that are held back are none of them yet. A store that is down leaves the rest waiting, and so does
    an owner that is none any more: `still_owner` raises WarehouseError then.
    """
    began, landing, archived = time.monotonic(), Landing(store.data_dir / "landing"), 0
    waiting, error = _waiting(store, landing), ""
    try:
        archive.claim(epoch)
        while waiting and (seconds is None or time.monotonic() - began < seconds):
            if still_owner:
                still_owner()
            now, waiting = waiting[:BETWEEN_NOTES], waiting[BETWEEN_NOTES:]
            with archive_lock(store.data_dir):
                put, error = _put(archive, landing, [path for _, path in now])
                _note(store, put)
            archived += len(put)
            if error:
                waiting = [one for one in now if one[1] not in put] + waiting
                break
    except WarehouseError as caught:
        error = str(caught)
    return _note_waiting(store, waiting, error, archived)


def note_waiting(store: Store, error: str) -> Drained:
    """Write down what waits for an archive that cannot even be opened, and why."""
    return _note_waiting(store, _waiting(store, Landing(store.data_dir / "landing")), error)


def let_go(store: Store, archive: Archive, *, days: int) -> int:
    """Remove landing files from the disk that have been in the archive for so many days; how many.

    One that is not byte for byte what was archived stays.
    """
    landing, gone = Landing(store.data_dir / "landing"), 0
    with store.reading() as connection:
        found = connection.execute(
            "SELECT landing, sha256 FROM meta.archived WHERE archived_at_utc < $1",
            [naive_utc(store.now() - timedelta(days=days))],
        ).fetchall()
    here = set(landing.paths())
    for path, sha256 in found:
        if path in here and file_sha256(landing.root / path) == sha256 and archive.has(path, sha256):
            (landing.root / path).unlink(missing_ok=True)
            gone += 1
    return gone


def clear_archive(store: Store, archive: Archive, *, days: int) -> int:
    """Remove from the archive what retention has let go of, as it does on the disk; how many files.

    The ledger knows of a file until it is gone: killed in between, the next call removes what is left.
    """
    oldest = store.now() - max(timedelta(days=days), DAY)
    with store.reading() as connection:
        gone = connection.execute(
            "SELECT landing FROM meta.archived ANTI JOIN meta.loads USING (landing) "
            "WHERE archived_at_utc < $1",
            [naive_utc(oldest)],
        ).fetchall()
    for (path,) in gone:
        archive.keep_only(path, None)
    if gone:
        with store.writing() as connection:
            connection.execute(
                "DELETE FROM meta.archived WHERE list_contains($1, landing)", [[path for (path,) in gone]]
            )
    return len(gone)


def relearn_archive(store: Store, archive: Archive) -> None:
    """Let the ledger know what is in the archive, as after the working file was lost."""
    rows = [
        {"landing": path, "sha256": sha256, "archived_at_utc": naive_utc(since)}
        for path, (since, sha256) in archive.newest().items()
    ]
    with store.writing() as connection:
        replace_rows(connection, "archived", rows, key=["landing"])


def _note_waiting(
    store: Store, waiting: Sequence[tuple[float, str]], error: str, archived: int = 0
) -> Drained:
    since = datetime.fromtimestamp(waiting[0][0], UTC) if waiting else None
    with store.writing() as connection:
        note_sink(connection, ARCHIVE, store.now(), waiting=len(waiting), since=since, error=error)
    return Drained(archived, len(waiting), since, error)


def _waiting(store: Store, landing: Landing) -> list[tuple[float, str]]:
    """The files that the archive has not, the oldest first, with the moments when they were written."""
    with store.reading() as connection:
        known = {path for (path,) in connection.execute("SELECT landing FROM meta.archived").fetchall()}
    found = []
    for path in landing.paths():
        if path not in known:
            with suppress(FileNotFoundError):  # retention took it
                found.append(((landing.root / path).stat().st_mtime, path))
    return sorted(found)


def _put(archive: Archive, landing: Landing, paths: Sequence[str]) -> tuple[dict[str, str], str]:
    """Put files there, a few at a time; their checksums as far as it went, and why it went no further."""
    put: dict[str, str] = {}

    def one_by_one(rest: Iterator[str]) -> None:
        for path in rest:
            with suppress(FileNotFoundError):
                put[path] = archive.put(landing.root, path)

    paths_left = iter(paths)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        errors = [
            future.exception() for future in [pool.submit(one_by_one, paths_left) for _ in range(AT_ONCE)]
        ]
    for error in errors:
        if isinstance(error, WarehouseError):
            return put, str(error)
        if error:
            raise error
    return put, ""


def _note(store: Store, put: dict[str, str]) -> None:
    now = naive_utc(store.now())
    rows = [{"landing": path, "sha256": sha256, "archived_at_utc": now} for path, sha256 in put.items()]
    with store.writing() as connection:
        replace_rows(connection, "archived", rows, key=["landing"])
