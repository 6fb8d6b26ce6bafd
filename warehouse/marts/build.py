"""The build of the marts from their SQL files, and the row versions that a build stores in meta."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import DAMAGED_WORDS
from warehouse.marts.dictionary import describe
from warehouse.marts.queries import SQL, Query, by_dependency, queries
from warehouse.marts.relations import declare_relations
from warehouse.store.duckdb_file import mappings, quoted

Built = TypeVar("Built")

MIN_MB, MAX_MB = 700, 3000
"""The first memory limit is 1.5 times the file's size, within these bounds. DuckDB spills what exceeds it.

Marts of ten million rows (a file of 225 MB) could not be built with 336 MB. Without a limit, the build took
2,800 MB and did not save CPU time. Marts of a hundred million rows (a file of 2,200 MB) needed more than
1,000 MB.
"""
PARTS_MB = 700
"""The memory limit for a mart that is built in parts.

A higher limit may fail, because DuckDB then spills too late: `marts.sales` of a hundred million rows could be
built with 1,000 MB, but not with 2,500.
"""

_NEW_TOTALS = """
INSERT INTO meta.month_totals BY NAME
SELECT
    built.* EXCLUDE (valid_from_utc, valid_to_utc, _customer, _month, _load_id),
    valid_from_utc AS noted_at_utc, _customer AS customer_id, _load_id AS load_id, loads.loaded_at_utc
FROM marts.month_total_versions AS built
ANTI JOIN meta.month_totals USING (report, office_id, month, version)
LEFT JOIN meta.loads AS loads ON loads.load_id = built._load_id
"""
_NEW_SALE_VERSIONS = """
INSERT INTO meta.sale_versions BY NAME
SELECT
    built.* EXCLUDE (office_name, valid_from_utc, valid_to_utc, _customer, _month, _load_id),
    valid_from_utc AS noted_at_utc, _customer AS customer_id, _load_id AS load_id
FROM marts.sale_versions AS built
ANTI JOIN meta.sale_versions USING (estate_id, version);
UPDATE meta.sale_versions AS stored
SET street_address = built.street_address, agent_ids = built.agent_ids
FROM marts.sale_versions AS built
WHERE (stored.estate_id, stored.version) = (built.estate_id, built.version)
    AND (stored.street_address, stored.agent_ids) IS DISTINCT FROM (built.street_address, built.agent_ids)
"""
_NEW_USER_MONTH_VERSIONS = """
INSERT INTO meta.user_month_versions BY NAME
SELECT
    built.* EXCLUDE (user_name, valid_from_utc, valid_to_utc, is_restatement),
    valid_from_utc AS noted_at_utc
FROM marts.user_month_versions AS built
ANTI JOIN meta.user_month_versions USING (user_id, month, version)
"""
VERSION_STATEMENTS = {
    "marts.month_total_versions": _NEW_TOTALS,
    "marts.sale_versions": _NEW_SALE_VERSIONS,
    "marts.user_month_versions": _NEW_USER_MONTH_VERSIONS,
}
"""The marts whose new row versions are stored in meta after a build, each with its statement."""


class MartError(Exception):
    """A mart cannot be built; the message names it, its file and DuckDB's error."""


class MartTooLarge(MartError):
    """A mart cannot be built within the memory that DuckDB was given."""


def build_marts(
    connection: DuckDBPyConnection,
    folder: Path = SQL,
    *,
    only: Collection[str] = (),
    memory_limit_mb: int | None = None,
) -> list[str]:
    """Build all marts in the caller's transaction; returns their names.

    `only` names marts or views of meta. If given, only these and the queries that they depend on are
    built, and all other marts are dropped. Raises MartError, or MartTooLarge if `memory_limit_mb` was too
    low. The caller must then roll back.
    """
    staging, marts, meta = (queries(folder / schema, schema) for schema in ("staging", "marts", "meta"))
    if only:
        needed = _needed_tables(only, [*staging, *marts, *meta])
        staging, marts, meta = (
            [query for query in layer if query.table in needed] for layer in (staging, marts, meta)
        )
    for path in folder.glob("macros.sql"):
        connection.execute(path.read_text(encoding="utf-8"))
    for schema in ("marts", "staging"):
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")
    built = by_dependency([*staging, *marts])
    connection.execute("RESET memory_limit; RESET threads")  # the limit may be that of a failed build
    for query in built:
        if memory_limit_mb:
            limit = min(memory_limit_mb, PARTS_MB) if query.for_each else memory_limit_mb
            connection.execute(f"SET memory_limit = '{limit}MB'")
        _create(connection, query)
    connection.execute("RESET memory_limit")
    for query in built:
        if query.table in VERSION_STATEMENTS:
            connection.execute(VERSION_STATEMENTS[query.table])
    connection.execute("SET threads = 1")
    meta = by_dependency(meta)
    for query in meta:
        _create(connection, query, "CREATE OR REPLACE")
    if not only:
        declare_relations(connection, marts, staging)
        describe(connection, [*built, *meta])
    connection.execute("DROP SCHEMA staging CASCADE")
    sys.audit("brokerbi.marts_built")
    return [query.table for query in built if query.schema == "marts"]


def build_within_memory(file: Path, build: Callable[[int | None], Built]) -> Built:
    """Call `build` with a memory limit in megabytes that depends on the size of `file`; returns its result.

    If the limit is too low, `build` is called again with twice as much, then without a limit.
    """
    size = file.stat().st_size if file.exists() else 0
    first_limit = min(max(MIN_MB, size * 3 // 2_000_000), MAX_MB)
    for limit_mb in (first_limit, 2 * first_limit):
        with suppress(MartTooLarge):
            return build(limit_mb)
    return build(None)


def _needed_tables(names: Iterable[str], all_queries: Iterable[Query]) -> set[str]:
    by_table = {query.table: query for query in all_queries}
    needed: set[str] = set()
    waiting = [*names]
    while waiting:
        table = waiting.pop()
        if table in by_table and table not in needed:
            needed.add(table)
            waiting.extend(map(".".join, by_table[table].reads))
    return needed


def _create(connection: DuckDBPyConnection, query: Query, create: str = "CREATE") -> None:
    name = query.table
    if query.parameters:
        statement = f"{create} MACRO {name}({', '.join(query.parameters)}) AS TABLE {query.sql}"
    else:
        if query.schema == "staging" and query.kind == "table":
            # DuckDB cannot drop a table in the transaction that filled it, unless it is temporary.
            create, name = "CREATE OR REPLACE TEMP", f"staging_{query.name}"
        statement = f"{create} {query.kind} {name} AS {query.sql}"
    try:
        for part in mappings(connection.execute(query.for_each)) if query.for_each else [{}]:
            for variable, value in part.items():
                connection.execute(f"SET VARIABLE {quoted(variable)} = $1", [value])
            connection.execute(statement)
            statement = f"INSERT INTO {name} {query.sql}"
        if name != query.table:
            connection.execute(f"CREATE VIEW {query.table} AS FROM temp.main.{name}")
    except duckdb.Error as error:
        if DAMAGED_WORDS.search(str(error)):
            raise
        failure = MartTooLarge if isinstance(error, duckdb.OutOfMemoryException) else MartError
        raise failure(f"{query.table} cannot be built from {query.path}: {error}") from error
