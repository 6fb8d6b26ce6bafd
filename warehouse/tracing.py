"""From which rows, loads and landing files does a number come? Read from the published file.

The macros marts.sources_of and marts.sources_of_user answer the same for analysts, for all reports at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from warehouse.opening import opened
from warehouse.pictures import NothingPublished
from warehouse.traces import (
    LOAD_COLUMNS,
    OF_SALES,
    SALES_ALONE,
    Asked,
    NotInTheFile,
    Part,
    Source,
    Trace,
    TracedLoad,
)
from warehouse.tracing_answers import counted_offices, id_column, loads_of, number_in_the_mart, rows_query
from warehouse.versions import Versions


def trace(data_dir: Path, month: date, measure: str, *, office: str = "", user: str = "") -> Trace:
    """Follow a number back; raises NotInTheFile or NothingPublished with what there is instead."""
    file = Versions(Path(data_dir)).published
    if not file.exists():
        raise NothingPublished(f"There is no published file {file} yet; `brokerbi sync` makes one.")
    asked = Asked("user", user, month, measure) if user else Asked("office", office, month, measure)
    if measure not in asked.sources:
        known = ", ".join(asked.sources)
        raise NotInTheFile(f"There is no measure {measure!r}; marts.{asked.mart} has {known}.")
    with opened(file, read_only=True) as connection:
        return _traced(connection, asked)


def _traced(connection: DuckDBPyConnection, asked: Asked) -> Trace:
    name, value, is_open = number_in_the_mart(connection, asked)
    loads = loads_of(connection, asked)
    offices = _rows(connection, "SELECT office_id FROM marts.offices", [])
    return Trace(
        asked.mart,
        asked.id,
        name or asked.id,
        asked.month,
        asked.measure,
        _meaning(connection, asked),
        value,
        is_open,
        asked.source,
        tuple(_part(connection, asked, load) for load in loads),
        frozenset(one for (one,) in offices),
    )


def _part(connection: DuckDBPyConnection, asked: Asked, load: TracedLoad) -> Part:
    query = rows_query(connection, asked, load)
    found = _rows(connection, f"SELECT _row {query} ORDER BY _row", [])
    return Part(
        load,
        _sales_load(connection, asked, load) if asked.measure in OF_SALES else None,
        query,
        tuple(row for (row,) in found),
        _quarantined(connection, asked.source, load),
        _elsewhere(connection, asked, load),
        counted_offices(connection, load, asked.month),
    )


def _sales_load(connection: DuckDBPyConnection, asked: Asked, load: TracedLoad) -> TracedLoad | None:
    """The report on sales alone, which the mart prefers to an average times homes; off by default."""
    table = SALES_ALONE[asked.source.report]
    column = "office_customer_id" if asked.kind == "office" else "user_id"
    rows = _rows(
        connection,
        f"SELECT {LOAD_COLUMNS} FROM bi.{table} AS sale JOIN meta.loads AS loads "
        "ON loads.load_id = sale._load_id "
        f"WHERE sale._customer = $1 AND sale._month = $2 AND sale.{column} = $3 LIMIT 1",
        [load.customer, asked.month, asked.id],
    )
    return TracedLoad(*rows[0]) if rows else None


def _meaning(connection: DuckDBPyConnection, asked: Asked) -> str:
    rows = _rows(
        connection,
        "SELECT comment FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = $1 "
        "AND column_name = $2 AND comment IS NOT NULL",
        [asked.mart, asked.measure],
    )
    return str(rows[0][0]) if rows else ""


def _quarantined(connection: DuckDBPyConnection, source: Source, load: TracedLoad) -> int:
    query = (
        "SELECT coalesce(sum(rows), 0)::BIGINT FROM meta.quarantine WHERE load_id = $1 AND table_name = $2"
    )
    ((count,),) = _rows(connection, query, [load.load_id, source.table])
    return int(count)


def _elsewhere(connection: DuckDBPyConnection, asked: Asked, load: TracedLoad) -> frozenset[str]:
    """A lead that two answers hold counts once, where it was fetched last."""
    source = asked.source
    if not source.way:
        return frozenset()
    ids = id_column(source)
    rows = _rows(
        connection,
        f"SELECT {ids} FROM bi.{source.table} WHERE _load_id = $1 AND _month = $2 AND {ids} IN ("
        "SELECT lead_id FROM marts.leads WHERE way = $3 AND (_load_id <> $1 OR month <> $2))",
        [load.load_id, asked.month, source.way],
    )
    return frozenset(one for (one,) in rows)


def _rows(connection: DuckDBPyConnection, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    return connection.execute(query, list(values)).fetchall()
