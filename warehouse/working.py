"""Where is the working file, and who may open it? One process at a time, for a moment, under the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import WrongStorage
from warehouse.explaining import explained
from warehouse.guarding import guarded, mend
from warehouse.lock import held
from warehouse.meta_tables import FORMAT, TABLES_OF_OURS, statements
from warehouse.opening import create, opened, private_folder, quoted, remove
from warehouse.upgrading import let_raw_rows_go

LOCK_SECONDS = 600.0


@dataclass(frozen=True)
class WorkingFile:
    """The pipeline's own file; analysts never open it."""

    data_dir: Path
    lock_seconds: float = LOCK_SECONDS

    @property
    def path(self) -> Path:
        return Path(self.data_dir) / "work" / "warehouse.duckdb"

    @property
    def lock_path(self) -> Path:
        return self.path.with_name("warehouse.lock")

    @property
    def rewritten(self) -> Path:
        """Where the file is rewritten; what stands there without the lock was left by a killed process."""
        return self.path.with_name(".rewritten.duckdb")

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Hold the write lock, and make the file if there is none yet."""
        with explained(self.path):
            private_folder(self.path.parent)
            with held(self.lock_path, self.lock_seconds):
                remove(self.rewritten)
                mend(self.path)
                if not self.path.exists():
                    create(self.path, statements())
                yield self.path

    @contextmanager
    def opened(self, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
        """The file, open under the write lock."""
        with self.locked() as path:
            with _at(path, read_only=read_only) as connection:
                if found_format(connection, path) == FORMAT:
                    yield connection
                    return
            bring_up_to_date(path)
            with _at(path, read_only=read_only) as connection:
                yield connection

    @contextmanager
    def transaction(self) -> Iterator[DuckDBPyConnection]:
        """The file, open under the write lock, in one transaction: all is kept or nothing."""
        with self.opened() as connection:
            connection.begin()
            try:
                yield connection
            except BaseException:
                with suppress(duckdb.Error):  # what went wrong first is what must be told
                    connection.rollback()
                raise
            connection.commit()


def _at(path: Path, *, read_only: bool) -> AbstractContextManager[DuckDBPyConnection]:
    """The file at this place, whoever holds the lock."""
    return opened(path, read_only=True) if read_only else guarded(path)


def found_format(connection: DuckDBPyConnection, path: Path) -> int:
    """The version of the tables of ours in a file; refuses one that this version of ours cannot know."""
    try:
        [(found,)] = connection.execute("SELECT format FROM meta.storage").fetchall()
    except duckdb.CatalogException as error:
        raise WrongStorage(f"{path} is not a working file of this project; put it aside.") from error
    if not 0 < found <= FORMAT:
        raise WrongStorage(
            f"{path} keeps its ledger in format {found}, and this version of brokerbi in format {FORMAT}; "
            "install the version that wrote it, or put the file aside and run `brokerbi replay` to rebuild "
            "it from landing."
        )
    return int(found)


def bring_up_to_date(path: Path) -> None:
    """Give a file of an older format the tables and columns that it lacks; what is in it stays."""
    with guarded(path) as connection:
        connection.begin()
        for table in TABLES_OF_OURS:
            for name, type_ in table.types.items():
                connection.execute(
                    f"ALTER TABLE IF EXISTS meta.{table.name} ADD COLUMN IF NOT EXISTS {quoted(name)} {type_}"
                )
        let_raw_rows_go(connection)
        for statement in statements():
            connection.execute(statement)
        connection.commit()
