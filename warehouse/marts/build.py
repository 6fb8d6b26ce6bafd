"""Marts, each built from its SQL file, once what the SQL assumes of undocumented tables is examined."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.marts.dictionary import describe
from warehouse.marts.queries import SQL, Query, in_order, queries
from warehouse.marts.relations import declare_relations
from warehouse.store import meta_schema
from warehouse.store.duckdb_file import beside, insert_rows, mappings, quoted

Built = TypeVar("Built")
Arrived = Mapping[str, Sequence[str]]
"""The columns of each table of bi that came from the service."""

LEAST_MB, MOST_MB = 100, 3000
"""What DuckDB need have to build marts, a half more than the file in between; the rest is put beside it.

A file of 69 MB needed 85, and one of 225, with ten million rows, more than 336; of a hundred million rows,
2,200 MB, one mart needed more than 1,000. Without a limit ten million took 2,800 MB and no less CPU time.
"""
LARGE_MB, OF_LARGE_MB = 100, 700
"""From this size on a file's marts get as much at least: what a sync leaves in memory is small beside it."""
OF_PARTS_MB = 700
"""What it need have at most for a mart that is built in parts.

The parts of a hundred million rows' sales were built with 1,000 and not with 2,500: it spills too late then.
"""
ONLY_NUMBER = "*"
"""Beside the columns of a table of which one alone counts something; sql/macros.sql reads it."""
FITS, NOTHING_YET, DIFFERS = "fits", "nothing has arrived", "differs"
"""States of an assumption."""

