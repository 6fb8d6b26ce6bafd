"""How do many groups of loads share one opening of the working file? It stays open while more come.

To open and to close it, with a checkpoint between, costs as much as to load several small windows. Each group
is still a transaction of its own: what is committed is in the write-ahead log, on the disk, and whoever opens
the file after a crash finds it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

import duckdb

from warehouse.explaining import explained
from warehouse.loading import KnownTables, known_tables, load_group
from warehouse.lock import is_wanted
from warehouse.opening import wal
from warehouse.window_result import TableLike, WindowResult

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.working import WorkingFile

FRUGAL = "SET threads = 1; SET allocator_flush_threshold = '8MB'"
"""Each thread that inserts holds row groups of its own, and what it frees is kept for the next."""

LONG_LOG = 32_000_000
"""Bytes of write-ahead log that make a checkpoint worth its while; what is in the log is in memory, too."""

POLITE_SECONDS = 1.0
"""How long the file stays open although somebody waits, if one group comes right after the other."""

LONGEST_SECONDS = 4.0
"""How long the file stays open when nobody waits: blocks that were written stay in memory until it closes."""


class WriteSession:
    """Loads group after group while nobody else may open the file; one thread's own, from first to last.

    The file is opened by the first group, and closed when its log is long, when others have waited a while,
    or when it was open for long; the next group opens it again.
    """

    def __init__(
        self, file: WorkingFile, now: Callable[[], datetime], before: Callable[[TableLike], TableLike] | None
    ) -> None:
        self._file = file
        self._now = now
        self._before = before
        self._open = ExitStack()
        self._connection: DuckDBPyConnection | None = None
        self._known: KnownTables | None = None
        self._since = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection = None
        self._open.__exit__(kind, error, trace)

    def load(self, loads: Sequence[WindowResult], *, afresh: bool = False) -> None:
        """Load a group in one transaction, all or none; one that fails leaves the others as they are.

        Fills in what became of each window, and lets go of its rows.
        """
        if not loads:
            return
        connection = self._opened()
        known, self._known = self._known, None
        with explained(self._file.path):
            connection.begin()
            try:
                known = known or known_tables(connection)
                effects = load_group(
                    connection, loads, known, afresh=afresh, now=self._now(), before=self._before
                )
                connection.commit()
            except BaseException:
                self._roll_back(connection)
                raise
        for fill_in in effects:
            fill_in()
        self._known = known
        if self._is_long_enough():
            self.close()

    def make_way(self) -> None:
        """Close the file if somebody waits for it."""
        if self._connection and is_wanted(self._file.lock_path):
            self.close()

    def close(self) -> None:
        """Bring what was committed from the log into the file, and let others have it."""
        self._connection = None
        self._open.close()

    def _opened(self) -> DuckDBPyConnection:
        if self._connection is None:
            connection = self._open.enter_context(self._file.opened())
            connection.execute(FRUGAL)
            self._connection, self._known, self._since = connection, None, time.monotonic()
        return self._connection

    def _roll_back(self, connection: DuckDBPyConnection) -> None:
        """Undo what a group has done so far; a file that cannot even do that is opened anew for the next."""
        try:
            connection.rollback()
        except duckdb.Error:
            with suppress(duckdb.Error, OSError):  # what went wrong first is what must be told
                self.close()

    def _is_long_enough(self) -> bool:
        log, passed = wal(self._file.path), time.monotonic() - self._since
        if log.exists() and log.stat().st_size >= LONG_LOG:
            return True
        return passed >= LONGEST_SECONDS or (passed >= POLITE_SECONDS and is_wanted(self._file.lock_path))
