"""News of columns: those that the service sent for the first time, and those that got another type."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.database import Store


@dataclass(frozen=True)
class ColumnNews:
    """A column of a table of a report that is new, or was of the type `before`."""

    report: str
    table: str
    column: str
    type: str
    before: str | None = None

    @property
    def words(self) -> str:
        """What happened to it, for a sentence."""
        name = f"{self.table}.{self.column}"
        return (
            f"{name} turned from {self.before} into {self.type}"
            if self.before
            else f"{name} is new ({self.type})"
        )


# All columns of a table that is new itself are no news.
_NEWS = """
    SELECT report, table_name, column_name, type, NULL
    FROM meta.columns INNER JOIN meta.tables USING (table_name)
    WHERE list_contains($1, first_load_id) AND NOT documented AND table_name IN (
        SELECT table_name FROM meta.columns WHERE NOT list_contains($1, first_load_id)
    )
    UNION ALL
    SELECT report, table_name, column_name, to_type, from_type
    FROM meta.column_changes INNER JOIN meta.tables USING (table_name)
    WHERE list_contains($1, load_id) AND from_type <> 'NULL'
    ORDER BY ALL
"""


def column_news(connection: DuckDBPyConnection, load_ids: Collection[str]) -> list[ColumnNews]:
    """What these loads brought that no load had brought before."""
    if not load_ids:
        return []
    return [ColumnNews(*row) for row in connection.execute(_NEWS, [list(load_ids)]).fetchall()]


def column_news_since(store: Store, moment_utc: datetime) -> list[ColumnNews]:
    """What the loads of answers fetched since a moment brought that no load had brought before."""
    with store.reading() as connection:
        loads = connection.execute(
            "SELECT load_id FROM meta.loads WHERE fetched_at_utc >= $1", [moment_utc.replace(tzinfo=None)]
        ).fetchall()
        return column_news(connection, [load_id for (load_id,) in loads])
