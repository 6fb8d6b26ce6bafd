"""Keys, relations and sources of tables, stored in meta.keys, meta.relations and meta.mart_sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from duckdb import DuckDBPyConnection

from warehouse.marts.queries import Query
from warehouse.store.duckdb_file import insert_rows

_COLUMNS = """
SELECT schema_name, table_name, column_name FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name IN ('bi', 'marts')
"""
# In a history, the versions of a row have the same `_row`, so their key includes valid_from_utc.
_KEYS_OF_BI = f"""
INSERT INTO meta.keys
SELECT 'bi', name, key, kind
FROM (
    SELECT table_name AS name, ['_row'] AS key, 'row' AS kind FROM meta.tables
    UNION ALL SELECT table_name || '_history', ['_row', 'valid_from_utc'], 'row' FROM meta.tables
    UNION ALL SELECT table_name, key, 'documented' FROM meta.tables WHERE key <> []
) AS keys
JOIN ({_COLUMNS}) AS columns ON columns.schema_name = 'bi' AND columns.table_name = keys.name
GROUP BY ALL
HAVING list_has_all(list(columns.column_name), key)
ORDER BY ALL
"""
# A column refers to a mart if its name is, or ends with, the mart's key: listing_office_id refers to offices.
_RELATIONS = f"""
INSERT INTO meta.relations
WITH columns AS ({_COLUMNS}),

targets AS (
    SELECT unnest(['office_id', 'user_id', 'estate_id', 'customer_id']) AS key,
        unnest(['offices', 'users', 'sales', 'customers']) AS name
)

SELECT schema_name, table_name, [column_name], 'marts', name, [key], 'id'
FROM columns
JOIN targets ON (column_name = key OR ends_with(column_name, '_' || key)) AND table_name <> name
WHERE schema_name = 'marts' AND ('marts', name) IN (SELECT (schema_name, table_name) FROM columns)
UNION ALL
SELECT schema_name, table_name, [column_name], 'meta', 'loads', ['load_id'], 'load'
FROM columns
WHERE column_name = '_load_id'
UNION ALL
SELECT 'bi', table_name, ['_parent_row'], 'bi', parent_name, ['_row'], 'parent'
FROM meta.tables
WHERE ('bi', table_name, '_parent_row') IN (SELECT (schema_name, table_name, column_name) FROM columns)
ORDER BY ALL
"""


def declare_relations(
    connection: DuckDBPyConnection, built: Sequence[Query], staging: Sequence[Query]
) -> None:
    """Store the keys and relations of marts and bi, and the sources of marts."""
    keys = [
        {"schema_name": "marts", "table_name": query.name, "columns": list(query.key), "kind": "grain"}
        for query in built
        if query.key
    ]
    sources = [
        {"table_name": query.name, "from_schema_name": schema, "from_table_name": table}
        for query in built
        for schema, table in sorted(sources_of(query, staging))
    ]
    connection.execute("DELETE FROM meta.keys; DELETE FROM meta.relations; DELETE FROM meta.mart_sources")
    insert_rows(connection, "meta.keys", keys)
    insert_rows(connection, "meta.mart_sources", sources)
    connection.execute(_KEYS_OF_BI)
    connection.execute(_RELATIONS)


def sources_of(query: Query, staging: Iterable[Query]) -> set[tuple[str, str]]:
    """The tables of bi, marts and meta that a query reads, directly or through staging."""
    staged = {layer.table: layer for layer in staging}
    sources: set[tuple[str, str]] = set()
    waiting = [query]
    while waiting:
        for schema, name in waiting.pop().reads:
            if (staging_query := staged.get(f"{schema}.{name}")) is not None:
                waiting.append(staging_query)
            else:
                sources.add((schema, name))
    return sources
