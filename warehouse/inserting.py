"""How do a few rows of ours reach a table? All of them in one statement, as each statement costs the same."""

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection


def insert(connection: DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows whose values stand in the order of the table's columns."""
    if rows:
        values = ", ".join(f"unnest(${number})" for number, _ in enumerate(rows[0], 1))
        connection.execute(f"INSERT INTO {table} SELECT {values}", list(map(list, zip(*rows, strict=True))))
