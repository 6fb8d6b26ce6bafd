"""Publishing: atomic copies of the working file for analysts, and rollback to earlier copies.

The group of the pipeline's user can read published versions and their checksums (0640), and enter their
folders (0750). The working file, landing and logs are private to their owner.

A copy includes the free space of the working file, where deleted rows remain. So rows that analysts must not
see are not written to the working file. There are two exceptions: rows of a person who was erased later, and
names that were stored before pseudonyms were switched on. A file that had such rows is rewritten before it is
copied.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import WarehouseError, reason_of, translate_errors
from warehouse.publishing.retention import compact
from warehouse.store.checkpoint_journal import open_for_writing
from warehouse.store.database import Store
from warehouse.store.duckdb_file import connect, insert_rows
from warehouse.store.files import (
    PRIVATE_FILE,
    SHARED_FILE,
    SHARED_FOLDER,
    copy_file,
    header_sha256,
    make_folder,
    replacement,
    wal,
)
from warehouse.store.meta_schema import naive_utc
from warehouse.store.versions import FAILED, PUBLISHED, REFUSED, ROLLED_BACK, Versions


@dataclass(frozen=True)
class Publication:
    """The outcome of a publication; `reasons` say why there is no new file."""

    status: str
    at_utc: datetime
    path: Path
    version: str | None = None
    bytes: int | None = None
    seconds: float | None = None
    loads: int | None = None
    last_load_number: int | None = None
    header_sha256: str | None = None
    reasons: tuple[str, ...] = ()

    @property
    def has_new_file(self) -> bool:
        """Whether there is a new published file."""
        return self.version is not None

    @property
    def why(self) -> str:
        """The reasons as part of a sentence."""
        return "; ".join(reason.rstrip(".") for reason in self.reasons)


def publish(
    data_dir: Path,
    *,
    keep: int,
    now: datetime,
    reasons_against: Sequence[str] = (),
) -> Publication:
    """Publish a copy of the working file, and keep only the newest `keep` versions.

    If there are `reasons_against`, they are recorded, and nothing is published. A failure to write the file
    is recorded too, if possible. After a kill, the published file is the old one or the new one.
    """
    began = time.monotonic()
    versions, store = Versions(data_dir), Store(data_dir)
    with translate_errors(versions.published):
        with store.reading() as connection:
            [(loads, last_load_number, has_traces)] = connection.execute(_CONTENTS).fetchall()
        publication = Publication(
            REFUSED if reasons_against else PUBLISHED,
            now,
            versions.published,
            None if reasons_against else versions.new_name(now),
            loads=loads,
            last_load_number=last_load_number,
            reasons=tuple(reasons_against),
        )
        if publication.has_new_file:
            try:
                with translate_errors(versions.published):
                    if has_traces:
                        compact(data_dir)
                    publication = _make_version(store, versions, publication, began)
            except WarehouseError as error:
                publication = replace(publication, status=FAILED, version=None, reasons=(str(error),))
        if publication.has_new_file:
            versions.prune(keep)
        # If the published file cannot be written, recording the failure may fail too (a full disk).
        ignored = (WarehouseError, OSError, duckdb.Error) if publication.status == FAILED else ()
        with suppress(*ignored), store.writing() as connection:
            _record(connection, publication)
        return publication


def record_failed_publication(data_dir: Path, now: datetime, error: Exception) -> None:
    """Record a publication that failed with this error, if the working file has loads and is writable."""
    store = Store(data_dir)
    with suppress(WarehouseError, OSError, duckdb.Error), store.writing() as connection:
        [(loads, last_load_number, _)] = connection.execute(_CONTENTS).fetchall()
        if loads:
            failed = Publication(
                FAILED,
                now,
                Versions(data_dir).published,
                loads=loads,
                last_load_number=last_load_number,
                reasons=(reason_of(error),),
            )
            _record(connection, failed)


@dataclass(frozen=True)
class Unpublished:
    """Loads that are not published, or were replayed since.

    `load_number` is that of the newest load. `waiting_since_utc` is when the wait for the next publication
    began: at the latest publication, failed attempt or rollback. If there was none of these, it began at the
    first load. If `is_blocked` is true, a failed check or mart prevented the publication of these loads.
    """

    load_number: int
    waiting_since_utc: datetime
    is_blocked: bool = False


def loaded_since_publication(store: Store) -> Unpublished | None:
    """The loads that are not published; returns None if all are published."""
    with store.reading() as connection:
        [(newest, first, loaded_at)] = connection.execute(
            "SELECT max(load_number), min(coalesce(loaded_at_utc, fetched_at_utc)) AS first, "
            "coalesce(max(loaded_at_utc) FILTER (loaded_at_utc <= $1), first) "
            "FROM meta.loads WHERE load_number IS NOT NULL",
            [naive_utc(store.now())],  # so that a clock that was ahead once causes no further publications
        ).fetchall()
        tries = connection.execute(
            "SELECT at_utc, status, last_load_number FROM meta.publications ORDER BY rowid DESC"
        ).fetchall()
    if newest is None:
        return None
    complete = [status for at, status, number in tries if at >= loaded_at and (number or 0) >= newest]
    if PUBLISHED in complete:
        return None
    tried_at = tries[0][0] if tries else first
    return Unpublished(newest, tried_at.replace(tzinfo=UTC), is_blocked=complete[:1] == [REFUSED])


def rollback(data_dir: Path, *, to: str | None = None, now: datetime) -> Publication:
    """Restore the version `to` or, by default, the newest earlier one that is undamaged."""
    versions, store = Versions(data_dir), Store(data_dir)
    with translate_errors(versions.published):
        version = _version_to_restore(versions, to)
        size, current = versions.path(version).stat().st_size, versions.current() or version
        skipped = [] if to else [name for name in versions.names() if version < name < current]
        notes = tuple(f"version {name} is damaged, so it was skipped" for name in skipped)
        publication = Publication(ROLLED_BACK, now, versions.published, version, size, reasons=notes)
        try:
            with store.writing() as connection:  # fails before the version is shown if it cannot be recorded
                _record(connection, publication)
                versions.make_current(version)
        except Exception:
            versions.make_current(current)  # the record may fail as late as at its end: on a full disk
            raise
        return publication


_CONTENTS = """
SELECT (SELECT count(DISTINCT load_id) FROM meta.months),
       (SELECT coalesce(max(load_number), 0) FROM meta.loads),
       (SELECT coalesce(has_traces, true) FROM meta.storage)
