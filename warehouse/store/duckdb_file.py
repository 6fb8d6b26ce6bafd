"""DuckDB files: how they are opened and made, and how names, texts and rows reach SQL."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import explained
from warehouse.store.files import private_folder, remove_logs, replacement

STORAGE_VERSION = "v1.0.0"
"""The storage version that every DuckDB 1.x tool can read."""
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,  # the pipeline never reaches for the network by itself
    "autoload_known_extensions": False,
    # A checkpoint that reuses metadata may leave pointers to blocks that are gone, which DuckDB before 1.4.2
    # follows ("Failed to load metadata pointer"), whatever the storage version. Costs some 7 % of a night.
    "experimental_metadata_reuse": False,
}


@contextmanager
def connect(path: Path, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
    """A DuckDB file, open for the body; raises a WarehouseError for whatever is wrong with the file."""
    with explained(path):
        connection = duckdb.connect(path, read_only=read_only, config=_CONFIG)
        connection.execute("SET enable_progress_bar = false")  # it would be drawn into what commands print
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


def mappings(answer: DuckDBPyConnection, *, at_most: int | None = None) -> list[dict[str, Any]]:
    """The rows of an answer, or the next ones, each a mapping of its columns."""
    names = [column[0] for column in answer.description or ()]
    rows = answer.fetchall() if at_most is None else answer.fetchmany(at_most)
    return [dict(zip(names, row, strict=True)) for row in rows]


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