_NEW_TOTALS = """
INSERT INTO meta.month_totals BY NAME
SELECT now.*
FROM marts.month_totals AS now
LEFT JOIN meta.month_totals AS kept
    ON (kept.report, kept.office_id, kept.month, kept.version)
    = (now.report, now.office_id, now.month, now.version - 1)
WHERE (now.row_count, now.commission, now.price, now.estate_parts, now.is_open)
    IS DISTINCT FROM (kept.row_count, kept.commission, kept.price, kept.estate_parts, kept.is_open)
"""
_NEW_SALE_VERSIONS = """
INSERT INTO meta.sale_versions BY NAME
SELECT
    found.* EXCLUDE (office_name, valid_from_utc, valid_to_utc, _customer, _month, _load_id),
    valid_from_utc AS noted_at_utc, _customer AS customer_id, _load_id AS load_id
FROM marts.sale_versions AS found
ANTI JOIN meta.sale_versions USING (estate_id, version);
UPDATE meta.sale_versions AS kept
SET street_address = found.street_address, agent_ids = found.agent_ids
FROM marts.sale_versions AS found
WHERE (kept.estate_id, kept.version) = (found.estate_id, found.version)
    AND (kept.street_address, kept.agent_ids) IS DISTINCT FROM (found.street_address, found.agent_ids)
"""
_NEW_USER_MONTH_VERSIONS = """
INSERT INTO meta.user_month_versions BY NAME
SELECT
    found.* EXCLUDE (user_name, valid_from_utc, valid_to_utc, is_restatement),
    valid_from_utc AS noted_at_utc
FROM marts.user_month_versions AS found
ANTI JOIN meta.user_month_versions USING (user_id, month, version)
"""
_NEW_LEAD_STATES = """
INSERT INTO meta.lead_states BY NAME
SELECT found.* FROM marts.lead_states AS found
ANTI JOIN meta.lead_states USING (way, lead_id, version)
"""
MEMORY = {
    "marts.month_totals": _NEW_TOTALS,
    "marts.sale_versions": _NEW_SALE_VERSIONS,
    "marts.lead_states": _NEW_LEAD_STATES,
    "marts.user_month_versions": _NEW_USER_MONTH_VERSIONS,
}
"""Marts of which every state is remembered, each in the table of meta that has its name and only grows."""
_ARRIVED = f"""
SELECT
    schema_name || '.' || table_name,
    list(column_name ORDER BY column_index) || if(
        count(*) FILTER (numeric_precision > 0 AND NOT regexp_matches(column_name, 'id$|^year$|^month$')) = 1,
        ['{ONLY_NUMBER}'], []
    )
FROM duckdb_columns()
WHERE schema_name = 'bi' AND database_name = current_database() AND NOT starts_with(column_name, '_')
    AND column_name NOT IN ('valid_from_utc', 'valid_to_utc')
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


class MartError(Exception):
    """A mart cannot be built; the sentence names it, its file and what DuckDB says."""


class MartTooLarge(MartError):
    """A mart cannot be built within the memory that DuckDB was given."""


def build_marts(
    connection: DuckDBPyConnection,
    folder: Path = SQL,
    *,
    wanted: Collection[str] = (),
    memory_limit_mb: int | None = None,
) -> list[str]:
    """Build all marts, in the caller's transaction: readers of the file see the old ones or the new ones.

    With `wanted`, no more than these marts (or views of meta) and what they are made of is there afterwards,
    undescribed.
    Staging exists only while the marts are built. A query that leans on undocumented columns and does
    not find them gives no rows, and says so in meta.assumptions; any other failure raises MartError,
    and the caller rolls back: with a `memory_limit_mb` it may be MartTooLarge, to be tried again with more.
    """
    staging, marts, meta = map(in_order, _layers(folder))
    if wanted:
        needed = _behind(wanted, [*staging, *marts, *meta])
        staging, marts, meta = (
            [query for query in found if query.table in needed] for found in (staging, marts, meta)
        )
    meta_schema.complete(connection)
    macros = "".join(path.read_text(encoding="utf-8") for path in folder.glob("macros.sql"))
    connection.execute(macros)
    arrived: Arrived = dict(connection.execute(_ARRIVED).fetchall())
    staging = [_as_arrived(query, arrived) for query in staging]
    assumed = [query for query in staging if query.expects]
    states = _examine_assumptions(connection, assumed, arrived, macros)
    for schema in ("marts", "staging"):
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")
    for query in staging:
        fits = states.get(query.table) == FITS
        sql = _typed(query, fits=fits) if query.expects else query.sql
        if query.kind == "table":  # a table of the file must not be dropped by the transaction that fills it
            connection.execute(f"CREATE OR REPLACE TEMP TABLE staging_{query.name} AS {sql}")
            sql = f"FROM temp.main.staging_{query.name}"
        _create(connection, query, "VIEW", sql)
    for query in marts:
        if memory_limit_mb:
            limit = min(memory_limit_mb, OF_PARTS_MB) if query.for_each else memory_limit_mb
            connection.execute(f"SET memory_limit = '{limit}MB'")
        _create(connection, query, query.kind, query.sql)
    connection.execute("RESET memory_limit")
    for query in marts:
        if query.table in MEMORY:
            connection.execute(MEMORY[query.table])
    for query in meta:
        _create(connection, query, f"OR REPLACE {query.kind}", query.sql)
    if not wanted:
        declare_relations(connection, marts, staging)
        describe(connection, [*staging, *marts, *meta])
    connection.execute("DROP SCHEMA staging CASCADE")
    sys.audit("brokerbi.marts_built")
    return [query.table for query in marts]


def within_memory(file: Path, build: Callable[[int | None], Built]) -> Built:
    """What `build` makes of a working file, within the megabytes that it is given: by the size of the file.

    Where these are too few it is done with twice as many, then with what memory DuckDB wants.
    """
    size = file.stat().st_size // 1_000_000
    least = LEAST_MB if size < LARGE_MB else OF_LARGE_MB
    enough = min(max(least, size * 3 // 2), MOST_MB)
    for limit_mb in (enough, 2 * enough):
        with suppress(MartTooLarge):
            return build(limit_mb)
    return build(None)


def queries_behind(wanted: Iterable[str], folder: Path = SQL) -> list[Query]:
    """The queries of some marts, and those of all they are made of."""
    known = [query for layer in _layers(folder) for query in layer]
    needed = _behind(wanted, known)
    return [query for query in known if query.table in needed]


def _layers(folder: Path) -> list[list[Query]]:
    """The queries of staging, of marts and of meta."""
    return [queries(folder / schema, schema) for schema in ("staging", "marts", "meta")]


def _behind(wanted: Iterable[str], known: Iterable[Query]) -> set[str]:
    """The names of these marts, and of all that they are made of."""
    by_table = {query.table: query for query in known}
    found: set[str] = set()
    waiting = [*wanted]
    while waiting:
        table = waiting.pop()
        if table in by_table and table not in found:
            found.add(table)
            waiting.extend(map(".".join, by_table[table].reads))
    return found


def _create(connection: DuckDBPyConnection, query: Query, kind: str, sql: str) -> None:
    if query.parameters:
        statement = f"CREATE MACRO {query.table}({', '.join(query.parameters)}) AS TABLE {sql}"
    else:
        statement = f"CREATE {kind} {query.table} AS {sql}"
    try:
        for part in mappings(connection.execute(query.for_each)) if query.for_each else [{}]:
            for name, value in part.items():
                connection.execute(f"SET VARIABLE {quoted(name)} = $1", [value])
            connection.execute(statement)
            statement = f"INSERT INTO {query.table} {sql}"
    except duckdb.Error as error:
        failed = MartTooLarge if isinstance(error, duckdb.OutOfMemoryException) else MartError
        raise failed(f"{query.table} cannot be built from {query.path}: {error}") from error


def _examine_assumptions(
    connection: DuckDBPyConnection, assumed: Sequence[Query], arrived: Arrived, macros: str
) -> dict[str, str]:
    """Write meta.assumptions anew, from what has arrived; the answer is the state of each query."""
    connection.execute("DELETE FROM meta.assumptions")
    sources = [(query, _sources(connection, query, arrived)) for query in assumed]
    failures = _failures(connection, [query for query, found in sources if not _missing(found)], macros)
    rows: list[dict[str, object]] = []
    for query, found in sources:
        state, message = FITS, ""
        if missing := _missing(found):
            may_differ = any(source["row_count"] for source in found)
            differs = may_differ and not _is_list_empty(connection, query, arrived, missing)
            state = DIFFERS if differs else NOTHING_YET
            message = f"{query.path.name} expects {', '.join(missing)}"
        elif error := failures.get(query.table):
            state, message = DIFFERS, f"{query.path.name} does not run on what arrived: {error}"
        rows += [{**source, "state": state, "message": message} for source in found]
    insert_rows(connection, "meta.assumptions", rows)
    return {str(row["query"]): str(row["state"]) for row in rows}


def _as_arrived(query: Query, arrived: Arrived) -> Query:
    """A query of what its header says may take the place of a table that has not arrived as expected.

    That is the only list that has all that is expected of it, or the rows that it would be nested in.
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
    """A query that reads a table in place of the one that it names: a list, or the rows above it."""
    is_above = named.startswith(f"{table.removesuffix('_history')}__")
    rows = f"(SELECT * REPLACE (_row AS _parent_row) FROM {table})" if is_above else table
    others = {one: some for one, some in query.expects.items() if one != named}
    return replace(
        query,
        expects=others | {table: f"{others.get(table, '')} {columns}"},
        sql=re.sub(rf"\b{named}\b", rows, query.sql),
        reads=query.reads - {_parts(named)} | {_parts(table)},
    )


