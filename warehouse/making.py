"""How are the tables of schema bi made and changed? In SQL, with their meaning written beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from duckdb import DuckDBPyConnection

from warehouse.dictionary import comment
from warehouse.inserting import insert
from warehouse.opening import literal, quoted
from warehouse.shapes import VALID, Column, Shape
from warehouse.widening import converted, resting


def create(connection: DuckDBPyConnection, shape: Shape) -> None:
    """Make the table of a shape: our own columns first, then the service's in their order."""
    ours = {**shape.ours, **(VALID if shape.history else {})}
    columns = [f"{quoted(name)} {type_}" for name, (type_, _) in ours.items()]
    columns += [f"{quoted(one.name)} {resting(one.type)}" for one in shape.columns.values()]
    connection.execute(f"CREATE TABLE {shape.stored} ({', '.join(columns)})")


def add(connection: DuckDBPyConnection, shape: Shape, column: Column) -> None:
    """Add a column at the end."""
    connection.execute(f"ALTER TABLE {shape.stored} ADD COLUMN {quoted(column.name)} {resting(column.type)}")


def retype(
    connection: DuckDBPyConnection,
    shape: Shape,
    column: Column,
    type_: str,
    load_id: str | None,
    at_utc: datetime,
) -> None:
    """Change the type of a column in place, and remember that it changed."""
    name = quoted(column.name)
    if resting(type_) != resting(column.type):
        connection.execute(
            f"ALTER TABLE {shape.stored} ALTER COLUMN {name} SET DATA TYPE {resting(type_)} "
            f"USING {converted(name, column.type, type_)}"
        )
    connection.execute(
        "INSERT INTO meta.column_changes VALUES (?, ?, ?, ?, ?, ?)",
        [shape.name, column.name, column.type, type_, load_id, at_utc],
    )


def describe(connection: DuckDBPyConnection, shapes: Sequence[Shape]) -> None:
    """Write down what tables are and what their columns mean, in schema meta and as comments."""
    note(connection, shapes)
    statements = [
        statement
        for shape in shapes
        for statement in (*(_views(shape) if shape.history else ()), *_comments(shape))
    ]
    comment(connection, statements)


def note(connection: DuckDBPyConnection, shapes: Sequence[Shape]) -> None:
    """Write tables and columns down in schema meta, all in one statement: there may be hundreds of them."""
    tables = [
        (
            shape.name, shape.report, shape.parent, shape.history, list(shape.key), shape.nested,
            shape.description,
        )
        for shape in shapes
    ]  # fmt: skip
    columns = [
        (
            shape.name, one.name, one.type, one.documented, one.source, one.description,
            one.first_seen_utc, one.first_load_id, position,
        )
        for shape in shapes
        for position, one in enumerate(shape.columns.values())
    ]  # fmt: skip
    for table, rows in (("meta.tables", tables), ("meta.columns", columns)):
        names = [shape.name for shape in shapes]
        connection.execute(f"DELETE FROM {table} WHERE table_name IN (SELECT unnest($1::VARCHAR[]))", [names])
        insert(connection, table, rows)


def _views(shape: Shape) -> Iterator[str]:
    """The view of what is so now, and the table macro of what was so at a moment (in UTC)."""
    columns = ", ".join([*map(quoted, shape.ours), *shape.content])
    yield (
        f"CREATE OR REPLACE VIEW {shape.public} AS "
        f"SELECT {columns} FROM {shape.stored} WHERE valid_to_utc IS NULL"
    )
    moment = "CAST(moment AS TIMESTAMP)"
    yield (
        f"CREATE OR REPLACE MACRO bi.{quoted(f'{shape.name}_as_of')}(moment) AS TABLE "
        f"SELECT {columns} FROM {shape.stored} WHERE valid_from_utc <= {moment} "
        f"AND (valid_to_utc IS NULL OR {moment} < valid_to_utc)"
    )


def _comments(shape: Shape) -> Iterator[str]:
    meaning: Mapping[str, str] = {
        **{name: words for name, (_, words) in shape.ours.items()},
        **{one.name: one.description for one in shape.columns.values()},
    }
    seen = [(shape.public, "VIEW" if shape.history else "TABLE", shape.description, meaning)]
    if shape.history:
        whole = {**meaning, **{name: words for name, (_, words) in VALID.items()}}
        seen.append((shape.stored, "TABLE", f"{shape.description} With its past.", whole))
    for name, kind, description, columns in seen:
        yield f"COMMENT ON {kind} {name} IS {literal(description)}"
        for column, words in columns.items():
            if words:
                yield f"COMMENT ON COLUMN {name}.{quoted(column)} IS {literal(words)}"
