"""DuckDB files: how they are opened and made, and how names, texts and rows reach SQL."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import OF_WORKING_FILE, Remedy, explained
from warehouse.store.files import make_folder, remove_logs, replacement

STORAGE_VERSION = "v1.0.0"
"""The storage version that every DuckDB 1.x tool can read."""
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,  # the pipeline never reaches for the network by itself
    "autoload_known_extensions": False,
    # A checkpoint that reuses metadata may leave pointers to blocks that are gone, which DuckDB before 1.4.2
    # follows ("Failed to load metadata pointer"), whatever the storage version. Costs some 7 % of a night.
    "experimental_metadata_reuse": False,
}

_QUIET = "SET enable_progress_bar = false"
"""Or it would be drawn into what commands print."""
_WORKING = "warehouse"
_OF_WORKING_FILES = "SET checkpoint_threshold = '1000TB'; PRAGMA disable_checkpoint_on_shutdown"
"""An instance that makes no checkpoint by itself."""


_IDLE: list[DuckDBPyConnection] = []
"""Instances of DuckDB with nothing attached: to make and end one costs 25 ms, to attach a file half of it."""
os.register_at_fork(after_in_child=_IDLE.clear)  # a fork has its parent's instances, but not their threads


@contextmanager
def _instance(spilled: Path) -> Iterator[DuckDBPyConnection]:
    """An instance as if it were new, which spills what memory cannot hold; ended if the body fails."""
    try:
        instance = _IDLE.pop()
    except IndexError:
        instance = duckdb.connect(config=_CONFIG)
        instance.execute(f"{_QUIET}; {_OF_WORKING_FILES}")
    try:
        instance.execute(f"SET temp_directory = {literal(str(spilled))}")
        yield instance
        instance.execute("RESET threads; RESET memory_limit")
        others = instance.execute("FROM duckdb_databases() WHERE NOT internal OFFSET 1").fetchall()
    except BaseException:
        instance.close()
        raise
    if others or spilled.exists():  # what the body attached stays, and the folder cannot be another one
        instance.close()
    else:
        _IDLE.append(instance)


def spilled(path: Path) -> Path:
    """Where DuckDB puts what does not fit into memory; only a killed process leaves anything there."""
    return path.with_name(f"{path.name}.tmp")


@contextmanager
def connect_working(path: Path, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
    """A working file, open for the body, without a checkpoint before, in or after it; raises as `connect`."""
    with explained(path), _instance(spilled(path)) as instance:
        options = "(READ_ONLY)" if read_only else ""
        instance.execute(f"ATTACH {literal(str(path))} AS {_WORKING} {options}")
        with instance.cursor() as connection:
            connection.execute(f"USE {_WORKING}")
            yield connection
        instance.execute(f"DETACH {_WORKING}")


@contextmanager
def empty_working(statements: Iterable[str]) -> Iterator[DuckDBPyConnection]:
    """A working file with these contents that is in memory alone, open for the body."""
    with duckdb.connect(config=_CONFIG) as connection:
        connection.execute(f"{_QUIET}; ATTACH ':memory:' AS {_WORKING}; USE {_WORKING}")
        for statement in statements:
            connection.execute(statement)
        yield connection


@contextmanager
def connect(
    path: Path, *, read_only: bool = False, remedy: Remedy = OF_WORKING_FILE
) -> Iterator[DuckDBPyConnection]:
    """A DuckDB file, open for the body; raises a WarehouseError for whatever is wrong with the file."""
    with explained(path, remedy):
        connection = duckdb.connect(path, read_only=read_only, config=_CONFIG)
        connection.execute(_QUIET)
        try:
            yield connection
        finally:
            connection.close()


@contextmanager
def beside(connection: DuckDBPyConnection) -> Iterator[DuckDBPyConnection]:
    """Another connection to the same file, which does not see what this one has not committed."""
    [(database,)] = connection.execute("SELECT current_database()").fetchall()
    with connection.cursor() as other:
        other.execute(f"USE {quoted(database)}")
        yield other


def create(path: Path, statements: Iterable[str]) -> None:
    """Make a new file with these contents; it gets its name when it is whole."""
    unfinished = path.with_name(f"{path.name}.new")
    with explained(path):
        make_folder(path.parent)
        with replacement(path, unfinished=unfinished):
            connection = duckdb.connect(config=_CONFIG)
            try:
                attach_new(connection, unfinished, "made")
                connection.execute("USE made")
                connection.begin()
                for statement in statements:
                    connection.execute(statement)
                connection.commit()
                connection.execute("CHECKPOINT made")  # closing does the same, but hides its failure
            finally:
                connection.close()
            remove_logs(path)  # of a file that somebody took away: they would be replayed into this one
    sys.audit("brokerbi.file_made")


def attach_new(connection: DuckDBPyConnection, path: Path, name: str) -> None:
    """Attach a file that does not exist yet, in the storage version of the project."""
    connection.execute(f"ATTACH {literal(str(path))} AS {quoted(name)} (STORAGE_VERSION '{STORAGE_VERSION}')")


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it, whatever is in it."""
    return "'" + text.replace("'", "''") + "'"


def mappings(answer: DuckDBPyConnection) -> list[dict[str, Any]]:
    """The rows of an answer, each a mapping of its columns."""
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def insert_rows(connection: DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows in one statement, as each statement costs the same; all rows name the same columns."""
    if rows:
        names = ", ".join(map(quoted, rows[0]))
        values = ", ".join(f"unnest(${number})" for number in range(1, len(rows[0]) + 1))
        columns = [[row[name] for row in rows] for name in rows[0]]
        connection.execute(f"INSERT INTO {table} ({names}) SELECT {values}", columns)


def run_definitions(connection: DuckDBPyConnection, statements: Sequence[str]) -> None:
    """Run statements that only define or describe something, such as a thousand comments.

    The optimizer has nothing to improve on these, and takes a quarter of their time.
    """
    if statements:
        connection.execute(";".join(["PRAGMA disable_optimizer", *statements, "PRAGMA enable_optimizer"]))
