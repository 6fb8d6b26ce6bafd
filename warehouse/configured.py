"""Which customers and reports does the operator want? Written down, so that silence can be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date

from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import insert_rows
from warehouse.meta_schema import statements


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


def prepare_configuration(connection: DuckDBPyConnection) -> None:
    """Give a file that an earlier version made what it lacks."""
    found = connection.execute(
        "SELECT 1 FROM duckdb_columns() WHERE schema_name = 'meta' AND table_name = $1 "
        "AND column_name = 'path' AND database_name = current_database()",
        ["reports"],
    )
    if found.fetchone() is None:
        connection.execute("DROP TABLE IF EXISTS meta.reports")
        for statement in statements():
            connection.execute(statement)


def write_configuration(
    connection: DuckDBPyConnection,
    customers: Sequence[ConfiguredCustomer],
    reports: Sequence[ConfiguredReport],
) -> None:
    """Write both down in place of what they were; what only the ledger still knows is switched off."""
    prepare_configuration(connection)
    for table, rows in (("customers", customers), ("reports", reports)):
        connection.execute(f"DELETE FROM meta.{table}")
        insert_rows(connection, f"meta.{table}", [asdict(row) for row in rows])
    connection.execute(
        "INSERT INTO meta.customers BY NAME SELECT DISTINCT customer, false AS is_active FROM meta.loads "
        "WHERE customer NOT IN (SELECT customer FROM meta.customers)"
    )
    connection.execute(
        "INSERT INTO meta.reports BY NAME SELECT DISTINCT report, false AS is_on FROM meta.loads "
        "WHERE report NOT IN (SELECT report FROM meta.reports)"
    )
