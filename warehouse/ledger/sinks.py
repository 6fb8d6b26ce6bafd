"""Sinks: the places outside that something is written to, and how far they were left behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.store.meta_schema import naive_utc, replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ARCHIVE, LAKE = "archive", "lake"


def note_sink(
    connection: DuckDBPyConnection,
    sink: str,
    now: datetime,
    *,
    waiting: int = 0,
    since: datetime | None = None,
    error: str = "",
) -> None:
    """Write down how far a sink was left behind; while it stays so, since when is remembered.

    `since` is when the oldest of what waits began to, where that is known better than by the first note.
    """
    found = connection.execute(
        "SELECT waiting_since_utc FROM meta.sinks WHERE sink = $1 AND waiting_count > 0", [sink]
    ).fetchall()
    [(before,)] = found or [(None,)]
    row = {
        "sink": sink,
        "tried_at_utc": naive_utc(now),
        "waiting_count": waiting,
        "waiting_since_utc": (naive_utc(since) if since else before or naive_utc(now)) if waiting else None,
        "error": error or None,
    }
    replace_rows(connection, "sinks", [row], key=["sink"])


def forget_sinks(connection: DuckDBPyConnection, *, but: Mapping[str, str]) -> None:
    """Let nothing wait for a sink without an address."""
    connection.execute(
        "UPDATE meta.sinks SET waiting_count = 0, error = NULL "
        "WHERE waiting_count > 0 AND NOT list_contains($1, sink)",
        [[sink for sink, address in but.items() if address]],
    )


def was_used(connection: DuckDBPyConnection, sink: str) -> bool:
    """Whether anything was ever written to a sink, or tried."""
    return bool(connection.execute("SELECT 1 FROM meta.sinks WHERE sink = $1", [sink]).fetchall())
