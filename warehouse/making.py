"""How are the tables of schema bi made and changed? In SQL, with their meaning written beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from duckdb import DuckDBPyConnection

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


def describe(connection: DuckDBPyConnection, shape: Shape) -> None:
    """Write down what a table is and what its columns mean, in schema meta and as comments."""
    connection.execute("DELETE FROM meta.tables WHERE table_name = ?", [shape.name])
    connection.execute(
        "INSERT INTO meta.tables VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            shape.name, shape.report, shape.parent, shape.history, list(shape.key), shape.nested,
            shape.description,
        ],
    )  # fmt: skip
    connection.execute("DELETE FROM meta.columns WHERE table_name = ?", [shape.name])
    rows = [
        (
            shape.name, one.name, one.type, one.documented, one.source, one.description,
            one.first_seen_utc, one.first_load_id, position,
        )
        for position, one in enumerate(shape.columns.values())
    ]  # fmt: skip
    if rows:  # all in one statement: there may be hundreds of them
        values = ", ".join(f"unnest(${number})" for number, _ in enumerate(rows[0], 1))
        connection.execute(
            f"INSERT INTO meta.columns SELECT {values}", list(map(list, zip(*rows, strict=True)))
        )
    if shape.history:
        _show_history(connection, shape)
    for statement in _comments(shape):
        connection.execute(statement)


def _show_history(connection: DuckDBPyConnection, shape: Shape) -> None:
    """The view of what is so now, and the table macro of what was so at a moment (in UTC)."""
    columns = ", ".join([*map(quoted, shape.ours), *shape.content])
    connection.execute(
        f"CREATE OR REPLACE VIEW {shape.public} AS "
        f"SELECT {columns} FROM {shape.stored} WHERE valid_to_utc IS NULL"
    )
    moment = "CAST(moment AS TIMESTAMP)"
    connection.execute(
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
