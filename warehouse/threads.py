"""On how many threads is a file worked on? On one where it is small: several wake each other for nothing."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

LITTLE = 1_000_000
"""Rows held below which a second thread saves no time and costs a tenth to a quarter more work."""


def spare_threads(connection: DuckDBPyConnection, little: int = LITTLE) -> None:
    """Work on one thread until the file is closed, if it holds little."""
    [(rows,)] = connection.execute('SELECT coalesce(sum("rows"), 0) FROM meta.months').fetchall()
    if rows < little:
        connection.execute("SET threads = 1")
