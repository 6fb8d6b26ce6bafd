"""Rebuilding the working file: the old rows are copied to a new file, for a replay of the stored answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from warehouse.ledger.stored_answers import CURRENT_LOADS, WINDOW_COLUMNS
from warehouse.load.landing import LandingFile
from warehouse.load.load import next_load_number
from warehouse.load.schema_evolution import create_table, describe
from warehouse.store.checkpoint_journal import open_for_writing
from warehouse.store.database import Store
from warehouse.store.duckdb_file import insert_rows, literal
from warehouse.store.files import replacement
from warehouse.store.meta_schema import naive_utc
from warehouse.store.schema import read_tables

REBUILDING = "rebuilding"
"""The folder below work/ in which a file is rebuilt; a killed process leaves it behind."""

_RENUMBER_LOADS = """
UPDATE meta.loads AS loads SET load_number = numbered.load_number
FROM (
    SELECT load_id, $1 - 1 + row_number() OVER (ORDER BY fetched_at_utc, load_number) AS load_number
    FROM meta.loads WHERE load_number IS NOT NULL
) AS numbered
WHERE loads.load_id = numbered.load_id
"""
"""The new numbers exceed all old ones, because `_row` is made from a load's number and must stay unique."""
_COPIES = """
WITH columns AS (
    SELECT database_name, table_name, column_name, '"' || column_name || '"' AS quoted
    FROM duckdb_columns() SEMI JOIN duckdb_tables() USING (database_name, schema_name, table_name)
    WHERE schema_name = 'meta' AND table_name <> 'storage'
)
SELECT format('INSERT INTO meta.{0} ({1}) SELECT {1} FROM old.meta.{0}', table_name, string_agg(quoted, ', '))
FROM columns SEMI JOIN (FROM columns WHERE database_name = 'old') AS old USING (table_name, column_name)
WHERE database_name = current_database()
GROUP BY table_name
"""
"""For each table of meta except `storage`: a statement that copies the columns that both files have."""
_SUPERSEDED = f"""
UPDATE meta.loads SET status = 'superseded'
WHERE status = 'landed' AND NOT history AND load_id NOT IN ({CURRENT_LOADS})
"""


@contextmanager
def fresh_file(store: Store) -> Iterator[Store]:
    """A new working file with a copy of bi and meta; its folder is removed when the block ends.

    The caller replays the stored answers into it. A row whose answer cannot be replayed stays as it was.
    """
    rebuilt = Store(store.data_dir / "work" / REBUILDING, now=store.now, transform=store.transform)
    shutil.rmtree(rebuilt.data_dir, ignore_errors=True)
    with store.locked() as path, rebuilt.opened() as connection:
        connection.execute(f"ATTACH {literal(str(path))} AS old (READ_ONLY)")
        connection.begin()
        for (statement,) in connection.execute(_COPIES).fetchall():
            connection.execute(statement)
        schemas = list(read_tables(connection).values())
        for schema in schemas:
            create_table(connection, schema)
            connection.execute(f"INSERT INTO {schema.table} BY NAME FROM old.{schema.table}")
        describe(connection, schemas)
        connection.commit()
        connection.execute("DETACH old")
    try:
        yield rebuilt
    finally:
        shutil.rmtree(rebuilt.data_dir, ignore_errors=True)


def replace_file(store: Store, rebuilt: Store) -> None:
    """Replace a working file with a rebuilt one. A kill leaves either the old file or the new one."""
    with store.locked() as path:
        with open_for_writing(path, strict=True):
            pass  # checkpoints the old WAL, which must not be applied to the new file
        with replacement(path, unfinished=store.rewritten) as unfinished:
            rebuilt.path.replace(unfinished)


def record_lost_loads(connection: DuckDBPyConnection, files: Iterable[LandingFile]) -> int:
    """Record the loads that are in landing but not in meta.loads; returns how many of them had no error.

    A load is 'failed' if its file states an error. It is 'superseded' if its report has no history and newer
    loads have all its months. Otherwise it is 'landed', and a replay loads it. Landing does not have
    the load numbers, so all loads are numbered again in the order in which they were fetched.
    """
    recorded = {load_id for (load_id,) in connection.execute("SELECT load_id FROM meta.loads").fetchall()}
    lost = sorted((file for file in files if file.header["load_id"] not in recorded), key=_fetched_at)
    number = next_load_number(connection)
    rows = [_load_row(file, load_number) for load_number, file in enumerate(lost, number)]
    insert_rows(connection, "meta.loads", rows)
    if rows:
        connection.execute(_RENUMBER_LOADS, [number + len(rows)])
        connection.execute(_SUPERSEDED)
    return sum(row["status"] != "failed" for row in rows)


def _load_row(file: LandingFile, number: int) -> dict[str, Any]:
    values = {**file.header, **file.trailer}
    failed = bool(values.get("error"))
    return {
        **{name: values.get(name) for name in (*WINDOW_COLUMNS, "note")},
        "error_kind": values.get("error") or None,
        "error": "The answer could not be loaded when it arrived." if failed else None,
        "load_number": None if failed else number,
        "months": values.get("months", []),
        "rows": 0,
        "opened": 0,
        "closed": 0,
        "bytes": values.get("bytes", file.bytes),
        "sha256": file.sha256,
        "fetched_at_utc": _fetched_at(file),
        "status": "failed" if failed else "landed",
        "landing": file.path,
    }


def _fetched_at(file: LandingFile) -> datetime:
    return naive_utc(datetime.fromisoformat(file.trailer["fetched_at_utc"]))