"""


def _make_version(store: Store, versions: Versions, publication: Publication, began: float) -> Publication:
    version = publication.version or ""
    make_folder(versions.folder, SHARED_FOLDER)
    leftovers = (*versions.folder.glob(".unfinished*"), *versions.data_dir.glob(".warehouse.duckdb.new*"))
    for path in leftovers:  # from a killed publication
        path.unlink(missing_ok=True)
    unfinished = versions.folder / ".unfinished.duckdb"
    with replacement(versions.path(version), mode=SHARED_FILE, unfinished=unfinished):
        unfinished.touch(mode=PRIVATE_FILE)
        with store.locked() as working:
            if wal(working).exists():
                with open_for_writing(working, strict=True):
                    pass  # checkpoints the WAL, because the copy does not include it
            copy_file(working, unfinished)
        with connect(unfinished) as connection:
            _record(connection, publication)
            connection.execute("CHECKPOINT")  # closing does the same, but hides a failure
    versions.write_checksum(version)
    versions.make_current(version)
    path = versions.published
    seconds = time.monotonic() - began
    return replace(publication, bytes=path.stat().st_size, seconds=seconds, header_sha256=header_sha256(path))


def _record(connection: DuckDBPyConnection, publication: Publication) -> None:
    sys.audit("brokerbi.before_publication_noted")
    row = vars(publication) | {"name": publication.version, "at_utc": naive_utc(publication.at_utc)}
    columns = {name: value for name, value in row.items() if name not in ("version", "path")}
    insert_rows(connection, "meta.publications", [columns | {"reasons": [*publication.reasons]}])


def _version_to_restore(versions: Versions, to: str | None) -> str:
    candidates, current = versions.names(), versions.current()
    if to is not None:
        candidates = [version for version in candidates if to in (version, versions.path(version).name)]
    elif current is not None:
        candidates = candidates[: candidates.index(current)]
    if version := next(versions.undamaged(candidates), None):
        return version
    description = f"version {to}" if to else "earlier version"
    others = [*versions.undamaged({*versions.names()} - {*candidates, current})]
    damaged = f", except damaged ones: {', '.join(candidates)}" if candidates else ""
    offer = f"Other versions there: {', '.join(others)}. " if others else ""
    raise WarehouseError(
        f"No {description} is kept in {versions.folder}{damaged}. {offer}"
        "The published file stays as it is; `brokerbi publish` makes a new one."
    )
