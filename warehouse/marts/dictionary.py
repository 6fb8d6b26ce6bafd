"""Meanings of schemas, tables and columns: comments in the working file, and rows of meta.dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from warehouse.marts.queries import Query
from warehouse.store.duckdb_file import literal, quoted

SCHEMAS = {
    "bi": "What the service answered: one table per part of a report, under the service's own names.",
    "marts": "Answers to the chain's questions, built from bi; start here.",
    "meta": "The pipeline's records: loads, loaded months, columns, conditions, this dictionary.",
}
LINEAGE_COLUMNS = {
    "_customer": "the customer whose answer the row comes from",
    "_month": "first day of the month of that answer",
    "_load_id": "the load of that answer; joins meta.loads",
    "_row": "number (_row) of the row of bi that this row comes from",
}
"""Columns that lead from a mart back to loads. The header of a query may state another meaning for them."""
INFERRED = "; its name in the answer is inferred, not documented"

_SOURCE = r"regexp_replace(columns.source, '[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]', '�', 'g')"
"""SQL for a column's path in the answers. Control characters are replaced, because terminals obey them."""

Meanings = Mapping[str, Mapping[str, str]]

_BI_MEANINGS = "SELECT table_name, column_name, description FROM meta.columns WHERE description <> ''"
_EXISTING = """
SELECT schema_name || '.' || table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name IN ('staging', 'marts', 'meta') GROUP BY ALL
"""
_FILL = f"""
INSERT INTO meta.dictionary
WITH objects AS (
    SELECT schema_name, table_name, NULL AS column_name, 'table' AS kind, NULL AS type, comment, 0 AS place
    FROM duckdb_tables() WHERE database_name = current_database()
    UNION ALL
    SELECT schema_name, view_name, NULL, 'view', NULL, comment, 0
    FROM duckdb_views() WHERE database_name = current_database()
    UNION ALL
    SELECT schema_name, function_name, NULL, 'table macro', NULL, comment, 0
    FROM duckdb_functions() WHERE database_name = current_database() AND function_type = 'table_macro'
    UNION ALL
    SELECT schema_name, table_name, column_name, 'column', data_type, comment, column_index
    FROM duckdb_columns() WHERE database_name = current_database()
)
SELECT
    objects.schema_name, objects.table_name, objects.column_name, objects.kind, objects.type,
    coalesce(
        nullif(objects.comment, '') || CASE WHEN columns.name_inferred THEN $1 ELSE '' END,
        CASE WHEN objects.kind = 'table macro' THEN tables.description || ' As it was at a time in UTC.' END,
        CASE WHEN objects.column_name IS NULL THEN 'A list nested in the answers, not documented.' END,
        CASE WHEN NOT columns.documented THEN 'not documented; found in the answer at ' || {_SOURCE} END
    ) AS description,
    columns.documented AND NOT coalesce(columns.name_inferred, false) AS is_documented,
    {_SOURCE}, tables.report, columns.first_seen_utc
FROM objects
LEFT JOIN meta.tables AS tables
    ON objects.schema_name = 'bi'
    AND tables.table_name = regexp_replace(objects.table_name, '_(history|as_of)$', '')
LEFT JOIN meta.columns AS columns
    ON columns.table_name = tables.table_name AND columns.column_name = objects.column_name
WHERE objects.schema_name IN ('bi', 'marts', 'meta')
ORDER BY objects.schema_name, objects.table_name, objects.place
"""
DECLARED = "tax basis as declared in marts.tax_basis"
"""Ends the meaning of a commission column. `describe` appends the declared basis, such as ": without VAT"."""
_SCHEMA = "INSERT INTO meta.dictionary (schema_name, kind, description) VALUES ($1, 'schema', $2)"


def describe(connection: DuckDBPyConnection, built: Sequence[Query]) -> None:
    """Write the meanings of built tables and columns as comments, and all meanings into meta.dictionary."""
    words = meanings(connection, built)
    if "marts.tax_basis" in words:
        [(basis,)] = connection.execute("SELECT commission_basis FROM marts.tax_basis").fetchall()
        words = {
            table: {
                column: meaning.replace(DECLARED, f"{DECLARED}: {basis}") for column, meaning in texts.items()
            }
            for table, texts in words.items()
        }
    comments = []
    for query in built:
        if query.schema != "staging":
            kind = "MACRO TABLE" if query.parameters else query.kind
            comments.append(
                f"COMMENT ON {kind} {query.table} IS {literal(f'{query.question} {query.notes}')}"
            )
            comments += [
                f"COMMENT ON COLUMN {query.table}.{quoted(column)} IS {literal(meaning)}"
                for column, meaning in words[query.table].items()
            ]
    connection.execute(";".join(comments))
    connection.execute("DELETE FROM meta.dictionary")
    connection.execute(_FILL, [INFERRED])
    for schema, meaning in SCHEMAS.items():
        connection.execute(_SCHEMA, [schema, meaning])


def meanings(connection: DuckDBPyConnection, built: Sequence[Query]) -> Meanings:
    """The meaning of every column that has one, by table and column.

    For a table of bi, it is the description in meta.columns. For any other table, it is in the header of the
    query that builds the table. A column that the header leaves out inherits its meaning from the tables that
    the query reads, unless these have different meanings for it.
    """
    words: dict[str, dict[str, str]] = {}
    for table, column, meaning in connection.execute(_BI_MEANINGS).fetchall():
        words.setdefault(f"bi.{table}", {})[column] = meaning
    existing: dict[str, list[str]] = dict(connection.execute(_EXISTING).fetchall())
    for query in built:
        inherited: dict[str, set[str]] = {}
        for schema, name in query.reads:
            for column, meaning in words.get(f"{schema}.{name.removesuffix('_history')}", {}).items():
                inherited.setdefault(column, set()).add(meaning)
        agreed = {column: texts.copy().pop() for column, texts in inherited.items() if len(texts) == 1}
        merged = {**LINEAGE_COLUMNS, **agreed, **query.columns}
        words[query.table] = {
            column: merged[column] for column in existing.get(query.table, ()) if column in merged
        }
    return words


def meanings_of_columns(connection: DuckDBPyConnection, schema: str) -> dict[str, dict[str, str]]:
    """The meaning of every column of a schema, by table and column; empty for a column without one."""
    meanings_by_table: dict[str, dict[str, str]] = {}
    for table, column, description in connection.execute(
        "SELECT table_name, column_name, description FROM meta.dictionary "
        "WHERE schema_name = $1 AND column_name IS NOT NULL",
        [schema],
    ).fetchall():
        meanings_by_table.setdefault(table, {})[column] = description or ""
    return meanings_by_table
