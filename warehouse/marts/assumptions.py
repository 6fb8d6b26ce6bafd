"""What staging assumes of undocumented tables: tried on what has arrived, and told in meta.assumptions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.marts.nested_rows import (
    ALONE,
    ANY_LIST,
    ANY_NUMBER,
    BELOW,
    MARKS,
    ONLY_NUMBER,
    may_stand_for_others,
    names_in,
    parts_of,
    reading_nested,
)
from warehouse.marts.queries import Query
from warehouse.store.duckdb_file import beside, insert_rows

Arrived = Mapping[str, Sequence[str]]
"""The columns of each table of bi that came from the service."""
FITS, NOTHING_YET, DIFFERS = "fits", "nothing has arrived", "differs"
"""States of an assumption."""

_ARRIVED = f"""
WITH columns AS (
    SELECT
        schema_name || '.' || table_name AS name,
        column_name,
        column_index,
        data_type,
        numeric_precision > 0 AND NOT regexp_matches(column_name, 'id$|(^|_)(year|month)$') AS is_number
    FROM duckdb_columns()
    WHERE schema_name = 'bi' AND database_name = current_database() AND NOT starts_with(column_name, '_')
        AND column_name NOT IN ('valid_from_utc', 'valid_to_utc')
)

SELECT
    name,
    list(column_name ORDER BY column_index)
    || if(count(*) FILTER (is_number) = 1, ['{ONLY_NUMBER}'], [])
    || if(coalesce(bool_or(is_number), false), ['{ANY_NUMBER}'], [])
    || if(bool_or(data_type = 'JSON'), ['{ANY_LIST}'], [])
FROM columns
GROUP BY ALL
"""

_HOLDS_OTHER_NUMBERS = """
SELECT 1 FROM duckdb_columns()
WHERE schema_name = 'bi' AND database_name = current_database() AND NOT starts_with(column_name, '_')
    AND (
        starts_with(table_name, $1)
        AND NOT list_has_any($2, ['bi.' || table_name, 'bi.' || table_name || '_history'])
        OR list_contains($2, 'bi.' || table_name)
        AND NOT list_contains($3, 'bi.' || table_name || '.' || column_name)
        AND (numeric_precision IS NOT NULL OR data_type = 'JSON')
    )
