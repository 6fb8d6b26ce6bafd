"""Tables of schema bi: how they are created, and how their columns are added and widened.

Columns that the catalogue declares exist from the start. An undeclared column is added when it first arrives,
and widened in place later (see `common_type`). If the values of a column become objects or lists, they arrive
as other columns or as a child table. The old column stays, and is null from then on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from warehouse.store.duckdb_file import insert_rows, literal, quoted
from warehouse.store.schema import VALIDITY_COLUMNS, StoredColumn, Tables, TableSchema, read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NULL_TYPE = "NULL"
"""The type of a column that has had only nulls; it is stored as VARCHAR."""
MAX_EXACT = 2**53
"""A DOUBLE cannot hold every whole number beyond this; undeclared columns with larger numbers become text."""
FirstLoad = tuple[str | None, datetime | None]
"""Id and fetch time of the load that added or changed a column; (None, time) if the catalogue changed it."""


@dataclass(frozen=True)
class Batch:
    """Rows with the same columns, ready for one INSERT.

    `columns` has the service's columns by lower-case name. Each has its type as received, or NULL if it has
    only nulls.
    """

    frame: pl.DataFrame
    columns: Mapping[str, StoredColumn]


def declare(
    connection: DuckDBPyConnection,
    declared: Iterable[TableSchema],
    at_utc: datetime,
    *,
    only_missing: bool = False,
) -> None:
    """Create or change tables as declared; columns that are no longer declared stay.

    With `only_missing`, a table that has all its declared columns stays as it is.
    """
    tables = read_tables(connection)
    changed = []
    for table in declared:
        stored = tables.get(table.name.lower())
        if only_missing and stored and table.columns.keys() <= stored.columns.keys():
            continue
        new = _updated_schema(connection, stored, table) if stored else table
        if new != stored:
            _alter(connection, stored, new, lambda _: (None, at_utc))
            changed.append(new)
    if changed:
        describe(connection, changed)
        sys.audit("brokerbi.tables_declared")


def ensure_table(
    connection: DuckDBPyConnection, tables: Tables, declared: TableSchema, batches: Sequence[Batch]
) -> None:
    """Create the table if it does not exist, and add or widen columns for the new values.

    `declared` has only the catalogue's columns; the batches may have others. Raises ValueError if the stored
    table is of another report, if only one of the two has a history, or if only new rows point to a parent.
    """
    key = declared.name.lower()
    stored = tables.get(key)
    new = stored or replace(declared, parent=_parent_of(tables, declared.name))
    if declared.nested and not new.nested:
        raise ValueError(f"rows of {new.name} point to a parent, but the table has no column for it")
    if declared.report != new.report:
        raise ValueError(f"{new.name} is a table of another report ({new.report})")
    if declared.history != new.history:
        raise ValueError(f"{new.name} is stored {'with' if new.history else 'without'} history")
    received: dict[str, list[Batch]] = {}
    for batch in batches:
        for name in batch.columns:
            received.setdefault(name, []).append(batch)
    before = {**declared.columns, **new.columns}
    widened = {name: _widened_column(before.get(name), name, rows) for name, rows in received.items()}
    new = replace(new, columns={**new.columns, **widened})
    if new != stored:
        _alter(connection, stored, new, lambda name: _first_load(name, received[name], before[name].type))
        describe(connection, [new])
        tables[key] = new


def tables_of_report(tables: Tables, report: str) -> list[TableSchema]:
    """The tables of a report, parents before their children."""

    def depth(table: TableSchema) -> int:
        parent = tables.get((table.parent or "").lower())
        return 0 if parent is None else 1 + depth(parent)

    return sorted((table for table in tables.values() if table.report == report), key=depth)


def common_type(types: Iterable[str]) -> str:
    """The narrowest type that holds all values without loss.

    Examples: 1 and 2.5 make a DOUBLE; 1 and true make a VARCHAR. A BIGINT fits into a DOUBLE, because columns
    with whole numbers beyond MAX_EXACT are text already.
    """
    value_types = sorted(set(types) - {NULL_TYPE})
    if len(value_types) < 2:
        return value_types[0] if value_types else NULL_TYPE
    return "DOUBLE" if value_types == ["BIGINT", "DOUBLE"] else "VARCHAR"


def create_table(connection: DuckDBPyConnection, schema: TableSchema) -> None:
    """Create a table unless it exists: our own columns first, then the service's in their order."""
    our_columns = {**schema.our_columns, **(VALIDITY_COLUMNS if schema.history else {})}
    columns = [f"{quoted(name)} {type_}" for name, (type_, _) in our_columns.items()]
    columns += [f"{quoted(column.name)} {_stored_type(column.type)}" for column in schema.columns.values()]
    connection.execute(f"CREATE TABLE IF NOT EXISTS {schema.table} ({', '.join(columns)})")


