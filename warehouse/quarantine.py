"""Where do rows rest that broke their documented type? In quarantine, as long as their load is in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.entering import Entry, naive_utc
from warehouse.loads import RejectedLike
from warehouse.meta_tables import QUARANTINE_ROWS
from warehouse.writing import write

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_OUT_OF_FORCE = """
DELETE FROM meta.quarantine_rows AS old
WHERE list_contains($1, old.report) AND list_contains($2, old.customer)
AND NOT EXISTS (
    FROM meta.months AS held WHERE held.load_id = old.load_id
    AND (old.month IS NULL OR held.month IS NOT DISTINCT FROM old.month)
)
AND NOT EXISTS (FROM meta.history_scopes AS held WHERE held.load_id = old.load_id)
"""
"""A row goes with its month; one of unknown month goes when nothing of its load is in force."""

_SEEN_AGAIN = """
DELETE FROM meta.quarantine_rows AS old USING meta.quarantine_rows AS new
WHERE list_contains($1, new.load_id) AND old.load_id <> new.load_id
AND old.month IS NULL AND new.month IS NULL
AND (old.report, old.customer, old.table_name, old.raw) = (new.report, new.customer, new.table_name, new.raw)
"""
"""Windows overlap, and a row of unknown month belongs to none of them: the newest answer has it."""


def replace_quarantine(connection: DuckDBPyConnection, entries: Sequence[Entry]) -> None:
    """Take in the rows that these loads rejected, and let go of those whose months were replaced."""
    rows = [_row(entry, rejected) for entry in entries for rejected in _rejected(entry)]
    standing = connection.execute("SELECT 1 FROM meta.quarantine_rows LIMIT 1").fetchall()
    if not (rows or standing):
        return
    loads = [entry.load.load_id for entry in entries]
    connection.execute("DELETE FROM meta.quarantine_rows WHERE list_contains($1, load_id)", [loads])
    if rows:
        write(connection, QUARANTINE_ROWS, rows)
        connection.execute("UPDATE meta.storage SET has_traces = true WHERE NOT has_traces")
    pairs = {entry.scope for entry in entries}
    connection.execute(_OUT_OF_FORCE, [[report for report, _ in pairs], [customer for _, customer in pairs]])
    if rows:
        connection.execute(_SEEN_AGAIN, [loads])


def _rejected(entry: Entry) -> list[RejectedLike]:
    return [rejected for rejected in entry.load.rejected if rejected.month not in entry.superseded]


def _row(entry: Entry, rejected: RejectedLike) -> Mapping[str, object]:
    load = entry.load
    return {
        "load_id": load.load_id,
        "report": load.report,
        "customer": load.customer,
        "month": rejected.month if rejected.month in load.months else None,
        "table_name": rejected.table,
        "column_name": rejected.column,
        "place": rejected.place,
        "reason": rejected.reason,
        "raw": rejected.raw,
        "fetched_at_utc": naive_utc(load.fetched_at_utc),
    }