LIMIT 1
"""
"""Whether lists below a table, or its columns, hold what may be the amounts that are looked for elsewhere."""


def fitted(connection: DuckDBPyConnection, staging: Iterable[Query], macros: str) -> list[Query]:
    """The queries of staging as what has arrived lets them be; meta.assumptions is written anew, from it.

    A query that leans on undocumented columns reads the table that stands for the one it names, has the types
    that its header declares, and gives no row where it does not find them; any other is as it was.
    """
    arrived: Arrived = dict(connection.execute(_ARRIVED).fetchall())
    queries = [_as_arrived(reading_nested(query, arrived), arrived) for query in staging]
    nested = {
        query.table: entry.removesuffix(BELOW)
        for query in staging
        for entry in list(query.expects)[:1]
        if entry.endswith(BELOW)
    }
    connection.execute("DELETE FROM meta.assumptions")
    sources = {query.table: _sources(connection, query, arrived) for query in queries if query.expects}
    complete = [query for query in queries if query.expects and not _missing(sources[query.table])]
    failures = _failures(connection, complete, macros)
    rows: list[dict[str, object]] = []
    made: list[Query] = []
    for query in queries:
        found = sources.get(query.table)
        if not found:
            made.append(query)
            continue
        state, message = FITS, ""
        if missing := _missing(found):
            filled = [source["source"] for source in found if source["row_count"]]
            if root := nested.get(query.table):
                differs = may_stand_for_others(root, arrived, _filled(connection, root, arrived))
            else:
                differs = bool(filled) and not _is_list_empty(connection, query, arrived, missing)
            state = DIFFERS if differs else NOTHING_YET
            message = f"{query.path.name} expects {', '.join(missing)}"
        elif error := failures.get(query.table):
            state, message = DIFFERS, f"{query.path.name} does not run on what arrived: {error}"
        rows += [{**source, "state": state, "message": message} for source in found]
        made.append(replace(query, sql=_typed(query) if state == FITS else _without_rows(query)))
    insert_rows(connection, "meta.assumptions", rows)
    return made


def _as_arrived(query: Query, arrived: Arrived) -> Query:
    """A query of what its header says may take the place of a table that has not arrived as expected.

    That is the only list that has all that is expected of it.
    """
    named = ""  # the table that the SQL names, and `or` is about
    for entry, columns in query.expects.items():
        pattern = entry.removeprefix("or ")
        expects = {table: some for table, some in query.expects.items() if table != entry}
        if pattern == entry:
            named = entry
        elif named not in expects or not _lacking(expects[named], arrived.get(named, ())):
            query = replace(query, expects=expects)
        else:
            lists = [one for one in arrived if re.fullmatch(pattern.replace("*", "((?!__).)+"), one)]
            fitting = [one for one in lists if not _lacking(columns, arrived[one])]
            if len(fitting) == 1:
                query = _reading(replace(query, expects=expects), named, fitting[0], columns)
            else:  # what arrived is told beside what was expected
                told = {one: columns for one in lists if "*" in pattern}
                query = replace(query, expects=told | expects)
    return query


def _reading(query: Query, named: str, table: str, columns: str) -> Query:
    """A query that reads a list in place of the table that it names."""
    others = {one: some for one, some in query.expects.items() if one != named}
    return replace(
        query,
        expects=others | {table: f"{others.get(table, '')} {columns}"},
        sql=re.sub(rf"\b{named}\b", table, query.sql),
        reads=query.reads - {parts_of(named)} | {parts_of(table)},
    )


def _lacking(columns: str, found: Collection[str]) -> list[str]:
    return [name for name in names_in(columns) if not {*name.split("|")} & {*found}]


def _sources(connection: DuckDBPyConnection, query: Query, arrived: Arrived) -> list[dict[str, Any]]:
    """What a query assumes of each table, beside what has arrived in it: columns of meta.assumptions."""
    sources = []
    for table, columns in query.expects.items():
        expected = names_in(columns)
        found = arrived.get(table, ())
        count = 0
        if found:
            [(count,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
        sources.append(
            {
                "query": query.table,
                "source": table,
                "expected_columns": expected,
                "arrived_columns": [name for name in found if name not in MARKS],
                "missing_columns": [_in_words(name) for name in _lacking(columns, found)],
                "row_count": count,
            }
        )
    return sources


def _in_words(name: str) -> str:
    words = {ONLY_NUMBER: "the only number", ANY_NUMBER: "a number", ALONE: "such rows in one list alone"}
    return " or ".join(words.get(one, one) for one in name.split("|"))


def _filled(connection: DuckDBPyConnection, root: str, arrived: Arrived) -> list[str]:
    """The table of a report and the lists below it that have any row."""
    tables = [one for one in arrived if one.startswith(root.removesuffix("_history"))]
    return [one for one in tables if connection.execute(f"SELECT 1 FROM {one} LIMIT 1").fetchone()]


def _missing(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{source['source']}.{name}" for source in sources for name in source["missing_columns"]]


def _failures(
    connection: DuckDBPyConnection, complete: Sequence[Query], macros: str
) -> dict[str, duckdb.Error]:
    """The queries that do not run on what arrived, with what DuckDB says.

    A query that fails would abort the caller's transaction, so it is tried beside it, on what is committed.
    """
    failures: dict[str, duckdb.Error] = {}
    if complete:
        with beside(connection) as other:
            other.execute(macros)
            for query in complete:
                try:
                    other.execute(f"SELECT count(hash(answer)) FROM ({_typed(query)}) AS answer").fetchall()
                except duckdb.Error as error:
                    failures[query.table] = error
    return failures


def _is_list_empty(
    connection: DuckDBPyConnection, query: Query, arrived: Arrived, missing: Sequence[str]
) -> bool:
    """Whether all that is missing is a list that had no row yet, and nothing that arrived may stand for it.

    An office that sets no budgets answers so: its users, each without a month.
    """
    if any(name.rpartition(".")[0] in arrived for name in missing):
        return False
    root = next(iter(query.expects)).partition(".")[2].removesuffix("_history")
    columns = [
        f"{table}.{name}"
        for table, some in query.expects.items()
        for name in names_in(some.replace("|", ","))
    ]
    values = [f"{root}__", list(query.expects), columns]
    return connection.execute(_HOLDS_OTHER_NUMBERS, values).fetchone() is None


def _typed(query: Query) -> str:
    """A query with the column types that its header declares."""
    columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in query.types.items())
    return f"SELECT {columns} FROM ({query.sql}) AS assumed"


def _without_rows(query: Query) -> str:
    columns = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in query.types.items())
    return f"SELECT {columns} WHERE false"