def describe(connection: DuckDBPyConnection, schemas: Sequence[TableSchema]) -> None:
    """Describe tables and columns in meta and in comments; create the views and macros of histories."""
    names = [[schema.name for schema in schemas]]
    for table in ("tables", "columns"):
        connection.execute(f"DELETE FROM meta.{table} WHERE list_contains($1, table_name)", names)
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
    columns = []
    for schema in schemas:
        for position, column in enumerate(schema.columns.values()):
            row = asdict(column)
            identity = {"table_name": schema.name, "column_name": row.pop("name")}
            columns.append({**identity, "position": position, **row})
    insert_rows(connection, "meta.tables", tables)
    insert_rows(connection, "meta.columns", columns)
    connection.execute(
        ";".join(statement for schema in schemas for statement in _describing_statements(schema))
    )


def conversion(value: str, source: str, target: str) -> str:
    """SQL that converts a value from one type to another.

    A whole number in a DOUBLE becomes the same text as in a BIGINT: '5', not '5.0'. A time is written with
    a T, as in the answers.
    """
    if source == target:
        return value
    if target == "VARCHAR" and source == "DOUBLE":
        is_whole = f"{value} = trunc({value}) AND abs({value}) <= {MAX_EXACT}"
        as_whole = f"CAST(CAST({value} AS BIGINT) AS VARCHAR)"
        return f"CASE WHEN {is_whole} THEN {as_whole} ELSE CAST({value} AS VARCHAR) END"
    if target == "VARCHAR" and source == "TIMESTAMP":
        return f"replace(CAST({value} AS VARCHAR), ' ', 'T')"
    return f"CAST({value} AS {_stored_type(target)})"


def _alter(
    connection: DuckDBPyConnection,
    stored: TableSchema | None,
    new: TableSchema,
    first_load: Callable[[str], FirstLoad],
) -> None:
    if stored is None:
        create_table(connection, new)
        return
    changes = []
    for name, column in new.columns.items():
        quoted_name, type_ = quoted(column.name), _stored_type(column.type)
        old = stored.columns.get(name)
        if old is None:
            connection.execute(f"ALTER TABLE {new.table} ADD COLUMN {quoted_name} {type_}")
        elif old.type != column.type:
            if type_ != _stored_type(old.type):
                connection.execute(
                    f"ALTER TABLE {new.table} ALTER COLUMN {quoted_name} SET DATA TYPE {type_} "
                    f"USING {conversion(quoted_name, old.type, column.type)}"
                )
            load_id, changed_at = first_load(name)
            changes.append(
                {
                    "table_name": new.name,
                    "column_name": column.name,
                    "from_type": old.type,
                    "to_type": column.type,
                    "load_id": load_id,
                    "changed_at_utc": changed_at,
                }
            )
    insert_rows(connection, "meta.column_changes", changes)


def _updated_schema(
    connection: DuckDBPyConnection, stored: TableSchema, declared: TableSchema
) -> TableSchema:
    """The new schema of a stored table. A column keeps its type if a cast would lose or round a value."""
    if (stored.history, stored.nested) != (declared.history, declared.nested):
        raise ValueError(f"{declared.name} cannot gain or lose its history or its parent; give it a new name")
    columns = {name: replace(column, documented=False) for name, column in stored.columns.items()}
    for name, column in declared.columns.items():
        if old := stored.columns.get(name):
            keeps_type = not _can_cast(connection, stored, old, column.type)
            column = replace(
                column,
                name=old.name,
                type=old.type if keeps_type else column.type,
                first_seen_utc=old.first_seen_utc,
                first_load_id=old.first_load_id,
            )
        columns[name] = column
    return replace(declared, name=stored.name, columns=columns)


