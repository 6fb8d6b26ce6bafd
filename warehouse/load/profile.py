"""Profile of the stored rows of a report and customer: how many rows have each declared column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import quoted
from warehouse.store.schema import read_tables, tables_of_report

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.schema import TableSchema

Pair = tuple[str, str]
"""A report's name and a customer's id."""
_FILLED = """
SELECT _customer, count(*){counts}
FROM {public} AS stored
SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS customer, unnest($2::DATE[]) AS month) AS requested
ON stored._customer = requested.customer AND stored._month IS NOT DISTINCT FROM requested.month
GROUP BY _customer
"""


@dataclass(frozen=True)
class TableProfile:
    """Rows of a table: how many there are, and how many have each declared column."""

    rows: int
    filled: Mapping[str, int]


def read_profiles(
    connection: DuckDBPyConnection, months: Mapping[Pair, Sequence[date | None]]
) -> dict[Pair, dict[str, TableProfile]]:
    """The profiles of all tables with stored rows of these months, by report, customer and table."""
    tables = read_tables(connection)
    profiles: dict[Pair, dict[str, TableProfile]] = {pair: {} for pair in months}
    for report in dict.fromkeys(report for report, _ in months):
        requested = [
            (pair[1], month) for pair, dates in months.items() if pair[0] == report for month in dates
        ]
        for history in (False, True):
            for schema in tables_of_report(tables, report, history=history):
                if schema.exists:
                    for customer, profile in _profiles_by_customer(connection, schema, requested).items():
                        profiles[report, customer][schema.name] = profile
    return profiles


def _profiles_by_customer(
    connection: DuckDBPyConnection, schema: TableSchema, requested: Sequence[tuple[str, date | None]]
) -> dict[str, TableProfile]:
    names = [column.name for column in schema.columns.values() if column.documented]
    counts = "".join(f", count({quoted(name)})" for name in names)
    statement = _FILLED.format(counts=counts, public=schema.public)
    parameters = [[customer for customer, _ in requested], [month for _, month in requested]]
    return {
        customer: TableProfile(rows, dict(zip(names, filled, strict=True)))
        for customer, rows, *filled in connection.execute(statement, parameters).fetchall()
    }
