"""The working file of a data directory: opened by one process at a time, for a moment, under the write lock.

Analysts never open it; they read the published copy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import duckdb

from warehouse import meta_schema
from warehouse.checkpoint_journal import open_for_writing, recover
from warehouse.duckdb_file import connect, create
from warehouse.errors import explained
from warehouse.files import private_folder, remove, wal
from warehouse.ledger import Ledger, read_ledger
from warehouse.load import Transform, load_group
from warehouse.lock import held
from warehouse.schema import DeclaredTable, Tables, read_tables
from warehouse.schema_evolution import declare, undeclared
from warehouse.window_result import WindowResult

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LOCK_SECONDS = 600.0
SESSION_SECONDS = 2.0
"""How long a session keeps the file open before it lets others have it."""
SESSION_LOG_BYTES = 32_000_000
"""How long its write-ahead log may become before; what is in the log is in memory, too."""


def utc_now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


class Store:
    """The working file of one data directory; `now` is the clock that says when something was written.

    `transform` is applied to every table of a window before its rows are loaded.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        lock_seconds: float = LOCK_SECONDS,
        now: Callable[[], datetime] = utc_now,
        transform: Transform | None = None,
    ) -> None:
        self.data_dir = Path(data_dir)
        self.now = now
        self.transform = transform
        self._lock_seconds = lock_seconds

    @property
    def path(self) -> Path:
        return self.data_dir / "work" / "warehouse.duckdb"

    @property
    def lock_path(self) -> Path:
        return self.path.with_name("warehouse.lock")

    @property
    def rewritten(self) -> Path:
        """Where the file is rewritten; a file that is found there under the lock is of a killed process."""
        return self.path.with_name(".rewritten.duckdb")

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Keep every other writer out, for as long as several steps must see the same rows.

        Makes the file if there is none yet. The thread that holds the lock may open the file as usual.
        """
        with explained(self.path):
            private_folder(self.path.parent)
            with held(self.lock_path, self._lock_seconds):
                remove(self.rewritten)
                recover(self.path)
                if not self.path.exists():
                    create(self.path, meta_schema.statements())
                yield self.path

    @contextmanager
    def opened(self, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
        """The file, open under the write lock; one of an older format is brought up to date first."""
        with self.locked() as path:
            with connect(path, read_only=True) if read_only else open_for_writing(path) as connection:
                if meta_schema.format_of(connection, path) == meta_schema.FORMAT:
                    yield connection
                    return
            with open_for_writing(path) as connection:
                connection.begin()
                meta_schema.upgrade(connection)
                connection.commit()
            with connect(path, read_only=True) if read_only else open_for_writing(path) as connection:
                yield connection

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """The file, read-only, under the write lock."""
        with self.opened(read_only=True) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[DuckDBPyConnection]:
        """The file, in one transaction, under the write lock: all is kept or nothing."""
        with self.opened() as connection:
            connection.begin()
            try:
                yield connection
            except BaseException:
                with suppress(duckdb.Error):  # the first error is the one to report
                    connection.rollback()
                raise
            connection.commit()

    def session(self) -> WriteSession:
        """Loads group after group with the working file open between them."""
        return WriteSession(self)

    def load(self, results: Sequence[WindowResult], *, afresh: bool = False) -> None:
        """Load one group, as `WriteSession.load` does."""
        with self.session() as session:
            session.load(results, afresh=afresh)

    def ledger(self) -> Ledger:
        """The whole ledger, read in one go."""
        with self.reading() as connection:
            return read_ledger(connection)

    def declare(self, tables: Sequence[DeclaredTable]) -> None:
        """Create every table with all its documented columns; only reads when nothing is new."""
        with self.reading() as connection:
            missing = undeclared(connection, tables)
        if missing:
            with self.writing() as connection:
                declare(connection, missing, self.now().replace(tzinfo=None))


class WriteSession:
    """Loads group after group with the working file open between them, for two seconds or 32 MB at most.

    To open and close the file costs as much as to load several small windows. Each group is still a
    transaction of its own: what is committed is in the write-ahead log, on the disk, and whoever opens the
    file after a crash finds it. After two seconds, or when that log is long, the next load opens the file
    anew, and whoever has waited for the lock meanwhile comes first. Nobody else can open the file while a
    session waits, so a session should end as soon as there is nothing to load.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._file = ExitStack()
        self._connection: DuckDBPyConnection | None = None
        self._tables: Tables | None = None
        self._opened_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection = None
        self._file.__exit__(kind, error, trace)

    def load(self, results: Sequence[WindowResult], *, afresh: bool = False) -> None:
        """Load a group in one transaction, all or none; one that fails leaves the others as they are.

        Fills in what became of each window, and drops its rows. `afresh` first forgets the histories
        of the group's reports and customers, for `replay`.
        """
        if not results:
            return
        if self._connection is None:
            self._connection = self._file.enter_context(self._store.opened())
            self._tables, self._opened_at = None, time.monotonic()
        connection, tables, self._tables = self._connection, self._tables, None
        store = self._store
        with explained(store.path):
            connection.begin()
            try:
                tables = tables or read_tables(connection)
                fill_in = load_group(
                    connection, results, tables, afresh=afresh, now=store.now(), transform=store.transform
                )
                connection.commit()
            except BaseException:
                self._roll_back(connection)
                raise
        fill_in()
        self._tables = tables
        log = wal(store.path)
        is_long = log.exists() and log.stat().st_size >= SESSION_LOG_BYTES
        if is_long or time.monotonic() - self._opened_at >= SESSION_SECONDS:
            self._close()

    def _close(self) -> None:
        """Bring what was committed from the log into the file, and let others have it."""
        self._connection = None
        self._file.close()

    def _roll_back(self, connection: DuckDBPyConnection) -> None:
        """Undo what a group has done so far; a file that cannot even do that is opened anew for the next."""
        try:
            connection.rollback()
        except duckdb.Error:
            with suppress(duckdb.Error, OSError):  # the first error is the one to report
                self._close()
