"""Suppression of erased persons in rows: their aliases replace their ids.

Personal values and free text become null. Amounts and counts stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from duckdb import DuckDBPyConnection

from warehouse.persons.erased_list import ErasedList
from warehouse.persons.person import Person
from warehouse.persons.personal_data import KINDS, PersonKind, emptied_columns, id_columns
from warehouse.publishing.retention import record_traces
from warehouse.store.duckdb_file import quoted
from warehouse.store.schema import ID_SEPARATOR

if TYPE_CHECKING:
    from warehouse.protocols import Documented

_ID_LISTS = ("agent_ids", "asked")
"""Columns of meta that hold ids of several persons, in a list or joined by ID_SEPARATOR."""
_COLUMNS = """
SELECT schema_name, table_name, list(column_name ORDER BY column_index), list(data_type ORDER BY column_index)
FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
WHERE schema_name IN ('bi', 'meta') AND database_name = current_database()
GROUP BY ALL ORDER BY ALL
"""


Tables = Mapping[str, Mapping[str, str]]
"""The stored tables by their quoted names, each with the types of its columns."""


def stored_tables(connection: DuckDBPyConnection) -> Tables:
    """The tables of bi and meta. Marts are left out, because they are built from these tables."""
    return {
        f"{schema}.{quoted(name)}": dict(zip(columns, types, strict=True))
        for schema, name, columns, types in connection.execute(_COLUMNS).fetchall()
    }


def suppressed_frame(frame: pl.DataFrame, documented: Documented, erased: ErasedList) -> pl.DataFrame:
    """The rows to load, with erased persons suppressed. In a column of numbers their ids become null."""
    for column, kind in id_columns(frame.columns, documented):
        ids = frame[column].cast(pl.String)
        aliases = erased.aliases(kind, ids.drop_nulls().unique())
        if aliases:
            is_erased = ids.is_in(list(aliases)).fill_null(value=False)
            is_text = frame.schema[column] == pl.String
            alias = ids.replace_strict(aliases, default=None, return_dtype=pl.String) if is_text else None
            emptied = emptied_columns(column, frame.columns, documented)
            frame = frame.with_columns(
                pl.when(is_erased).then(alias).otherwise(pl.col(column)).alias(column),
                *(pl.when(~is_erased).then(pl.col(name)).alias(name) for name in emptied),
            )
    return frame


def suppress_tables(
    connection: DuckDBPyConnection, erased: ErasedList, tables: Mapping[str, Documented]
) -> Counter[str]:
    """Suppress erased persons in all stored rows of bi and meta; returns the number of changed rows by table.

    `tables` has the declared columns of each table of bi.
    """
    changed: Counter[str] = Counter()
    documented_by_table = _documented_by_table(tables)
    for table, types in stored_tables(connection).items() if erased.persons else ():
        documented = documented_by_table.get(table, {})
        for column, kind in id_columns(types, documented):
            ids = (str(old_id) for old_id in _distinct(connection, table, column))
            emptied = emptied_columns(column, [*types], documented)
            for old_id, alias in erased.aliases(kind, ids).items():
                if old_id != alias:
                    values = {column: alias if types[column] == "VARCHAR" else None, **dict.fromkeys(emptied)}
                    changed[table] += _update(connection, table, column, old_id, values)
        for column in types.keys() & {*_ID_LISTS} if table.startswith("meta.") else ():
            for old_list in _distinct(connection, table, column):
                new_list = _suppressed_ids(old_list, erased)
                if new_list != old_list:
                    changed[table] += _update(connection, table, column, old_list, {column: new_list})
    if changed.total():
        record_traces(connection)
    return +changed


def kinds_of_id(
    connection: DuckDBPyConnection, id_: str, tables: Mapping[str, Documented]
) -> set[PersonKind]:
    """The kinds of person that have this id in the stored rows of bi."""
    stored = stored_tables(connection)
    return {
        kind
        for table, documented in _documented_by_table(tables).items()
        for column, kind in id_columns(stored.get(table, ()), documented)
        if id_ in map(str, _distinct(connection, table, column, containing=id_))
    }


def _documented_by_table(tables: Mapping[str, Documented]) -> dict[str, Documented]:
    endings = ("", "_history")
    return {f"bi.{quoted(name + end)}": columns for name, columns in tables.items() for end in endings}


def erase_texts(connection: DuckDBPyConnection, person: Person) -> Counter[str]:
    """Replace the person's id, if unmistakable, in all texts; returns the number of changed rows by table."""
    changed: Counter[str] = Counter()
    for table, types in stored_tables(connection).items() if person.is_unmistakable else ():
        for column in (name for name, type_ in types.items() if type_ in ("VARCHAR", "JSON")):
            for text in _distinct(connection, table, column, containing=person.id):
                changed[table] += _update(connection, table, column, text, {column: person.erase_text(text)})
    return changed


def drop_marts(connection: DuckDBPyConnection) -> None:
    """Remove all marts, because they may show erased persons; the next publication builds them again."""
    connection.execute("DROP SCHEMA IF EXISTS marts CASCADE; CREATE SCHEMA marts")


def _distinct(connection: DuckDBPyConnection, table: str, column: str, containing: str = "") -> list[Any]:
    name = quoted(column)
    values = connection.execute(
        f"SELECT DISTINCT {name} FROM {table} WHERE contains({name}::VARCHAR, $1)", [containing]
    )
    return [value for (value,) in values.fetchall()]


def _update(
    connection: DuckDBPyConnection, table: str, column: str, value: Any, new: Mapping[str, Any]
) -> int:
    """Set new values in the rows that have this value in the column; returns the number of rows."""
    assignments = ", ".join(f"{quoted(name)} = ${number}" for number, name in enumerate(new, 2))
    [(rows,)] = connection.execute(
        f"UPDATE {table} SET {assignments} WHERE {quoted(column)} = $1", [value, *new.values()]
    ).fetchall()
    return int(rows)


def _suppressed_ids(ids: Any, erased: ErasedList) -> Any:
    """A list of ids, or ids joined by ID_SEPARATOR, with erased persons suppressed."""
    if isinstance(ids, list):
        return [_suppressed_ids(joined, erased) for joined in ids]
    parts = ids.split(ID_SEPARATOR)
    aliases = {old_id: alias for kind in KINDS for old_id, alias in erased.aliases(kind, parts).items()}
    return ID_SEPARATOR.join(aliases.get(part, part) for part in parts)
