"""How is a DuckDB file made and opened? With the storage version that every 1.x tool can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.explaining import explained
from warehouse.files import PRIVATE_FILE as PRIVATE_FILE
from warehouse.files import PRIVATE_FOLDER as PRIVATE_FOLDER
from warehouse.files import private_folder as private_folder
from warehouse.files import remove as remove
from warehouse.files import remove_logs as remove_logs
from warehouse.files import replacement
from warehouse.files import sync as sync
from warehouse.files import wal as wal

STORAGE_VERSION = "v1.0.0"
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,  # the pipeline never reaches for the network by itself
    "autoload_known_extensions": False,
}


@contextmanager
def opened(path: Path, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
    """A DuckDB file, open for the body; what goes wrong with the file is told in a sentence."""
    with explained(path):
        connection = duckdb.connect(path, read_only=read_only, config=_CONFIG)
        try:
            yield connection
        finally:
            connection.close()


def create(path: Path, statements: Iterable[str]) -> None:
    """Make a new file with these contents; it gets its name when it is whole."""
    unfinished = path.with_name(f"{path.name}.new")
    with explained(path):
        private_folder(path.parent)
        with replacement(path, unfinished=unfinished):
            connection = duckdb.connect(config=_CONFIG)
            try:
                attach_new(connection, unfinished, "made")
                connection.execute("USE made")
                connection.begin()
                for statement in statements:
                    connection.execute(statement)
                connection.commit()
                connection.execute("CHECKPOINT made")  # closing does the same, but keeps quiet when it fails
            finally:
                connection.close()
            remove_logs(path)  # of a file that somebody took away: they would be replayed into this one


def attach_new(connection: DuckDBPyConnection, path: Path, name: str) -> None:
    """Attach a file that does not exist yet, in the storage version of the project."""
    connection.execute(f"ATTACH {literal(str(path))} AS {quoted(name)} (STORAGE_VERSION '{STORAGE_VERSION}')")


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it, whatever is in it."""
    return "'" + text.replace("'", "''") + "'"
