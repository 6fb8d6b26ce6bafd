"""Which tables of the service's rows exist, and with which columns? Read from the file, kept as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from duckdb import DuckDBPyConnection

from warehouse.opening import quoted

OURS = {
    "_customer": ("VARCHAR", "the customer that was asked for"),
    "_month": ("DATE", "first day of the month the row belongs to; null for a report without months"),
    "_load_id": ("VARCHAR", "the load the row came with, as in meta.loads"),
    "_fetched_at_utc": ("TIMESTAMP", "when the service answered, in UTC"),
    "_row": ("BIGINT", "the row, unique in this table; what _parent_row of its children points to"),
}
PARENT_ROW = {"_parent_row": ("BIGINT", "the row of the parent table that this one is nested in, its _row")}
VALID = {
    "valid_from_utc": ("TIMESTAMP", "since when the row is so, as far as was asked, in UTC"),
    "valid_to_utc": ("TIMESTAMP", "until when the row was so, in UTC; null for what is so now"),
}


@dataclass(frozen=True)
class Column:
    """A column of the service's; `type` is NULL while nothing but null has come."""

    name: str
    type: str
    documented: bool
    source: str
    description: str
    first_seen_utc: datetime | None = None
    first_load_id: str | None = None


@dataclass
class Shape:
    """A table of schema bi: our own columns first, then the service's in the order of first sight."""

    name: str
    report: str
    parent: str | None
    history: bool
    key: tuple[str, ...]
    nested: bool
    description: str
    columns: dict[str, Column] = field(default_factory=dict)  # by lower-case name

    @property
    def public(self) -> str:
        """What analysts read: the table, or the view of a history's current rows."""
        return f"bi.{quoted(self.name)}"

    @property
    def stored(self) -> str:
        """Where the rows rest."""
        return f"bi.{quoted(self.stored_name)}"

    @property
    def stored_name(self) -> str:
        return f"{self.name}_history" if self.history else self.name

    @property
    def ours(self) -> dict[str, tuple[str, str]]:
        """Our own columns that analysts see, with type and meaning."""
        return {**OURS, **PARENT_ROW} if self.nested else OURS

    @property
    def content(self) -> list[str]:
        """The service's columns, quoted."""
        return [quoted(column.name) for column in self.columns.values()]

    @property
    def asked(self) -> str | None:
        """SQL of the id that a row was asked for by, if rows are asked for one by one."""
        names = [quoted(one.name) for one in self.columns.values() if one.name.startswith("asked_")]
        return f"coalesce({', '.join(names)})" if names else None


def read_shapes(connection: DuckDBPyConnection) -> dict[str, Shape]:
    """Every known table by its name in lower case, also one that was dropped by hand."""
    shapes = {
        name.lower(): Shape(name, report, parent, history, tuple(key), nested, description)
        for name, report, parent, history, key, nested, description in connection.execute(
            "SELECT table_name, report, parent_name, history, key, nested, description FROM meta.tables"
        ).fetchall()
    }
    for table, *rest in connection.execute(
        """
        SELECT table_name, column_name, type, documented, source, description, first_seen_utc, first_load_id
        FROM meta.columns ORDER BY table_name, position
        """
    ).fetchall():
        shapes[table.lower()].columns[rest[0].lower()] = Column(*rest)
    return shapes


def of_report(shapes: dict[str, Shape], report: str, *, history: bool) -> list[Shape]:
    """The tables of a report, parents before their children."""
    mine = {
        name: shape for name, shape in shapes.items() if (shape.report, shape.history) == (report, history)
    }

    def depth(shape: Shape) -> int:
        parent = mine.get((shape.parent or "").lower())
        return 0 if parent is None else 1 + depth(parent)

    return sorted(mine.values(), key=depth)


def stored_tables(connection: DuckDBPyConnection) -> set[str]:
    """The names of all tables that stand in schema bi."""
    found = connection.execute(
        "SELECT table_name FROM duckdb_tables() "
        "WHERE schema_name = 'bi' AND database_name = current_database()"
    )
    return {name for (name,) in found.fetchall()}
