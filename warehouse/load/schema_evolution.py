"""Tables of schema bi, which grow with documented and received columns.

Documented columns exist from the first day. An unknown column is added when it first arrives, and an
undocumented one is widened in place: null < BOOLEAN | BIGINT < DOUBLE < VARCHAR. A column whose values become
objects or lists arrives as other columns or a child table; the old column stays, and is null from then on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from warehouse.store.duckdb_file import quoted
from warehouse.store.schema import (
    NOTHING,
    StoredColumn,
    Tables,
    TableSchema,
    add_columns,
    change_type,
    create_table,
    describe,
    read_tables,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.handed_over import ColumnLike


@dataclass(frozen=True)
class Batch:
    """Rows with equal columns, ready for one INSERT: our own columns, then the service's.

    The service's columns have lower-case names; `types` are their types as received, NULL for a column with
    nothing but null.
    """

    frame: pl.DataFrame
    columns: Mapping[str, ColumnLike]
    types: Mapping[str, str]


def undeclared(connection: DuckDBPyConnection, declared: Sequence[TableSchema]) -> list[TableSchema]:
    """The declared tables that are missing in the file, or different."""
    documented = {
        schema.name: replace(
            schema,
            columns={name: _declared(column) for name, column in schema.columns.items() if column.documented},
        )
        for schema in read_tables(connection).values()
    }
    return [table for table in declared if documented.get(table.name) != table]


def declare_missing(
    connection: DuckDBPyConnection, declared: Sequence[TableSchema], at_utc: datetime
) -> None:
    """Create the tables and columns that a file of an earlier version lacks; the other tables stay."""
    columns = {schema.name: schema.columns.keys() for schema in read_tables(connection).values()}
    if missing := [table for table in declared if not table.columns.keys() <= columns.get(table.name, set())]:
        declare(connection, missing, at_utc)


def declare(connection: DuckDBPyConnection, declared: Sequence[TableSchema], at_utc: datetime) -> None:
    """Create or change tables as documented; columns that are no longer documented stay."""
    tables = read_tables(connection)
    changed = []
    for table in declared:
        known = tables.get(table.name.lower())
        if known is None:
            create_table(connection, table)
        else:
            _declare_again(connection, known, table, at_utc)
        changed.append(known or table)
    describe(connection, changed)
    sys.audit("brokerbi.tables_declared")


def ensure_table(
    connection: DuckDBPyConnection, tables: Tables, declared: TableSchema, batches: Sequence[Batch]
) -> None:
    """Create the table if it does not exist, and widen its columns for the new values.

    `declared` has only the documented columns; the batches have the others.
    """
    schema = tables.get(declared.name.lower())
    if schema is None:
        schema = replace(declared, parent=_parent_of(tables, declared.name))
        tables[declared.name.lower()] = schema
        create_table(connection, schema)
        describe(connection, [schema])
    if declared.nested and not schema.nested:
        raise ValueError(f"rows of {schema.name} point to a parent, but the table was made without one")
    if (declared.report, declared.history) != (schema.report, schema.history):
        raise ValueError(f"{schema.name} belongs to {schema.report}, not to {declared.report}")
    before = dict(schema.columns)
    for name in dict.fromkeys(name for batch in batches for name in batch.columns):
        with_column = [batch for batch in batches if name in batch.columns]
        schema.columns[name] = _fitted(connection, schema, name, with_column)
    add_columns(connection, schema, [column for name, column in schema.columns.items() if name not in before])
    if schema.columns != before:
        describe(connection, [schema])


def joined(types: Iterable[str]) -> str:
    """The narrowest type that loses nothing: null < BOOLEAN | BIGINT < DOUBLE < VARCHAR.

    Every BIGINT fits into a DOUBLE: larger whole numbers are text already.
    """
    known = sorted(set(types) - {NOTHING})
    if len(known) < 2:
        return known[0] if known else NOTHING
    return "DOUBLE" if known == ["BIGINT", "DOUBLE"] else "VARCHAR"


def _declare_again(
    connection: DuckDBPyConnection, schema: TableSchema, declared: TableSchema, at_utc: datetime
) -> None:
    """Change a stored table as documented; a column keeps its type if values would be lost."""
    if (schema.history, schema.nested) != (declared.history, declared.nested):
        raise ValueError(f"{declared.name} cannot turn into another kind of table; give it a new name")
    schema.report, schema.parent, schema.key = declared.report, declared.parent, declared.key
    schema.description = declared.description
    for name, column in list(schema.columns.items()):
        if name not in declared.columns:
            schema.columns[name] = replace(column, documented=False)
    for name, column in declared.columns.items():
        known = schema.columns.get(name)
        if known is None:
            add_columns(connection, schema, [column])
            schema.columns[name] = column
            continue
        type_ = known.type
        if type_ != column.type and _survives(connection, schema, known, column.type):
            change_type(connection, schema, known, column.type, None, at_utc)
            type_ = column.type
        schema.columns[name] = replace(
            column,
            name=known.name,
            type=type_,
            first_seen_utc=known.first_seen_utc,
            first_load_id=known.first_load_id,
        )


def _survives(connection: DuckDBPyConnection, schema: TableSchema, column: StoredColumn, type_: str) -> bool:
    """Whether every value of a column can be cast to another type."""
    value = quoted(column.name)
    lost = f"try_cast({value} AS {type_}) IS NULL"
    if type_.startswith(("DECIMAL", "BIGINT", "DOUBLE")):
        lost += f" OR try_cast({value} AS DOUBLE) <> CAST(try_cast({value} AS {type_}) AS DOUBLE)"
    found = connection.execute(
        f"SELECT 1 FROM {schema.stored} WHERE {value} IS NOT NULL AND ({lost}) LIMIT 1"
    )
    return not found.fetchall()


def _parent_of(tables: Tables, name: str) -> str | None:
    """The parent of an undeclared table: `a__b` of `a__b__c`, or else `a`."""
    above = name
    while "__" in above:
        above = above.rpartition("__")[0]
        if above.lower() in tables:
            return tables[above.lower()].name
    return None


def _fitted(
    connection: DuckDBPyConnection, schema: TableSchema, name: str, batches: Sequence[Batch]
) -> StoredColumn:
    """The column for both stored and new values; widens a stored column."""
    known = schema.columns.get(name)
    column = known or StoredColumn.of(batches[0].columns[name])
    types = {batch.types[name] for batch in batches}
    if column.first_seen_utc is None and (first := _first_load(name, batches)):
        column = replace(column, first_load_id=first[0], first_seen_utc=first[1])
    if known is None:
        if not column.documented:
            column = replace(column, type=joined(types))
        return column
    if known.documented or types <= {known.type, NOTHING}:
        return column
    type_ = joined({*types, known.type})
    if type_ != known.type:
        wider = [batch for batch in batches if batch.types[name] not in (NOTHING, known.type)]
        load_id, fetched = _first_load(name, wider) or (None, None)
        change_type(connection, schema, known, type_, load_id, fetched)
    return replace(column, type=type_)


def _first_load(name: str, batches: Sequence[Batch]) -> tuple[str, datetime] | None:
    """The first load with values in a column, else the first with the column, and when it was fetched."""
    for batch in [batch for batch in batches if batch.types[name] != NOTHING] or batches:
        if name in batch.frame.columns:
            with_values = batch.frame[name].is_not_null()
            row = (with_values.arg_max() or 0) if with_values.any() else 0
            return batch.frame["_load_id"][row], batch.frame["_fetched_at_utc"][row]
    return None


def _declared(column: StoredColumn) -> StoredColumn:
    """The column without its first load, as the catalogue declares it."""
    return replace(column, first_seen_utc=None, first_load_id=None)
