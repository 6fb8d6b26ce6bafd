"""What must a working file of an older format let go of? Rows in quarantine: landing has them as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_HAS_RAW_ROWS = """
SELECT 1 FROM duckdb_columns() WHERE database_name = current_database() AND schema_name = 'meta'
AND table_name = 'quarantine_rows' AND column_name = 'raw'
"""


def let_raw_rows_go(connection: DuckDBPyConnection) -> None:
    """Keep what tells one from another; the next publication clears what is left in free space."""
    if not connection.execute(_HAS_RAW_ROWS).fetchall():
        return
    connection.execute("UPDATE meta.quarantine_rows SET fingerprint = left(sha256(raw), 32)")
    connection.execute("ALTER TABLE meta.quarantine_rows DROP COLUMN raw")
    connection.execute("UPDATE meta.storage SET has_traces = true")
