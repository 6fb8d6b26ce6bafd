"""How is a DuckDB file made and opened? With the storage version that every 1.x tool can read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.explaining import explained

STORAGE_VERSION = "v1.0.0"
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
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
        remove(unfinished)
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
        unfinished.chmod(PRIVATE_FILE)
        sync(unfinished)
        remove_logs(path)  # of a file that somebody took away: they would be replayed into this one
        unfinished.replace(path)
        sync(path.parent)


def attach_new(connection: DuckDBPyConnection, path: Path, name: str) -> None:
    """Attach a file that does not exist yet, in the storage version of the project."""
    connection.execute(f"ATTACH {literal(str(path))} AS {quoted(name)} (STORAGE_VERSION '{STORAGE_VERSION}')")


def private_folder(path: Path) -> None:
    """A directory that only its owner can look into, with its parents."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def remove(path: Path) -> None:
    """Remove a DuckDB file together with its write-ahead logs."""
    path.unlink(missing_ok=True)
    remove_logs(path)


def remove_logs(path: Path) -> None:
    """Remove the write-ahead log beside a file, and what a checkpoint or a recovery made of it."""
    for ending in ("", ".checkpoint", ".recovery"):
        path.with_name(wal(path).name + ending).unlink(missing_ok=True)


def wal(path: Path) -> Path:
    """Where DuckDB keeps what is committed but not yet in the file itself."""
    return path.with_name(f"{path.name}.wal")


def sync(path: Path) -> None:
    """Wait until a file or directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it, whatever is in it."""
    return "'" + text.replace("'", "''") + "'"
