"""How do tables keep up with what is documented and what arrives? Columns are added and widened in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from duckdb import DuckDBPyConnection

from warehouse.loads import DeclaredTable
from warehouse.making import add, create, describe, retype
from warehouse.opening import quoted
from warehouse.shapes import Column, Shape, read_shapes, stored_tables
from warehouse.window_result import ColumnLike


def undeclared(connection: DuckDBPyConnection, tables: Sequence[DeclaredTable]) -> list[DeclaredTable]:
    """The declared tables that do not stand in the file as declared."""
    shapes, standing = read_shapes(connection), stored_tables(connection)
    return [table for table in tables if not _stands(shapes.get(table.name.lower()), standing, table)]


def declare(connection: DuckDBPyConnection, tables: Sequence[DeclaredTable], at_utc: datetime) -> None:
    """Bring tables to what is documented of them; columns that are no longer documented stay."""
    shapes, standing = read_shapes(connection), stored_tables(connection)
    declared: list[Shape] = []
    for table in tables:
        shape = shapes.get(table.name.lower())
        declared.append(shape or _shape(table))
        if declared[-1].stored_name not in standing:
            create(connection, declared[-1])
            standing.add(declared[-1].stored_name)
        if shape is not None:
            _declare_again(connection, shape, table, at_utc)
    describe(connection, declared)


def stand(connection: DuckDBPyConnection, shape: Shape, standing: set[str]) -> None:
    """Make the table if it is not there; one dropped by hand comes back as it was, without rows."""
    if shape.stored_name not in standing:
        create(connection, shape)
        describe(connection, [shape])
        standing.add(shape.stored_name)


def _declare_again(
    connection: DuckDBPyConnection, shape: Shape, table: DeclaredTable, at_utc: datetime
) -> None:
    if (shape.history, shape.nested) != (table.history, table.parent is not None):
        raise ValueError(f"{table.name} cannot turn into another kind of table; give it a new name")
    shape.report, shape.parent, shape.key = table.report, table.parent, tuple(table.key)
    shape.description = table.description
    declared = _declared(table)
    for name, column in list(shape.columns.items()):
        if name not in declared:
            shape.columns[name] = replace(column, documented=False)
    for name, column in declared.items():
        shape.columns[name] = _documented(connection, shape, shape.columns.get(name), column, at_utc)


def parent_of(shapes: Mapping[str, Shape], name: str) -> str | None:
    """The table that an undeclared one is nested in: `a__b__c` in `a__b`, or else in `a`."""
    above = name
    while "__" in above:
        above = above.rpartition("__")[0]
        if above.lower() in shapes:
            return shapes[above.lower()].name
    return None


def _documented(
    connection: DuckDBPyConnection, shape: Shape, known: Column | None, column: Column, at_utc: datetime
) -> Column:
    """The column as documented; it keeps its type where its values would not survive the change."""
    if known is None:
        add(connection, shape, column)
        return column
    type_ = known.type
    if type_ != column.type and _survives(connection, shape, known, column.type):
        retype(connection, shape, known, column.type, None, at_utc)
        type_ = column.type
    return replace(
        column,
        name=known.name,
        type=type_,
        first_seen_utc=known.first_seen_utc,
        first_load_id=known.first_load_id,
    )


def _survives(connection: DuckDBPyConnection, shape: Shape, column: Column, type_: str) -> bool:
    value = quoted(column.name)
    lost = f"try_cast({value} AS {type_}) IS NULL"
    if type_.startswith(("DECIMAL", "BIGINT", "DOUBLE")):
        lost += f" OR try_cast({value} AS DOUBLE) <> CAST(try_cast({value} AS {type_}) AS DOUBLE)"
    found = connection.execute(f"SELECT 1 FROM {shape.stored} WHERE {value} IS NOT NULL AND ({lost}) LIMIT 1")
    return not found.fetchall()


def _stands(shape: Shape | None, standing: set[str], table: DeclaredTable) -> bool:
    if shape is None or shape.stored_name not in standing:
        return False
    wanted = _shape(table)
    same_table = replace(wanted, columns=shape.columns) == shape
    documented = {
        name: replace(column, first_seen_utc=None, first_load_id=None)
        for name, column in shape.columns.items()
        if column.documented
    }
    return same_table and documented == wanted.columns


def _shape(table: DeclaredTable) -> Shape:
    return Shape(
        table.name, table.report, table.parent, table.history, tuple(table.key), table.parent is not None,
        table.description, _declared(table),
    )  # fmt: skip


def _declared(table: DeclaredTable) -> dict[str, Column]:
    return {column.name.lower(): as_column(column) for column in table.columns}


def as_column(column: ColumnLike) -> Column:
    """A column as it was handed to us, not seen yet."""
    return Column(column.name, column.type, column.documented, column.source, column.description)
