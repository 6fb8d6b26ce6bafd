"""Retention: old answers removed from landing, and the working file rewritten without deleted rows."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.store.checkpoint_journal import open_for_writing
from warehouse.store.database import Store
from warehouse.store.duckdb_file import connect, literal, quoted
from warehouse.store.files import remove, replacement
from warehouse.store.meta_schema import naive_utc

GRACE = timedelta(days=1)
"""A file that is not in meta.loads is kept at least this long, because its load may be under way."""
LANDING_FILES = "*.tar.zst*"
"""Matches unfinished files (`.tar.zst.part`) too."""

_UNNEEDED = """
FROM meta.loads AS load WHERE landing IS NOT NULL AND fetched_at_utc < $1 AND status <> 'landed'
AND NOT EXISTS (FROM meta.months AS months WHERE months.load_id = load.load_id)
AND NOT EXISTS (FROM meta.history_scopes AS scopes WHERE scopes.load_id = load.load_id)
AND NOT EXISTS (FROM meta.quarantine_rows AS rejected WHERE rejected.load_id = load.load_id)
AND NOT (history AND status = 'loaded' AND opened + closed > 0)
"""
"""Old loads that are no longer needed: no stored month and no history's newest snapshot comes from them.
They have no quarantined rows, changed no history and wait for no replay."""


def clear_landing(data_dir: Path, *, days: int, now: datetime) -> list[Path]:
    """Remove the landing files older than `days` that are unneeded or not in meta.loads; returns their paths.

    First, meta.loads forgets the unneeded files. So after a kill, the next call removes the rest.
    """
    oldest = now - timedelta(days=days)
    with Store(data_dir).writing() as connection:
        unneeded = connection.execute(f"SELECT load_id, landing {_UNNEEDED}", [naive_utc(oldest)]).fetchall()
        connection.execute(
            "UPDATE meta.loads SET landing = NULL WHERE list_contains($1, load_id)",
            [[load_id for load_id, _ in unneeded]],
        )
        needed = connection.execute("SELECT landing FROM meta.loads WHERE landing IS NOT NULL").fetchall()
    landing = Path(data_dir) / "landing"
    forgotten = {landing / path for _, path in unneeded}
    in_ledger = {landing / path for (path,) in needed}
    limit = min(oldest, now - GRACE).timestamp()
    old = [
        path
        for path in landing.rglob(LANDING_FILES)
        if path.exists() and (path in forgotten or (path not in in_ledger and path.stat().st_mtime < limit))
    ]
    for path in old:
        path.unlink(missing_ok=True)
    return old


def record_traces(connection: DuckDBPyConnection) -> None:
    """Record that freed blocks still have deleted personal data: the next publication rewrites the file."""
    connection.execute("UPDATE meta.storage SET has_traces = true")


def compact(data_dir: Path) -> None:
    """Rewrite the working file without deleted rows; if killed, it leaves the old file or the new one."""
    store = Store(data_dir)
    with store.locked() as working, replacement(working, unfinished=store.rewritten) as rewritten:
        with open_for_writing(working, strict=True) as connection:  # checkpoints the old WAL
            rewrite_file(connection, rewritten)
        with connect(rewritten) as connection:
            connection.execute("UPDATE meta.storage SET has_traces = false")
            connection.execute("CHECKPOINT")  # closing does the same, but hides a failure
    sys.audit("brokerbi.compacted")


def rewrite_file(connection: DuckDBPyConnection, target: Path) -> None:
    """Write the open file into a new one, without deleted rows."""
    sys.audit("brokerbi.before_rewriting")
    remove(target)
    [(source,)] = connection.execute("SELECT current_database()").fetchall()
    connection.execute(f"ATTACH {literal(str(target))} AS rewritten")
    connection.execute(f"COPY FROM DATABASE {quoted(source)} TO rewritten")
    connection.execute("CHECKPOINT rewritten")  # detaching does the same, but hides a failure
    connection.execute("DETACH rewritten")
    sys.audit("brokerbi.file_rewritten")
