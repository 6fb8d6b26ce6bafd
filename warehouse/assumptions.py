"""Do undocumented tables hold what our SQL assumes of them? If not, the query steps aside and says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.dictionary import comment_table
from warehouse.inserting import insert
from warehouse.queries import Query

FITS = "fits"
NOTHING_YET = "nothing has arrived"
DIFFERS = "differs"

_TABLE = """
CREATE OR REPLACE TABLE meta.assumptions (
    query VARCHAR, source VARCHAR, expected_columns VARCHAR[], arrived_columns VARCHAR[],
    missing_columns VARCHAR[], row_count BIGINT, state VARCHAR, message VARCHAR
)
"""
_COLUMNS = {
    "query": "the query that assumes something, as schema and name; its file is below sql/",
    "source": "the undocumented table that it assumes something of",
    "expected_columns": "the columns it needs there",
    "arrived_columns": "the columns that have arrived",
    "missing_columns": "the columns it needs that have not",
    "row_count": "rows that have arrived",
    "state": "fits, nothing has arrived, or differs: then the query gives no rows",
    "message": "why it does not fit",
}
_ARRIVED = """
SELECT schema_name || '.' || table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
WHERE schema_name = 'bi' AND database_name = current_database() AND NOT starts_with(column_name, '_')
    AND column_name NOT IN ('valid_from_utc', 'valid_to_utc')
GROUP BY ALL
"""


@dataclass(frozen=True)
class Source:
    """One undocumented table, as assumed and as found."""

    table: str
    expected: tuple[str, ...]
    arrived: tuple[str, ...]
    rows: int

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in self.expected if name not in self.arrived)


@dataclass(frozen=True)
class Assumption:
    """What a query assumes, and whether it holds; `message` is why not."""

    query: str
    sources: tuple[Source, ...]
    state: str
    message: str

    @property
    def fits(self) -> bool:
        return self.state == FITS


def examine_assumptions(connection: DuckDBPyConnection, assumed: Sequence[Query]) -> Mapping[str, Assumption]:
    """Look at what has arrived for every query that assumes something, before anything is built on it.

    A query that fails would abort the caller's transaction, so it is tried beside it, on what is committed.
    """
    with connection.cursor() as beside:
        arrived: dict[str, list[str]] = dict(beside.execute(_ARRIVED).fetchall())
        return {query.table: _examine(beside, query, arrived) for query in assumed}


def assumed_query(query: Query, assumptions: Mapping[str, Assumption]) -> str:
    """A query with the column types it declares; without a row where what it assumes does not hold."""
    if not query.assumed:
        return query.sql
    if assumptions[query.table].fits:
        return _typed(query)
    columns = (f"CAST(NULL AS {kind}) AS {name}" for name, kind in query.types.items())
    return f"SELECT {', '.join(columns)} WHERE false"


def record_assumptions(connection: DuckDBPyConnection, assumptions: Mapping[str, Assumption]) -> None:
    """Write meta.assumptions anew: one row per query and table it assumes something of."""
    connection.execute(_TABLE)
    comment_table(connection, "meta.assumptions", "What our SQL assumes of undocumented tables.", _COLUMNS)
    rows = [
        (
            assumption.query,
            source.table,
            list(source.expected),
            list(source.arrived),
            list(source.missing),
            source.rows,
            assumption.state,
            assumption.message,
        )
        for assumption in assumptions.values()
        for source in assumption.sources
    ]
    insert(connection, "meta.assumptions", rows)


def _examine(
    connection: DuckDBPyConnection, query: Query, arrived: Mapping[str, Sequence[str]]
) -> Assumption:
    sources = tuple(
        _source(connection, table, columns.replace(",", " ").split(), arrived.get(table, ()))
        for table, columns in query.expects.items()
    )
    missing = [f"{source.table}.{name}" for source in sources for name in source.missing]
    state, message = FITS, ""
    if missing:
        state = DIFFERS if any(source.rows for source in sources) else NOTHING_YET
        message = f"{query.path.name} expects {', '.join(missing)}"
    else:
        message = _failure(connection, query)
        state = DIFFERS if message else FITS
    return Assumption(query.table, sources, state, message)


def _source(
    connection: DuckDBPyConnection, table: str, expected: Sequence[str], arrived: Sequence[str]
) -> Source:
    rows = 0
    if arrived:
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return Source(table, tuple(expected), tuple(arrived), rows)


def _typed(query: Query) -> str:
    columns = (f"CAST({name} AS {kind}) AS {name}" for name, kind in query.types.items())
    return f"SELECT {', '.join(columns)} FROM ({query.sql}) AS assumed"


def _failure(connection: DuckDBPyConnection, query: Query) -> str:
    """What DuckDB says against running the query on what is there; empty when it runs."""
    try:
        connection.execute(f"SELECT count(hash(answer)) FROM ({_typed(query)}) AS answer").fetchall()
    except duckdb.Error as error:
        return f"{query.path.name} does not run on what arrived: {error}"
    return ""
