"""Retention: old answers cleared from landing, and the working file rewritten without what was deleted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.checkpoint_journal import open_for_writing
from warehouse.database import LOCK_SECONDS, Store
from warehouse.duckdb_file import attach_new, connect, quoted
from warehouse.errors import WarehouseError
from warehouse.files import remove, replacement
from warehouse.landing import Landing
from warehouse.meta_schema import naive_utc

DAY = timedelta(days=1)
"""A file that the ledger does not know may be one that is about to be loaded, for so long at least."""

_UNNEEDED = """
FROM meta.loads AS load WHERE landing IS NOT NULL AND fetched_at_utc < $1 AND status <> 'landed'
AND NOT EXISTS (FROM meta.months AS held WHERE held.load_id = load.load_id)
AND NOT EXISTS (FROM meta.history_scopes AS held WHERE held.load_id = load.load_id)
AND NOT EXISTS (FROM meta.quarantine_rows AS bad WHERE bad.load_id = load.load_id)
AND NOT (history AND status = 'loaded' AND opened + closed > 0)
"""
"""Loads that no month and no history in force would be rebuilt from."""


@dataclass(frozen=True)
class Cleared:
    """Landing files that were removed, and their size."""

    files: int
    bytes: int


@dataclass(frozen=True)
class Compacted:
    """The size of the working file before and after."""

    bytes_before: int
    bytes_after: int
    seconds: float


def clear_landing(data_dir: Path, *, days: int, now: datetime, lock_seconds: float = LOCK_SECONDS) -> Cleared:
    """Remove landing files older than so many days that nothing in force needs.

    The ledger lets go of them first: killed in between, the next call removes what is left.
    """
    landing = Landing(Path(data_dir) / "landing")
    oldest = now - timedelta(days=days)
    with Store(data_dir, lock_seconds=lock_seconds).writing() as connection:
        gone = connection.execute(f"SELECT load_id, landing {_UNNEEDED}", [naive_utc(oldest)]).fetchall()
        connection.execute(
            "UPDATE meta.loads SET landing = NULL WHERE list_contains($1, load_id)",
            [[one for one, _ in gone]],
        )
        found = connection.execute("SELECT landing FROM meta.loads WHERE landing IS NOT NULL").fetchall()
    let_go = {landing.root / path for _, path in gone}
    known = {path for (path,) in found}
    unknown = [landing.root / path for path in landing.paths() if path not in known]
    unknown += [landing.root / path for path in landing.held()]
    limit = min(oldest, now - DAY).timestamp()
    files = size = 0
    for path in (*unknown, *landing.unfinished()):
        if path.exists() and (path in let_go or path.stat().st_mtime < limit):
            files += 1
            size += path.stat().st_size
            path.unlink(missing_ok=True)
    return Cleared(files, size)


def compact(data_dir: Path, *, lock_seconds: float = LOCK_SECONDS) -> Compacted:
    """Rewrite the working file without what was deleted; killed at any moment, one of the two is left."""
    began = time.monotonic()
    file = Store(data_dir, lock_seconds=lock_seconds)
    with file.locked() as working:
        before = working.stat().st_size
        with replacement(working, unfinished=file.rewritten) as rewritten:
            with open_for_writing(working, strict=True) as connection:  # its log must not meet the new file
                rewrite_file(connection, rewritten)
                rows = _row_counts(connection)
            with connect(rewritten) as connection:
                if _row_counts(connection) != rows:  # pragma: no cover  # no way is known to make this happen
                    raise WarehouseError(f"{working} could not be rewritten row by row; it stays as it is.")
                connection.execute("UPDATE meta.storage SET has_traces = false")
                connection.execute("CHECKPOINT")  # closing does the same, but keeps quiet when it fails
        return Compacted(before, working.stat().st_size, time.monotonic() - began)


def rewrite_file(connection: DuckDBPyConnection, target: Path) -> None:
    """Write everything that is in the open file into a new one, and nothing that was deleted."""
    remove(target)
    [(source,)] = connection.execute("SELECT current_database()").fetchall()
    attach_new(connection, target, "rewritten")
    connection.execute(f"COPY FROM DATABASE {quoted(source)} TO rewritten")
    connection.execute("CHECKPOINT rewritten")  # detaching does the same, but keeps quiet when it fails
    connection.execute("DETACH rewritten")


def _row_counts(connection: DuckDBPyConnection) -> dict[str, int]:
    """How many rows each table of the open file has."""
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()
    rows = {}
    for schema, table in tables:
        name = f"{quoted(schema)}.{quoted(table)}"
        [(rows[name],)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
    return rows
