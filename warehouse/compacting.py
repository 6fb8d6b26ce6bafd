"""How does the working file become small again? Rewritten whole, then put in the place of the old one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.copying import rewrite_file
from warehouse.errors import Damaged
from warehouse.guarding import guarded
from warehouse.opening import PRIVATE_FILE, opened, quoted, remove, sync
from warehouse.working import LOCK_SECONDS, WorkingFile


@dataclass(frozen=True)
class Compacted:
    """The size of the working file before and after."""

    bytes_before: int
    bytes_after: int
    seconds: float


def compact(data_dir: Path, *, lock_seconds: float = LOCK_SECONDS) -> Compacted:
    """Rewrite the working file without what was deleted from it; killed at any moment, one of both stands."""
    began = time.monotonic()
    file = WorkingFile(Path(data_dir), lock_seconds)
    with file.locked() as working:
        before, rewritten = working.stat().st_size, file.rewritten
        try:
            with guarded(working, strict=True) as connection:  # its log must not meet the new file
                rewrite_file(connection, rewritten)
                rows = _rows(connection)
            with opened(rewritten) as connection:
                if _rows(connection) != rows:  # pragma: no cover  # no way is known to make this happen
                    raise Damaged(f"{working} could not be rewritten row by row; it stays as it is.")
                connection.execute("UPDATE meta.storage SET has_traces = false")
                connection.execute("CHECKPOINT")  # closing does the same, but keeps quiet when it fails
            rewritten.chmod(PRIVATE_FILE)
            sync(rewritten)
            rewritten.replace(working)
            sync(working.parent)
        finally:
            remove(rewritten)
        return Compacted(before, working.stat().st_size, time.monotonic() - began)


def _rows(connection: DuckDBPyConnection) -> dict[str, int]:
    """How many rows each table of the open file has."""
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()
    rows = {}
    for schema, table in tables:
        name = f"{quoted(schema)}.{quoted(table)}"
        [(rows[name],)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
    return rows
