"""Tables of schema bi, as the tables of schema meta describe them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.protocols import ColumnLike

OUR_COLUMNS = {
    "_customer": ("VARCHAR", "the requested customer"),
    "_month": ("DATE", "first day of the month the row belongs to; null for a report without months"),
    "_load_id": ("VARCHAR", "the load the row came with, as in meta.loads"),
    "_fetched_at_utc": ("TIMESTAMP", "when the service answered, in UTC"),
    "_row": ("BIGINT", "number of the row in this table; _parent_row of its children points to it"),
}
PARENT_ROW = {"_parent_row": ("BIGINT", "the _row of the parent row that this one is nested in")}
VALIDITY_COLUMNS = {
    "valid_from_utc": ("TIMESTAMP", "when the row was first read with these values, in UTC"),
    "valid_to_utc": ("TIMESTAMP", "when it was first missing or changed, in UTC; null for the current row"),
}
ID_SEPARATOR = "|"
"""Separates the parts of an id that consists of several columns."""

_DECLARED_FIELDS = ("name", "type", "documented", "source", "description", "name_inferred")


@dataclass(frozen=True)
class StoredColumn:
    """A column that the catalogue declares or an answer has; never one of our own, such as `_row`."""

    name: str
    type: str  # the text NULL while the column has only nulls
    documented: bool  # whether the catalogue declares the column
    source: str  # the JSON path of its values; empty if they come from the request
    description: str
    first_seen_utc: datetime | None = None
    first_load_id: str | None = None
    name_inferred: bool = False  # whether `source` is assumed, not documented by the service

    @classmethod
    def of(cls, column: ColumnLike) -> StoredColumn:
        """A stored column for a declared or received one; `first_seen_utc` and `first_load_id` stay None."""
        return cls(**{name: getattr(column, name) for name in _DECLARED_FIELDS})


@dataclass
class TableSchema:
    """A table of schema bi. `columns` has all columns but our own, in the order in which they were added."""

    name: str
    report: str
    parent: str | None
    history: bool
    key: tuple[str, ...]
    nested: bool
    description: str
    columns: dict[str, StoredColumn] = field(default_factory=dict)  # by lower-case name

    @property
    def current_rows(self) -> str:
        """The table or, for a history, the view with the current rows, quoted for SQL."""
        return f"bi.{quoted(self.name)}"

    @property
    def table(self) -> str:
        """The table with all rows, quoted for SQL."""
        return f"bi.{quoted(f'{self.name}_history' if self.history else self.name)}"

    @property
    def our_columns(self) -> dict[str, tuple[str, str]]:
        """The type and meaning of each of our own columns, except VALIDITY_COLUMNS."""
        return {**OUR_COLUMNS, **PARENT_ROW} if self.nested else OUR_COLUMNS

    @property
    def service_columns(self) -> list[str]:
        """The names of `columns`, quoted for SQL."""
        return [quoted(column.name) for column in self.columns.values()]

    @property
    def requested_id(self) -> str | None:
        """SQL for the id by which a row was requested; None if the report is not requested by id.

        The id is in the columns named `asked_...`, which have no source; ID_SEPARATOR joins several.
        """
        names = [
            quoted(column.name)
            for column in self.columns.values()
            if column.documented and not column.source and column.name.startswith("asked_")
        ]
        return f" || '{ID_SEPARATOR}' || ".join(names) or None


Tables = dict[str, TableSchema]
"""The tables of schema bi by lower-case name. A load adds the tables that it creates."""


def read_tables(connection: DuckDBPyConnection) -> Tables:
    """Every table of schema bi that is described in meta.tables, by lower-case name."""
    tables = {
        name.lower(): TableSchema(name, report, parent, history, tuple(key), nested, description)
        for name, report, parent, history, key, nested, description in connection.execute(
            "SELECT table_name, report, parent_name, history, key, nested, description FROM meta.tables"
        ).fetchall()
    }
    for table, *column in connection.execute(
        """
        SELECT
            table_name, column_name, type, documented, source, description, first_seen_utc, first_load_id,
            coalesce(name_inferred, false)
        FROM meta.columns ORDER BY table_name, position
        """
    ).fetchall():
        tables[table.lower()].columns[column[0].lower()] = StoredColumn(*column)
    return tables