def _parts(table: str) -> tuple[str, str]:
    schema, _, name = table.partition(".")
    return schema, name


def _lacking(columns: str, found: Collection[str]) -> list[str]:
    return [name for name in _names(columns) if not {*name.split("|")} & {*found}]


def _sources(connection: DuckDBPyConnection, query: Query, arrived: Arrived) -> list[dict[str, Any]]:
    """What a query assumes of each table, beside what has arrived in it: columns of meta.assumptions."""
    sources = []
    for table, columns in query.expects.items():
        expected = _names(columns)
        found = arrived.get(table, ())
        count = 0
        if found:
            [(count,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
        sources.append(
            {
                "query": query.table,
                "source": table,
                "expected_columns": expected,
                "arrived_columns": [name for name in found if name != ONLY_NUMBER],
                "missing_columns": [
                    name.replace("*", "the only number").replace("|", " or ")
                    for name in _lacking(columns, found)
                ],
                "row_count": count,
            }
        )
    return sources


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


def _names(columns: str) -> list[str]:
    return columns.replace(",", " ").split()


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
        f"{table}.{name}" for table, some in query.expects.items() for name in _names(some.replace("|", ","))
    ]
    values = [f"{root}__", list(query.expects), columns]
    return connection.execute(_HOLDS_OTHER_NUMBERS, values).fetchone() is None


def _typed(query: Query, *, fits: bool = True) -> str:
    """A query with the column types that its header declares; without a row unless its assumption fits."""
    columns = ", ".join(
        f"CAST({name if fits else 'NULL'} AS {kind}) AS {name}" for name, kind in query.types.items()
    )
    return f"SELECT {columns} FROM ({query.sql}) AS assumed" if fits else f"SELECT {columns} WHERE false"
