"""Customers and reports that the operator wants, written down so that missing data can be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date

from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import insert_rows


@dataclass(frozen=True)
class ConfiguredCustomer:
    """One customer of the settings; `start_month` is the first day of the first month kept."""

    customer: str
    name: str
    start_month: date
    is_active: bool


@dataclass(frozen=True)
class ConfiguredReport:
    """One report of the catalogue, and whether it is asked without being told to."""

    report: str
    subject: str
    description: str
    path: str
    is_on: bool


def write_customers(connection: DuckDBPyConnection, customers: Sequence[ConfiguredCustomer]) -> None:
    """Write the customers down in place of what they were; whom only the ledger knows is switched off."""
    _replace(connection, "customers", customers)
    connection.execute(
        "INSERT INTO meta.customers BY NAME SELECT DISTINCT customer, false AS is_active FROM meta.loads "
        "WHERE customer NOT IN (SELECT customer FROM meta.customers)"
    )


def write_reports(connection: DuckDBPyConnection, reports: Sequence[ConfiguredReport]) -> None:
    """Write the reports down in place of what they were; what only the ledger knows is switched off."""
    _replace(connection, "reports", reports)
    connection.execute(
        "INSERT INTO meta.reports BY NAME SELECT DISTINCT report, false AS is_on FROM meta.loads "
        "WHERE report NOT IN (SELECT report FROM meta.reports)"
    )


def _replace(
    connection: DuckDBPyConnection, table: str, rows: Sequence[ConfiguredCustomer | ConfiguredReport]
) -> None:
    connection.execute(f"DELETE FROM meta.{table}")
    insert_rows(connection, f"meta.{table}", [asdict(row) for row in rows])
