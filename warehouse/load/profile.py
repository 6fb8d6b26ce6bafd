"""Profiles of stored rows: how many rows a table has, and how many have a value in each declared column.

Of a history, only the rows that are valid now count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from warehouse.ledger.window_result import WindowResult, results_by_pair
from warehouse.store.duckdb_file import quoted
from warehouse.store.schema import read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.schema import TableSchema

Pair = tuple[str, str]
"""A report's name and a customer's id."""
_BY_MONTH = """
SELECT _customer, _month, count(*){counts}
FROM {rows} AS stored
SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS customer, unnest($2::DATE[]) AS month) AS requested
ON stored._customer = requested.customer AND stored._month IS NOT DISTINCT FROM requested.month
GROUP BY ALL
"""
_BY_LOAD = "SELECT _load_id, count(*){counts} FROM {rows} WHERE list_contains($1, _load_id) GROUP BY ALL"


@dataclass
class TableProfile:
    """The profile of one table, for one month, one load, or several months added up."""

    rows: int = 0
    value_counts: Counter[str] = field(default_factory=Counter)
    is_nested: bool = False  # its rows are nested in rows of another table


Profiles = dict[date | None, dict[str, TableProfile]]
"""The profiles of one report and customer: for each month, the profiles of its tables by name."""


def read_profiles(
    connection: DuckDBPyConnection, months: Mapping[Pair, Sequence[date | None]]
) -> dict[Pair, Profiles]:
    """The profiles of these months, by report and customer. A month or table without rows has none."""
    profiles: dict[Pair, Profiles] = {pair: {} for pair in months}
    requested: dict[str, list[tuple[str, date | None]]] = {}
    for (report, customer), dates in months.items():
        requested.setdefault(report, []).extend((customer, month) for month in dates)
    for schema in read_tables(connection).values():
        if pairs := requested.get(schema.report):
            parameters = [[customer for customer, _ in pairs], [month for _, month in pairs]]
            for (customer, month), profile in _count(connection, schema, _BY_MONTH, parameters):
                profiles[schema.report, customer].setdefault(month, {})[schema.name] = profile
    return profiles


def read_load_profiles(
    connection: DuckDBPyConnection, loads: Sequence[WindowResult]
) -> dict[str, dict[str, TableProfile]]:
    """The profiles of these loads, by load id and table. A table without rows of the load has none."""
    reports = {load.report for load in loads}
    profiles: dict[str, dict[str, TableProfile]] = {load.load_id: {} for load in loads}
    for schema in read_tables(connection).values():
        if schema.report in reports:
            for (load_id,), profile in _count(connection, schema, _BY_LOAD, [[*profiles]]):
                profiles[load_id][schema.name] = profile
    return profiles


def read_replaced_profiles(
    connection: DuckDBPyConnection, loads: Sequence[WindowResult]
) -> dict[str, Profiles]:
    """The profiles of the months of each failed load with months, by load id."""
    rows = {*connection.execute("SELECT load_id FROM meta.loads WHERE status = 'failed'").fetchall()}
    failed = results_by_pair(
        load for load in loads if (load.load_id,) in rows and load.months and not load.history
    )
    months = {pair: [day for load in failed[pair] for day in load.months] for pair in failed}
    profiles = read_profiles(connection, months)
    return {load.load_id: profiles[pair] for pair in failed for load in failed[pair]}


def stored_rows(profiles: Profiles, month: date | None) -> int:
    """The number of stored rows of a month. Without a month, rows that are nested in others do not count."""
    return sum(table.rows for table in profiles.get(month, {}).values() if month or not table.is_nested)


def add_up(profiles: Profiles, months: Iterable[date | None]) -> dict[str, TableProfile]:
    """The sums of the profiles of these months, by table."""
    added: dict[str, TableProfile] = {}
    for month in months:
        for name, profile in profiles.get(month, {}).items():
            table = added.setdefault(name, TableProfile())
            table.rows += profile.rows
            table.value_counts.update(profile.value_counts)
    return added


def _count(
    connection: DuckDBPyConnection, schema: TableSchema, statement: str, parameters: Sequence[object]
) -> Iterator[tuple[Sequence[Any], TableProfile]]:
    """Yield the key and the profile of each group of a table's rows; `statement` groups them."""
    names = [column.name for column in schema.columns.values() if column.documented]
    counts = "".join(f", count({quoted(name)})" for name in names)
    query = statement.format(counts=counts, rows=schema.current_rows)
    for row in connection.execute(query, parameters).fetchall():
        key, (number, *value_counts) = row[: -len(names) - 1], row[-len(names) - 1 :]
        yield key, TableProfile(number, Counter(dict(zip(names, value_counts, strict=True))), schema.nested)
