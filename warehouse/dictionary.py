"""The meaning of every schema, table and column: comments in the file, gathered in meta.dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import literal, quoted
from warehouse.queries import Query

SCHEMAS = {
    "bi": "What the service answered: one table per part of a report, under the service's own names.",
    "marts": "Answers to the chain's questions, built from bi; start here.",
    "meta": "What the pipeline knows of itself: loads, held months, columns, problems, this dictionary.",
}
OURS = {
    "_customer": "the customer whose answer the row comes from",
    "_month": "first day of the month of that answer",
    "_load_id": "the load of that answer; joins meta.loads",
    "_row": "the row of bi that this is, its column _row",
}
"""Columns that lead from a mart back to loads; a query says more where there is more to say."""

Words = Mapping[str, Mapping[str, str]]

_OF_BI = "SELECT table_name, column_name, description FROM meta.columns WHERE description <> ''"
_STANDING = """
SELECT schema_name || '.' || table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name IN ('staging', 'marts', 'meta') GROUP BY ALL
"""
_EMPTY = """
CREATE OR REPLACE TABLE meta.dictionary (
    schema_name VARCHAR, table_name VARCHAR, column_name VARCHAR, kind VARCHAR, type VARCHAR,
    description VARCHAR, is_documented BOOLEAN, source VARCHAR, report VARCHAR, first_seen_utc TIMESTAMP
)
"""
_FILL = """
INSERT INTO meta.dictionary
WITH found AS (
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
    found.schema_name, found.table_name, found.column_name, found.kind, found.type,
    coalesce(
        nullif(found.comment, ''),
        CASE WHEN found.kind = 'table macro' THEN tables.description || ' As it was at a moment, in UTC.' END,
        CASE WHEN found.column_name IS NULL THEN 'A list nested in the answers, not documented.' END,
        CASE WHEN NOT columns.documented THEN 'not documented; found in the answer at ' || columns.source END
    ) AS description, columns.documented AS is_documented, columns.source, tables.report,
    columns.first_seen_utc
FROM found
LEFT JOIN meta.tables AS tables
    ON found.schema_name = 'bi'
    AND tables.table_name = regexp_replace(found.table_name, '_(history|as_of)$', '')
LEFT JOIN meta.columns AS columns
    ON columns.table_name = tables.table_name AND columns.column_name = found.column_name
WHERE found.schema_name IN ('bi', 'marts', 'meta')
ORDER BY found.schema_name, found.table_name, found.place
"""
_SCHEMA = "INSERT INTO meta.dictionary (schema_name, kind, description) VALUES ($1, 'schema', $2)"
_OF_DICTIONARY = {
    "schema_name": "bi, marts or meta",
    "table_name": "the table, view or macro; null for the schema itself",
    "column_name": "the column; null for the table itself",
    "kind": "schema, table, view, table macro or column",
    "type": "the type of a column",
    "description": "what it means, with unit, currency and tax where known",
    "is_documented": "whether the service's documentation knows it; null for what is ours",
    "source": "where in the service's answer it stands; null for what is ours",
    "report": "the report it belongs to; null for what is ours",
    "first_seen_utc": "when an answer first had it, in UTC",
}


_OF_VIEWS = {
    "meta.freshness": {
        "report": "name of the report",
        "customer": "the customer that was asked",
        "newest_held_month": "first day of the newest month held; null for a report without months",
        "held_months": "how many months are held",
        "last_success_utc": "when an answer was last loaded, in UTC; null for one that never was",
        "due_utc": "until when the next is due, before this is late, in UTC; null where none is awaited",
        "last_failure_utc": "when asking or loading last failed, in UTC",
        "last_error": "why it failed then",
        "state": "fresh, late, never read, no access (refused since its last success) or switched off (as a "
        "customer or a report of the settings, or only asked on demand), now that you look",
        "is_late": "whether it is late or was never read, so that somebody should look",
    },
    "meta.quarantine": {
        "report": "name of the report",
        "customer": "the customer that was asked",
        "month": "first day of the month the rows belong to; null if unknown",
        "table_name": "the table of bi that the rows are missing in",
        "column_name": "the column that broke its type, if it was one",
        "reason": "what is wrong with the rows",
        "rows": "how many they are",
        "first_place": "where in the answer the first of them stands",
        "load_id": "the latest load that had such rows; joins meta.loads",
        "fetched_at_utc": "when the service gave that answer, in UTC",
    },
}


def describe(connection: DuckDBPyConnection, built: Sequence[Query]) -> None:
    """Write the meaning of every mart and column into the file, and gather everything in meta.dictionary."""
    words = meanings(connection, built)
    for query in built:
        if query.schema != "staging":
            kind = "MACRO TABLE" if query.parameters else "VIEW" if query.schema == "meta" else "TABLE"
            description = f"{query.question} {query.words}"
            comment_table(connection, query.table, description, words[query.table], kind=kind)
    for view, columns in _OF_VIEWS.items():
        comment(connection, _column_comments(view, columns))
    connection.execute(_EMPTY)
    comment_table(connection, "meta.dictionary", "What every table and column here means.", _OF_DICTIONARY)
    connection.execute(_FILL)
    for schema, meaning in SCHEMAS.items():
        connection.execute(_SCHEMA, [schema, meaning])


def comment_table(
    connection: DuckDBPyConnection,
    table: str,
    description: str,
    columns: Mapping[str, str],
    *,
    kind: str = "TABLE",
) -> None:
    """Describe one table, view or table macro of ours and its columns."""
    of_table = f"COMMENT ON {kind} {table} IS {literal(description)}"
    comment(connection, [of_table, *_column_comments(table, columns)])


def comment(connection: DuckDBPyConnection, statements: Sequence[str]) -> None:
    """Run statements that only define or describe something.

    The optimizer has nothing to improve on these, and takes a quarter of their time.
    """
    if statements:
        connection.execute(";".join(["PRAGMA disable_optimizer", *statements, "PRAGMA enable_optimizer"]))


def meanings(connection: DuckDBPyConnection, built: Sequence[Query]) -> Words:
    """The meaning of every column, by table: said where the column is born, handed on to all who read it.

    What two tables that are read mean differently by one name is handed on to nobody.
    """
    words: dict[str, dict[str, str]] = {}
    for table, column, meaning in connection.execute(_OF_BI).fetchall():
        words.setdefault(f"bi.{table}", {})[column] = meaning
    standing: dict[str, list[str]] = dict(connection.execute(_STANDING).fetchall())
    for query in built:
        handed: dict[str, set[str]] = {}
        for schema, name in query.reads:
            for column, meaning in words.get(f"{schema}.{name.removesuffix('_history')}", {}).items():
                handed.setdefault(column, set()).add(meaning)
        agreed = {column: said.copy().pop() for column, said in handed.items() if len(said) == 1}
        known = {**OURS, **agreed, **query.columns}
        words[query.table] = {
            column: known[column] for column in standing.get(query.table, ()) if column in known
        }
    return words


def _column_comments(table: str, columns: Mapping[str, str]) -> list[str]:
    return [
        f"COMMENT ON COLUMN {table}.{quoted(name)} IS {literal(meaning)}" for name, meaning in columns.items()
    ]
