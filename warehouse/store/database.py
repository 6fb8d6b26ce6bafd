"""The working file of a data directory: opened briefly, by one process at a time, under the file lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from warehouse.errors import ReplayNeeded, translate_errors
from warehouse.store import meta_schema
from warehouse.store.checkpoint_journal import open_for_writing, recover
from warehouse.store.duckdb_file import IN_MEMORY, connect_working, spill_folder
from warehouse.store.files import copy_file, make_folder, remove, remove_logs, replacement
from warehouse.store.lock import file_lock
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection

    from warehouse.protocols import TableLike

LOCK_SECONDS = 600.0
LOST = "The working file is gone; `brokerbi replay` rebuilds it from the stored answers."
Connection = duckdb.DuckDBPyConnection
"""Other rooms pass a connection on; only the warehouse calls its methods."""


class Store:
    """The working file of one data directory; recorded times come from `now`.

    `transform` turns a received table into the rows to load. Without it, rows are loaded as received.
    `locked` raises ReplayNeeded if the file `is_lost`, unless the store `rebuilds` it. The new file is then
    a copy of the newest undamaged published version, if there is one.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        lock_seconds: float = LOCK_SECONDS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        transform: Callable[[TableLike], pl.DataFrame] | None = None,
        rebuilds: bool = False,
    ) -> None:
        self.data_dir = Path(data_dir)
        self.path = self.data_dir / "work" / "warehouse.duckdb"
        self.lock_path = self.path.with_name("warehouse.lock")
        self.rewritten = self.path.with_name(".rewritten.duckdb")
        self.now = now
        self.transform = transform
        self.rebuilds = rebuilds
        self._lock_seconds = lock_seconds

    @property
    def is_lost(self) -> bool:
        """Whether landing has answers, but the file that had their rows does not exist."""
        return not os.access(self.path, os.F_OK) and any(self.data_dir.glob("landing/*"))

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Hold the file lock, unless its folder is unwritable; yields the file's path, made if missing."""
        if self.path.exists() and not os.access(self.path.parent, os.W_OK):
            yield self.path
            return
        with translate_errors(self.path):
            make_folder(self.path.parent)
            with file_lock(self.lock_path, self._lock_seconds):
                remove(self.rewritten)
                for spilled in spill_folder(self.path).glob("*.*"):
                    spilled.unlink()
                recover(self.path)
                if not self.path.exists():
                    if self.is_lost and not self.rebuilds:
                        raise ReplayNeeded(LOST)
                    self._create()
                yield self.path

    @contextmanager
    def opened(self, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
        """Open the file under the file lock; raises ReplayNeeded if it is lost or has an older format."""
        opening = partial(connect_working, read_only=True) if read_only else open_for_writing
        with self.locked() as path, opening(path) as connection:
            meta_schema.check_format(connection, path)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """Open the file read-only under the file lock. If it does not exist, opens an empty one in memory."""
        with translate_errors(self.path):
            exists = self.path.exists()
        if exists:
            with self.opened(read_only=True) as connection:
                yield connection
        else:
            with connect_working(IN_MEMORY) as connection:
                meta_schema.create_meta(connection)
                yield connection

    @contextmanager
    def writing(self) -> Iterator[DuckDBPyConnection]:
        """Open the file in one transaction, under the file lock: everything is stored, or nothing."""
        with self.opened() as connection:
            connection.begin()
            try:
                yield connection
            except BaseException:
                with suppress(duckdb.Error):  # the first error is the one to report
                    connection.rollback()
                raise
            connection.commit()

    def _create(self) -> None:
        versions = Versions(self.data_dir)
        with replacement(self.path) as unfinished:
            if self.rebuilds and (newest := next(versions.undamaged(versions.names()), None)):
                copy_file(versions.path(newest), unfinished)
            else:
                with connect_working(unfinished) as connection:
                    meta_schema.create_meta(connection)
                    connection.execute("CHECKPOINT")
            remove_logs(self.path)  # logs of a removed file would be replayed into the new one
        sys.audit("brokerbi.file_made")
