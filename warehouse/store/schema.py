"""Tables of schema bi: their rows in meta, and how they are created, changed and described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import insert_rows, literal, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.handed_over import ColumnLike

OURS = {
    "_customer": ("VARCHAR", "the requested customer"),
    "_month": ("DATE", "first day of the month the row belongs to; null for a report without months"),
    "_load_id": ("VARCHAR", "the load the row came with, as in meta.loads"),
    "_fetched_at_utc": ("TIMESTAMP", "when the service answered, in UTC"),
    "_row": ("BIGINT", "the row, unique in this table; what _parent_row of its children points to"),
}
PARENT_ROW = {"_parent_row": ("BIGINT", "the row of the parent table that this one is nested in, its _row")}
VALID = {
    "valid_from_utc": ("TIMESTAMP", "since when the row has these values, as far as it was read, in UTC"),
    "valid_to_utc": ("TIMESTAMP", "until when the row had these values, in UTC; null for the current row"),
}
NOTHING = "NULL"
"""The type of a column with nothing but null so far; it is stored as VARCHAR."""
BETWEEN_IDS = "|"
"""The separator of ids that are requested together."""
EXACT = 2**53
"""Beyond this a DOUBLE is not exact for every whole number; undocumented ones are stored as text."""

_HANDED_OVER = ("name", "type", "documented", "source", "description", "name_inferred")


@dataclass(frozen=True)
class StoredColumn:
    """A column of the service's in the file; `type` is NULL while it has nothing but null."""

    name: str
    type: str
    documented: bool
    source: str
    description: str
    first_seen_utc: datetime | None = None
    first_load_id: str | None = None
    name_inferred: bool = False

    @classmethod
    def of(cls, column: ColumnLike) -> StoredColumn:
        """A column as declared, before any load has it."""
        return cls(**{name: getattr(column, name) for name in _HANDED_OVER})


@dataclass
class TableSchema:
    """A table of schema bi: our own columns first, then the service's in order of appearance."""

    name: str
    report: str
    parent: str | None
    history: bool
    key: tuple[str, ...]
    nested: bool
    description: str
    columns: dict[str, StoredColumn] = field(default_factory=dict)  # by lower-case name

    @property
    def public(self) -> str:
        """What analysts read: the table, or the view of a history's current rows."""
        return f"bi.{quoted(self.name)}"

    @property
    def stored_name(self) -> str:
        """The name of the table that holds the rows."""
        return f"{self.name}_history" if self.history else self.name

    @property
    def stored(self) -> str:
        """The table that holds the rows, quoted for SQL."""
        return f"bi.{quoted(self.stored_name)}"

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
        """SQL of the id by which a row was requested; None if the report is not requested by id.

        Its columns are documented, and have no source in the answer; several are joined.
        """
        names = [
            quoted(column.name)
            for column in self.columns.values()
            if column.documented and not column.source and column.name.startswith("asked_")
        ]
        return f" || '{BETWEEN_IDS}' || ".join(names) or None


Tables = dict[str, TableSchema]
"""The tables of schema bi by lower-case name: those that meta knows, and those that a load brings."""


def tables_of_report(tables: Tables, report: str, *, history: bool) -> list[TableSchema]:
    """The tables of a report, parents before their children."""
    mine = {
        name: table for name, table in tables.items() if (table.report, table.history) == (report, history)
    }

    def depth(table: TableSchema) -> int:
        parent = mine.get((table.parent or "").lower())
        return 0 if parent is None else 1 + depth(parent)

    return sorted(mine.values(), key=depth)


def read_tables(connection: DuckDBPyConnection) -> Tables:
    """Every table of schema bi."""
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


def create_table(connection: DuckDBPyConnection, schema: TableSchema) -> None:
    """Create the table in the file: our own columns first, then the service's in their order."""
    ours = {**schema.ours, **(VALID if schema.history else {})}
    columns = [f"{quoted(name)} {type_}" for name, (type_, _) in ours.items()]
    columns += [f"{quoted(column.name)} {_stored_type(column.type)}" for column in schema.columns.values()]
    connection.execute(f"CREATE TABLE IF NOT EXISTS {schema.stored} ({', '.join(columns)})")


def add_columns(connection: DuckDBPyConnection, schema: TableSchema, columns: Iterable[StoredColumn]) -> None:
    """Add columns at the end."""
    for column in columns:
        definition = f"{quoted(column.name)} {_stored_type(column.type)}"
        connection.execute(f"ALTER TABLE {schema.stored} ADD COLUMN {definition}")


