"""Quarantine: rows that do not fit (type, key or month), listed until their load is replaced.

The working file has only the position of each row, the reason and a checksum, so analysts may see the list.
The values are only in the landing file of the load, which stays while any of its rows is listed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import insert_rows
from warehouse.store.meta_schema import naive_utc

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.load.incoming import Load

FINGERPRINT_DIGITS = 32
"""This many digits of a checksum distinguish all rows."""

_DELETE_OLD = """
DELETE FROM meta.quarantine_rows AS old
WHERE list_contains($1, old.report) AND list_contains($2, old.customer)
AND NOT EXISTS (
    FROM meta.months AS months WHERE months.load_id = old.load_id
    AND (old.month IS NULL OR months.month IS NOT DISTINCT FROM old.month)
)
AND NOT EXISTS (FROM meta.history_scopes AS scopes WHERE scopes.load_id = old.load_id)
"""
"""A row stays until a newer load has its month. If its month is unknown, the row stays until newer loads have
every month of its load. For a report with history, the row stays until newer loads have every month and
requested id of its load (`meta.history_scopes`)."""

_DELETE_REPEATED = """
DELETE FROM meta.quarantine_rows AS old
USING meta.loads AS old_load, meta.quarantine_rows AS new, meta.loads AS new_load
WHERE list_contains($1, new.report) AND list_contains($2, new.customer)
AND old.load_id = old_load.load_id AND new.load_id = new_load.load_id
AND old_load.load_number < new_load.load_number
AND old.month IS NULL AND new.month IS NULL
AND (old.report, old.customer, old.table_name, old.fingerprint)
    = (new.report, new.customer, new.table_name, new.fingerprint)
"""
"""A row of unknown month may be in several answers: only that of the newest load stays."""


def fingerprint(raw: str) -> str:
    """A fingerprint of a received row, which reveals nothing about it."""
    return hashlib.sha256(raw.encode()).hexdigest()[:FINGERPRINT_DIGITS]


def replace_quarantine(connection: DuckDBPyConnection, loads: Sequence[Load]) -> None:
    """Add the rows that these loads rejected, and delete older rows that are replaced or listed again."""
    rows = [
        {
            "load_id": load.result.load_id,
            "report": load.result.report,
            "customer": load.result.customer,
            "month": rejected.month if rejected.month in load.result.months else None,
            "table_name": rejected.table,
            "column_name": rejected.column,
            "place": rejected.place,
            "reason": rejected.reason,
            "fingerprint": fingerprint(rejected.raw),
            "fetched_at_utc": naive_utc(load.result.fetched),
            "row_count": 1,
            "is_undatable": rejected.is_undatable,
        }
        for load in loads
        for rejected in load.result.rejected
        if rejected.month not in load.superseded_months
    ]
    if not (rows or connection.execute("SELECT 1 FROM meta.quarantine_rows LIMIT 1").fetchall()):
        return
    load_ids = [load.result.load_id for load in loads]
    connection.execute("DELETE FROM meta.quarantine_rows WHERE list_contains($1, load_id)", [load_ids])
    insert_rows(connection, "meta.quarantine_rows", rows)
    pairs = {load.result.pair for load in loads}
    parameters = [[report for report, _ in pairs], [customer for _, customer in pairs]]
    connection.execute(_DELETE_OLD, parameters)
    if rows:
        connection.execute(_DELETE_REPEATED, parameters)
