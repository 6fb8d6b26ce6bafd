"""How do analysts get a new file? A copy of the working one, whole or not at all, and a way back.

The published file can be read by its owner and group (0640), in folders that the group can enter (0750);
everything else the pipeline keeps is private to its owner.

A copy has the free space of the working file too, and what was deleted still stands there. So nothing may
ever be in the working file that analysts must not see; where something was (a person who is erased, rows in
quarantine of an older format), that file is rewritten first, once, and copied then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.compacting import compact
from warehouse.copying import copy_file, header_sha256
from warehouse.errors import NothingToRollBackTo
from warehouse.explaining import explained
from warehouse.guarding import guarded
from warehouse.meta_tables import FORMAT, VIEWS
from warehouse.opening import literal, opened, remove, sync, wal
from warehouse.publications import (
    PUBLISHED,
    REFUSED,
    ROLLED_BACK,
    Contents,
    Publication,
    contents,
    headers,
    remember,
)
from warehouse.versions import FILE, FOLDER, Versions
from warehouse.working import LOCK_SECONDS, WorkingFile, found_format

__all__ = ["Publication", "publish", "rollback"]


def publish(
    data_dir: Path,
    *,
    keep: int,
    now: datetime,
    reasons_against: Sequence[str] = (),
    lock_seconds: float = LOCK_SECONDS,
) -> Publication:
    """Give analysts a copy of the working file; with reasons against it, only write those down.

    Killed at any moment, it leaves the old file or the new one.
    """
    versions = Versions(Path(data_dir))
    began = time.monotonic()
    file = WorkingFile(Path(data_dir), lock_seconds)
    with file.locked(), explained(versions.published):
        made = Publication(REFUSED, now, versions.published, reasons=tuple(reasons_against))
        if not reasons_against:
            made = _make(file, versions, replace(made, status=PUBLISHED, version=versions.next(now)))
            made = replace(made, seconds=time.monotonic() - began)
        with ThreadPoolExecutor(1) as aside, file.opened() as connection:
            cleared = aside.submit(versions.clear, keep)  # to remove a large file takes a while
            if not made.published:
                made = _holding(made, contents(connection))
            remember(connection, made)
        cleared.result()
        return made


def rollback(
    data_dir: Path, *, to: str | None = None, now: datetime, lock_seconds: float = LOCK_SECONDS
) -> Publication:
    """Put back the version before the current one, or the one named, in one step."""
    versions = Versions(Path(data_dir))
    with WorkingFile(Path(data_dir), lock_seconds).locked() as working, explained(versions.published):
        with opened(working, read_only=True) as connection:
            known = headers(connection)
        version = _chosen(versions, known, to)
        versions.show(version)
        path = versions.published
        back = Publication(ROLLED_BACK, now, path, version, path.stat().st_size)
        with guarded(working) as connection:
            remember(connection, back)
        return back


def _make(file: WorkingFile, versions: Versions, made: Publication) -> Publication:
    """Make a version and show it to the analysts."""
    version = made.version or ""
    with _unfinished(versions) as copy:
        made = _copy(file, copy, made)
        copy.chmod(FILE)
        sync(copy)
        copy.replace(versions.path(version))
    sync(versions.folder)
    versions.show(version)
    path = versions.published
    return replace(made, bytes=path.stat().st_size, header_sha256=header_sha256(path))


@contextmanager
def _unfinished(versions: Versions) -> Iterator[Path]:
    """A place for a version in the making; nothing is left there when it cannot be made."""
    versions.folder.mkdir(mode=FOLDER, exist_ok=True)
    copy = versions.folder / ".unfinished.duckdb"
    for path in versions.unfinished():
        path.unlink(missing_ok=True)
    copy.touch(mode=0o600)
    try:
        yield copy
    finally:
        remove(copy)


def _copy(file: WorkingFile, copy: Path, made: Publication) -> Publication:
    """Copy the working file, and look at the copy: if nobody may see it, the file itself is mended first."""
    if wal(file.path).exists():
        with guarded(file.path, strict=True):
            pass
    copy_file(file.path, copy)
    with opened(copy) as connection:
        is_of_today = found_format(connection, file.path) == FORMAT
        if is_of_today and not (found := contents(connection)).has_traces:
            return _finish(connection, _holding(made, found))
    with file.opened(read_only=True):
        pass  # this brings it up to date
    compact(file.data_dir)
    return _copy(file, copy, made)


def _finish(connection: DuckDBPyConnection, made: Publication) -> Publication:
    """Let the copy know that it is published, and of the rows in quarantine only how many they are."""
    connection.execute("CREATE TABLE meta.counted AS FROM meta.quarantine")
    connection.execute("DROP VIEW meta.quarantine")
    connection.execute("DROP TABLE meta.quarantine_rows")
    connection.execute("ALTER TABLE meta.counted RENAME TO quarantine")
    connection.execute(f"COMMENT ON TABLE meta.quarantine IS {literal(VIEWS['quarantine'][0])}")
    remember(connection, made)
    connection.execute("CHECKPOINT")  # closing does the same, but keeps quiet when it fails
    return made


def _holding(made: Publication, found: Contents) -> Publication:
    return replace(made, loads=found.loads, last_load_number=found.last_load_number)


def _chosen(versions: Versions, known: dict[str, str], to: str | None) -> str:
    """The version to go back to; refuses one that somebody has written to."""
    kept, current = versions.kept(), versions.current()
    if to is not None:
        kept = [version for version in kept if to in (version, versions.path(version).name)]
    elif current is not None:
        kept = kept[: kept.index(current)]
    for version in reversed(kept):
        path = versions.path(version)
        if known.get(version) in (None, header_sha256(path)):
            return version
    wanted = f"no version {to}" if to else "no earlier version that is as it was published"
    raise NothingToRollBackTo(
        f"There is {wanted} in {versions.folder}; kept are {', '.join(versions.kept()) or 'none'}. "
        "The published file stays as it is; `brokerbi publish` makes a new one."
    )
