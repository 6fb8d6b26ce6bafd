"""What must a rebuild of the marts not forget? The totals that months had, in a table that only grows."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from warehouse.dictionary import comment_table

TOTALS = "marts.month_totals"
"""The mart whose totals are remembered."""

_TABLE = """
CREATE TABLE IF NOT EXISTS meta.month_totals (
    report VARCHAR, office_id VARCHAR, month DATE, customer_id VARCHAR, load_id VARCHAR,
    loaded_at_utc TIMESTAMP, is_open BOOLEAN, version BIGINT, noted_at_utc TIMESTAMP,
    row_count BIGINT, commission DECIMAL(18, 4), price DECIMAL(18, 4), estate_parts DECIMAL(18, 8)
)
"""
_NEW_TOTALS = """
INSERT INTO meta.month_totals BY NAME
SELECT now.*
FROM marts.month_totals AS now
LEFT JOIN meta.month_totals AS kept
    ON (kept.report, kept.office_id, kept.month, kept.version)
    = (now.report, now.office_id, now.month, now.version - 1)
WHERE (now.row_count, now.commission, now.price, now.estate_parts, now.is_open)
    IS DISTINCT FROM (kept.row_count, kept.commission, kept.price, kept.estate_parts, kept.is_open)
"""
_MEANING = "Every total that a month of a report has had for an office, as builds of the marts found them."
_COLUMNS = {
    "report": "name of the report",
    "office_id": "customer id of the office",
    "month": "first day of the month",
    "customer_id": "the customer whose answer counted",
    "load_id": "the load the total was worked out from; joins meta.loads",
    "loaded_at_utc": "when that load was written",
    "is_open": "whether the month was not over yet when it was asked",
    "version": "1 for the first total, 2 for the next",
    "noted_at_utc": "when the service gave the newest answer that was in the file as this total was found",
    "row_count": "rows that count for the office",
    "commission": "commission in SEK; null where the report has none",
    "price": "prices of what was sold, in SEK; null where the report has none",
    "estate_parts": "homes sold; null where the report has none",
}


def prepare_memory(connection: DuckDBPyConnection) -> None:
    """Make the table of totals, if it is not there."""
    connection.execute(_TABLE)
    comment_table(connection, "meta.month_totals", _MEANING, _COLUMNS)


def remember_totals(connection: DuckDBPyConnection) -> None:
    """Add every total of marts.month_totals that is another than the one remembered last."""
    connection.execute(_NEW_TOTALS)
