"""Write session: loads group after group with the working file open between them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

import duckdb

from warehouse.errors import explained
from warehouse.ledger.window_result import WindowResult
from warehouse.load.load import load_group
from warehouse.store.database import Store
from warehouse.store.files import wal
from warehouse.store.schema import Tables, read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SESSION_SECONDS = 2.0
"""How long a session keeps the file open before it closes it for others."""
SESSION_LOG_BYTES = 16_000_000
"""The longest write-ahead log before that; the log is in memory, too."""


@dataclass
class WriteSession(AbstractContextManager["WriteSession"]):
    """Loads group after group with the working file open between them, for two seconds or 16 MB at most.

    Opening and closing the file costs as much as loading several small windows. Each group is still a
    transaction of its own: committed rows are in the write-ahead log on the disk, and survive a crash. After
    two seconds, or when that log is long, the next load opens the file again, and processes that wait for the
    lock come first. No other process can open the file during a session, so end it as soon as there is
    nothing to load.
    """

    store: Store
    _file: ExitStack = field(default_factory=ExitStack)
    _connection: DuckDBPyConnection | None = None
    _tables: Tables | None = None
    _opened_at: float = 0.0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection = None
        self._file.__exit__(kind, error, trace)
        sys.audit("brokerbi.session_closed")

    def load(self, results: Sequence[WindowResult], *, afresh: bool = False) -> Sequence[WindowResult]:
        """Load a group in one transaction, all or nothing; a failed one leaves the others as they are.

        Returns the outcome of the windows, without their rows. `afresh` first forgets the histories of the
        group's reports and customers, for `replay`.
        """
        if not results:
            return ()
        if self._connection is None:
            self._connection = self._file.enter_context(self.store.opened())
            self._connection.execute("SET threads = 1")  # each has memory of its own: 299 MB, with two 340
            self._tables, self._opened_at = None, time.monotonic()
        connection, tables, self._tables = self._connection, self._tables, None
        store = self.store
        with explained(store.path):
            connection.begin()
            try:
                tables = tables or read_tables(connection)
                loaded = load_group(
                    connection, results, tables, afresh=afresh, now=store.now(), transform=store.transform
                )
                connection.commit()
            except BaseException:
                self._roll_back(connection)
                raise
        self._tables = tables
        log = wal(store.path)
        is_long = log.exists() and log.stat().st_size >= SESSION_LOG_BYTES
        if is_long or time.monotonic() - self._opened_at >= SESSION_SECONDS:
            self._close()
        sys.audit("brokerbi.load_committed")
        return loaded

    def _close(self) -> None:
        """Write the committed log into the file, and close it for other processes."""
        self._connection = None
        self._file.close()

    def _roll_back(self, connection: DuckDBPyConnection) -> None:
        """Roll a group back; if even that fails, the file is opened again for the next group."""
        try:
            connection.rollback()
        except duckdb.Error:
            with suppress(duckdb.Error, OSError):  # the first error is the one to report
                self._close()