def _can_cast(connection: DuckDBPyConnection, schema: TableSchema, column: StoredColumn, type_: str) -> bool:
    """Whether a cast to `type_` loses no value and rounds no number. A cast to DATE may drop the time."""
    if type_ == column.type:
        return True
    value = quoted(column.name)
    lost = f"try_cast({value} AS {type_}) IS NULL"
    if type_.startswith(("DECIMAL", "BIGINT", "DOUBLE")):
        lost += f" OR try_cast({value} AS DOUBLE) <> CAST(try_cast({value} AS {type_}) AS DOUBLE)"
    rows = connection.execute(f"SELECT 1 FROM {schema.table} WHERE {value} IS NOT NULL AND ({lost}) LIMIT 1")
    return not rows.fetchall()


def _parent_of(tables: Tables, name: str) -> str | None:
    """The parent of a new table. For `a__b__c`, this is `a__b`; if that does not exist, `a`; else None."""
    ancestor = name
    while "__" in ancestor:
        ancestor = ancestor.rpartition("__")[0]
        if ancestor.lower() in tables:
            return tables[ancestor.lower()].name
    return None


def _widened_column(old: StoredColumn | None, name: str, batches: Sequence[Batch]) -> StoredColumn:
    column = old or batches[0].columns[name]
    if column.first_seen_utc is None:
        load_id, fetched = _first_load(name, batches)
        column = replace(column, first_load_id=load_id, first_seen_utc=fetched)
    if column.documented:
        return column
    return replace(column, type=common_type([column.type, *(batch.columns[name].type for batch in batches)]))


def _first_load(name: str, batches: Sequence[Batch], old_type: str = NULL_TYPE) -> FirstLoad:
    """The load that brought the first value of a column's new type."""
    # the batch is the first whose type is neither null nor `old_type`, or else the first of all
    batch = min(batches, key=lambda batch: batch.columns[name].type in (NULL_TYPE, old_type))
    row = batch.frame[name].is_not_null().arg_max() or 0  # the first value; the first row if all are null
    return batch.frame["_load_id"][row], batch.frame["_fetched_at_utc"][row]


def _stored_type(type_: str) -> str:
    return "VARCHAR" if type_ == NULL_TYPE else type_


def _describing_statements(schema: TableSchema) -> Iterator[str]:
    """Statements that describe a table; for a history, also those that create its view and its macro."""
    meanings = {
        **{name: meaning for name, (_, meaning) in schema.our_columns.items()},
        **{column.name: column.description for column in schema.columns.values()},
    }
    if not schema.history:
        yield from _comments("TABLE", schema.current_rows, schema.description, meanings)
        return
    columns = ", ".join([*map(quoted, schema.our_columns), *schema.service_columns])
    rows = f"SELECT {columns} FROM {schema.table}"
    macro, moment = quoted(f"{schema.name}_as_of"), "CAST(moment AS TIMESTAMP)"
    yield f"CREATE OR REPLACE VIEW {schema.current_rows} AS {rows} WHERE valid_to_utc IS NULL"
    yield (
        f"CREATE OR REPLACE MACRO bi.{macro}(moment) AS TABLE {rows} "
        f"WHERE valid_from_utc <= {moment} AND (valid_to_utc IS NULL OR {moment} < valid_to_utc)"
    )
    yield from _comments("VIEW", schema.current_rows, schema.description, meanings)
    meanings |= {name: meaning for name, (_, meaning) in VALIDITY_COLUMNS.items()}
    yield from _comments("TABLE", schema.table, f"{schema.description} With history.", meanings)


def _comments(kind: str, table: str, description: str, meanings: Mapping[str, str]) -> Iterator[str]:
    yield f"COMMENT ON {kind} {table} IS {literal(description)}"
    for column, meaning in meanings.items():
        if meaning:
            yield f"COMMENT ON COLUMN {table}.{quoted(column)} IS {literal(meaning)}"
