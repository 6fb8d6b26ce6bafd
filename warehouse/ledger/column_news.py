"""News of columns: those that the service sent for the first time, and those that got another type."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.store.meta_schema import naive_utc

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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
    WHERE first_seen_utc >= $1 AND NOT documented AND table_name IN (
        SELECT table_name FROM meta.columns WHERE first_seen_utc < $1
    )
    UNION ALL
    SELECT report, table_name, column_name, to_type, from_type
    FROM meta.column_changes INNER JOIN meta.tables USING (table_name)
    WHERE changed_at_utc >= $1 AND from_type <> 'NULL'
    ORDER BY ALL
"""


def column_news(connection: DuckDBPyConnection, since_utc: datetime) -> list[ColumnNews]:
    """What answers fetched since a moment brought that no answer had brought before."""
    return [ColumnNews(*row) for row in connection.execute(_NEWS, [naive_utc(since_utc)]).fetchall()]
