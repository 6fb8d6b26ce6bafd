"""Keys, relations and sources of the tables, in meta.keys, meta.relations and meta.mart_sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from duckdb import DuckDBPyConnection

from warehouse.marts.queries import Query
from warehouse.store.duckdb_file import insert_rows

POINTED_AT = {
    "office_id": ("marts", "offices"),
    "user_id": ("marts", "users"),
    "estate_id": ("marts", "sales"),
    "customer_id": ("marts", "customers"),
}
"""The marts of what a row may point at, by their key; a column may say more before it (listing_office_id)."""

_COLUMNS = """
SELECT schema_name, table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name IN ('bi', 'marts') GROUP BY ALL ORDER BY ALL
"""
_PARENTS = "SELECT table_name, parent_name, key FROM meta.tables ORDER BY ALL"


def declare_relations(
    connection: DuckDBPyConnection, built: Sequence[Query], staging: Sequence[Query]
) -> None:
    """Write down the keys of marts and bi, what points at what, and what marts are made of."""
    tables = {(schema, table): columns for schema, table, columns in connection.execute(_COLUMNS).fetchall()}
    keys = [
        {"schema_name": "marts", "table_name": query.name, "columns": list(query.key), "kind": "grain"}
        for query in built
        if query.schema == "marts" and query.key and ("marts", query.name) in tables
    ]
    relations = [
        one for (schema, table), names in tables.items() for one in _of(schema, table, names, tables)
    ]
    for table, parent, key in connection.execute(_PARENTS).fetchall():
        columns = tables.get(("bi", table), ())
        # A row keeps its number from version to version of a history.
        for name, unique, kind in (
            (table, ["_row"], "row"),
            (f"{table}_history", ["_row", "valid_from_utc"], "row"),
            (table, key, "documented"),
        ):
            if unique and set(unique) <= set(tables.get(("bi", name), ())):
                keys.append({"schema_name": "bi", "table_name": name, "columns": unique, "kind": kind})
        if "_parent_row" in columns and parent:
            relations.append(_relation("bi", table, "_parent_row", ("bi", parent), "_row", "parent"))
    sources = [
        {"table_name": query.name, "from_schema_name": schema, "from_table_name": table}
        for query in built
        for schema, table in sorted(sources_of(query, staging))
    ]
    for name, rows in (("keys", keys), ("relations", relations), ("mart_sources", sources)):
        connection.execute(f"DELETE FROM meta.{name}")
        insert_rows(connection, f"meta.{name}", rows)


def sources_of(query: Query, staging: Iterable[Query]) -> set[tuple[str, str]]:
    """The tables of bi, marts and meta that a query reads, directly or through staging."""
    staged = {one.table: one for one in staging}
    found: set[tuple[str, str]] = set()
    waiting = [query]
    while waiting:
        for schema, name in waiting.pop().reads:
            if (through := staged.get(f"{schema}.{name}")) is not None:
                waiting.append(through)
            else:
                found.add((schema, name))
    return found


def _of(
    schema: str, table: str, columns: Sequence[str], tables: Mapping[tuple[str, str], Sequence[str]]
) -> Iterator[dict[str, object]]:
    """What the columns of a table point at, judged by their names."""
    for column in columns:
        if column == "_load_id":
            yield _relation(schema, table, column, ("meta", "loads"), "load_id", "load")
        for key, pointed in POINTED_AT.items():
            is_named = column == key or column.endswith(f"_{key}")
            if schema == "marts" and is_named and pointed in tables and pointed != (schema, table):
                yield _relation(schema, table, column, pointed, key, "id")


def _relation(
    schema: str, table: str, column: str, pointed: tuple[str, str], key: str, kind: str
) -> dict[str, object]:
    return {
        "schema_name": schema,
        "table_name": table,
        "columns": [column],
        "to_schema_name": pointed[0],
        "to_table_name": pointed[1],
        "to_columns": [key],
        "kind": kind,
    }
