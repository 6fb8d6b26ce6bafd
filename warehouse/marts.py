"""How do landed rows become answers? Builds every mart from its file, in the order that the SQL says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.assumptions import assumed_query, examine_assumptions, record_assumptions
from warehouse.checks import prepare_results
from warehouse.configured import prepare_configuration
from warehouse.dictionary import describe
from warehouse.queries import SQL, Query, QueryError, queries
from warehouse.remembering import TOTALS, prepare_memory, remember_totals


class MartError(Exception):
    """A mart cannot be built; the sentence names it, its file and what DuckDB says."""


def build_marts(
    connection: DuckDBPyConnection, folder: Path = SQL, *, wanted: Collection[str] = ()
) -> list[str]:
    """Build all marts, in the caller's transaction: readers of the file see the old ones or the new ones.

    With `wanted`, no more than these marts and what they are made of is there afterwards.
    Staging exists only while the marts are built. A query that leans on undocumented columns and does
    not find them gives no rows, and says so in meta.assumptions; any other failure raises MartError,
    and the caller rolls back.
    """
    staging, marts, meta = (
        in_order(queries(connection, folder / schema, schema)) for schema in ("staging", "marts", "meta")
    )
    if wanted:
        needed = {query.table for mart in wanted for query in queries_behind(connection, mart, folder)}
        staging = [query for query in staging if query.table in needed]
        marts = [query for query in marts if query.table in needed]
    prepare_configuration(connection)
    assumptions = examine_assumptions(connection, [query for query in staging if query.assumed])
    record_assumptions(connection, assumptions)
    prepare_memory(connection)
    prepare_results(connection)
    for schema in ("marts", "staging"):
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")
    for query in staging:
        _create(connection, query, "VIEW", assumed_query(query, assumptions))
    for query in marts:
        _create(connection, query, "TABLE", query.sql)
    if any(query.table == TOTALS for query in marts):
        remember_totals(connection)
    for query in meta:
        _create(connection, query, "OR REPLACE VIEW", query.sql)
    describe(connection, [*staging, *marts, *meta])
    connection.execute("DROP SCHEMA staging CASCADE")
    return [query.table for query in marts]


def queries_behind(connection: DuckDBPyConnection, mart: str, folder: Path = SQL) -> list[Query]:
    """A mart's own query and those of all it is made of."""
    known = {
        query.table: query
        for schema in ("staging", "marts")
        for query in queries(connection, folder / schema, schema)
    }
    found: dict[str, Query] = {}
    waiting = [mart]
    while waiting:
        table = waiting.pop()
        if table in known and table not in found:
            found[table] = known[table]
            waiting.extend(map(".".join, known[table].reads))
    return list(found.values())


def in_order(found: Iterable[Query]) -> list[Query]:
    """Queries of one schema, each after those it reads; refuses a circle."""
    by_table: Mapping[str, Query] = {query.table: query for query in found}
    needs = {
        table: sorted(name for name in map(".".join, query.reads) if name in by_table and name != table)
        for table, query in by_table.items()
    }
    try:
        return [by_table[table] for table in TopologicalSorter(needs).static_order()]
    except CycleError as circle:
        raise QueryError(
            f"These queries read each other in a circle: {', '.join(circle.args[1])}"
        ) from circle


def _create(connection: DuckDBPyConnection, query: Query, kind: str, sql: str) -> None:
    if query.parameters:
        statement = f"CREATE MACRO {query.table}({', '.join(query.parameters)}) AS TABLE {sql}"
    else:
        statement = f"CREATE {kind} {query.table} AS {sql}"
    try:
        connection.execute(statement)
    except duckdb.Error as error:
        raise MartError(f"{query.table} cannot be built from {query.path}: {error}") from error