def change_type(
    connection: DuckDBPyConnection,
    schema: TableSchema,
    column: StoredColumn,
    type_: str,
    load_id: str | None,
    at_utc: datetime | None,
) -> None:
    """Change the type of a column in place, and record that it changed."""
    name = quoted(column.name)
    if _stored_type(type_) != _stored_type(column.type):
        connection.execute(
            f"ALTER TABLE {schema.stored} ALTER COLUMN {name} SET DATA TYPE {_stored_type(type_)} "
            f"USING {converted(name, column.type, type_)}"
        )
    change = {
        "table_name": schema.name,
        "column_name": column.name,
        "from_type": column.type,
        "to_type": type_,
        "load_id": load_id,
        "changed_at_utc": at_utc,
    }
    insert_rows(connection, "meta.column_changes", [change])


def converted(value: str, source: str, target: str) -> str:
    """SQL that turns a value of one type into another.

    A number becomes the same text whichever way it came: whole numbers are written without a point, so
    that BIGINT -> DOUBLE -> VARCHAR and BIGINT -> VARCHAR agree. A time is written as JSON writes it.
    """
    if source == target:
        return value
    if target == "VARCHAR" and source == "DOUBLE":
        whole = f"{value} = trunc({value}) AND abs({value}) <= {EXACT}"
        exactly = f"CAST(CAST({value} AS BIGINT) AS VARCHAR)"
        return f"CASE WHEN {whole} THEN {exactly} ELSE CAST({value} AS VARCHAR) END"
    if target == "VARCHAR" and source == "TIMESTAMP":
        return f"replace(CAST({value} AS VARCHAR), ' ', 'T')"
    return f"CAST({value} AS {_stored_type(target)})"


def _stored_type(type_: str) -> str:
    return "VARCHAR" if type_ == NOTHING else type_


def describe(connection: DuckDBPyConnection, schemas: Sequence[TableSchema]) -> None:
    """Write the tables, their columns and meanings into schema meta and into comments."""
    names = [schema.name for schema in schemas]
    for table in ("tables", "columns"):
        connection.execute(f"DELETE FROM meta.{table} WHERE list_contains($1, table_name)", [names])
    tables = [
        {
            "table_name": schema.name,
            "report": schema.report,
            "parent_name": schema.parent,
            "history": schema.history,
            "key": list(schema.key),
            "nested": schema.nested,
            "description": schema.description,
        }
        for schema in schemas
    ]
    columns = [
        _column_row(schema, position, column)
        for schema in schemas
        for position, column in enumerate(schema.columns.values())
    ]
    insert_rows(connection, "meta.tables", tables)
    insert_rows(connection, "meta.columns", columns)
    statements = [
        statement
        for schema in schemas
        for statement in (*(_views(schema) if schema.history else ()), *_comments(schema))
    ]
    connection.execute(";".join(statements))


def _column_row(schema: TableSchema, position: int, column: StoredColumn) -> dict[str, object]:
    """The row of meta.columns for a column."""
    row = asdict(column)
    return {"table_name": schema.name, "column_name": row.pop("name"), "position": position, **row}


def _views(schema: TableSchema) -> Iterator[str]:
    """The view of the current rows, and the table macro of the rows at a moment (in UTC)."""
    columns = ", ".join([*map(quoted, schema.ours), *schema.content])
    yield (
        f"CREATE OR REPLACE VIEW {schema.public} AS "
        f"SELECT {columns} FROM {schema.stored} WHERE valid_to_utc IS NULL"
    )
    moment = "CAST(moment AS TIMESTAMP)"
    yield (
        f"CREATE OR REPLACE MACRO bi.{quoted(f'{schema.name}_as_of')}(moment) AS TABLE "
        f"SELECT {columns} FROM {schema.stored} WHERE valid_from_utc <= {moment} "
        f"AND (valid_to_utc IS NULL OR {moment} < valid_to_utc)"
    )


def _comments(schema: TableSchema) -> Iterator[str]:
    meaning = {
        **{name: words for name, (_, words) in schema.ours.items()},
        **{column.name: column.description for column in schema.columns.values()},
    }
    described = [(schema.public, "VIEW" if schema.history else "TABLE", schema.description, meaning)]
    if schema.history:
        whole = {**meaning, **{name: words for name, (_, words) in VALID.items()}}
        described.append((schema.stored, "TABLE", f"{schema.description} With its past.", whole))
    for name, kind, description, columns in described:
        yield f"COMMENT ON {kind} {name} IS {literal(description)}"
        for column, words in columns.items():
            if words:
                yield f"COMMENT ON COLUMN {name}.{quoted(column)} IS {literal(words)}"
