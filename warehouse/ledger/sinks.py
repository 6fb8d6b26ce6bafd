"""Sinks: the places outside that publications are written to, and whether they were left behind."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.store.meta_schema import naive_utc, replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LAKE = "lake"


def note_lake(connection: DuckDBPyConnection, now: datetime, error: str = "") -> None:
    """Write down that the lake has the latest publication, or why not and since when."""
    found = connection.execute(
        "SELECT waiting_since_utc FROM meta.sinks WHERE sink = $1 AND waiting_count > 0", [LAKE]
    ).fetchall()
    [(before,)] = found or [(None,)]
    row = {
        "sink": LAKE,
        "tried_at_utc": naive_utc(now),
        "waiting_count": int(bool(error)),
        "waiting_since_utc": (before or naive_utc(now)) if error else None,
        "error": error or None,
    }
    replace_rows(connection, "sinks", [row], key=["sink"])


def forget_lake(connection: DuckDBPyConnection) -> None:
    """Let no publication wait for a lake that is not set any more."""
    connection.execute("UPDATE meta.sinks SET waiting_count = 0, error = NULL WHERE waiting_count > 0")


def has_lake(connection: DuckDBPyConnection) -> bool:
    """Whether anything was ever written to a lake, or tried."""
    return bool(connection.execute("SELECT 1 FROM meta.sinks WHERE sink = $1", [LAKE]).fetchall())
