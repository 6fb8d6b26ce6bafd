"""What did a run learn of the service? Refusals, accepted windows, and the users that are known."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.entering import naive_utc
from warehouse.ledger import Cap

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def deny(connection: DuckDBPyConnection, report: str, customer: str, at_utc: datetime) -> None:
    """Remember a refusal."""
    allow(connection, report, customer)
    connection.execute("INSERT INTO meta.access VALUES (?, ?, ?)", [report, customer, naive_utc(at_utc)])


def allow(connection: DuckDBPyConnection, report: str, customer: str) -> None:
    """Forget a refusal."""
    connection.execute("DELETE FROM meta.access WHERE report = ? AND customer = ?", [report, customer])


def forget_healed_refusals(connection: DuckDBPyConnection) -> None:
    """Forget every refusal that a later answer has made untrue."""
    connection.execute(
        """
        DELETE FROM meta.access AS refused
        WHERE EXISTS (
            SELECT 1 FROM meta.loads AS loads
            WHERE (loads.report, loads.customer) = (refused.report, refused.customer)
              AND loads.status IN ('loaded', 'superseded') AND loads.fetched_at_utc > refused.denied_at_utc
        )
        """
    )


def remember_cap(connection: DuckDBPyConnection, report: str, customer: str, cap: Cap, now: datetime) -> None:
    """Remember how long a window may be."""
    forget_caps(connection, report, customer)
    connection.execute(
        "INSERT INTO meta.window_caps VALUES (?, ?, ?, ?, ?)",
        [report, customer, cap.days, cap.months, naive_utc(now)],
    )


def forget_caps(connection: DuckDBPyConnection, report: str | None, customer: str | None) -> None:
    """Forget learned windows, of one report or customer or of all."""
    connection.execute(
        """
        DELETE FROM meta.window_caps
        WHERE ($1 IS NULL OR report = $1) AND ($2 IS NULL OR customer = $2)
        """,
        [report, customer],
    )


def users(connection: DuckDBPyConnection, customer: str) -> list[str]:
    """User ids known for a customer."""
    for table, column in (("users", "id"), ("users", "user_id"), ("commission_user", "user_id")):
        known = connection.execute(
            "SELECT 1 FROM meta.columns WHERE (table_name, column_name) = ($1, $2)", [table, column]
        )
        if known.fetchall():
            found = connection.execute(
                f'SELECT DISTINCT "{column}" FROM bi."{table}" '
                f'WHERE _customer = $1 AND "{column}" IS NOT NULL ORDER BY 1',
                [customer],
            ).fetchall()
            if found:
                return [str(user) for (user,) in found]
    return []
