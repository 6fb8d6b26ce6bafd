"""DuckDB files: opening them, and passing names, text and rows to SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import WORKING_FILE_REMEDY, Remedy, translate_errors

STORAGE_VERSION = "v1.0.0"
"""The storage version of new files. Because of BLOCK_BYTES, only DuckDB 1.1 or newer can read them."""
BLOCK_BYTES = 65536
"""The block size of new files. At DuckDB's default, files with many small tables are three times as large."""
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": STORAGE_VERSION,
    "default_block_size": BLOCK_BYTES,
    "autoinstall_known_extensions": False,  # the pipeline never downloads extensions
    "autoload_known_extensions": False,
    # A checkpoint that reuses metadata may leave pointers to blocks that are gone. DuckDB before
    # 1.4.2 then fails ("Failed to load metadata pointer"). Reuse would save 7 % of a run.
    "experimental_metadata_reuse": False,
}
_QUIET = "SET enable_progress_bar = false"  # the bar would appear in the output of commands
_ATTACH_NUMBERS = count()
IN_MEMORY = Path(":memory:")
_NO_CHECKPOINT = "SET checkpoint_threshold = '1000TB'; PRAGMA disable_checkpoint_on_shutdown"
"""Only `checkpoint_journal` makes checkpoints of a working file."""


def spill_folder(path: Path) -> Path:
    """The folder to which DuckDB spills rows. Only a killed process leaves rows there."""
    return path.with_name(f"{path.name}.tmp")


@contextmanager
def connect_working(path: Path, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
    """Open a working file for a `with` block, without checkpoints; errors are translated as in `connect`."""
    with translate_errors(path):
        instance = _instance(spill_folder(path))
        name = quoted(f"warehouse {next(_ATTACH_NUMBERS)}")
        options = "(READ_ONLY)" if read_only else ""
        try:
            with instance.cursor() as connection:
                connection.execute(f"{_QUIET}; ATTACH {literal(str(path))} AS {name} {options}; USE {name}")
                yield connection
        finally:
            try:
                with instance.cursor() as connection:
                    connection.execute(f"DETACH DATABASE IF EXISTS {name}")
            except duckdb.Error:  # after a fatal error the instance is unusable
                _instance.cache_clear()
                instance.close()


@lru_cache(maxsize=1)
def _instance(spill: Path) -> DuckDBPyConnection:
    """The instance to which files are attached. One thread saves 3 % of CPU; only mart builds use several."""
    instance = duckdb.connect(config=_CONFIG)
    instance.execute(f"{_NO_CHECKPOINT}; SET threads = 1; SET temp_directory = {literal(str(spill))}")
    return instance


@contextmanager
def connect(
    path: Path, *, read_only: bool = False, remedy: Remedy = WORKING_FILE_REMEDY
) -> Iterator[DuckDBPyConnection]:
    """Open a DuckDB file for a `with` block; `translate_errors` turns errors into WarehouseErrors."""
    with (
        translate_errors(path, remedy),
        duckdb.connect(path, read_only=read_only, config=_CONFIG) as connection,
    ):
        connection.execute(_QUIET)
        yield connection


def quoted(name: str) -> str:
    """Any name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Any text, as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def mappings(answer: DuckDBPyConnection) -> list[dict[str, Any]]:
    """The rows of a result, each as a mapping from column to value."""
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def insert_rows(connection: DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows, which all have the same columns, in one statement: each statement has a fixed cost."""
    if rows:
        names = ", ".join(map(quoted, rows[0]))
        values = ", ".join(f"unnest(${number})" for number in range(1, len(rows[0]) + 1))
        columns = [[row[name] for row in rows] for name in rows[0]]
        connection.execute(f"INSERT INTO {table} ({names}) SELECT {values}", columns)
