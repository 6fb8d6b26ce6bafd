"""What is held, in as few words as a plan needs? Customers of whom the same is held share one answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from warehouse.ledger import Cap, aware, learned

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class HeldBriefly:
    """When a held month was last asked, and whether it was over then ('held') or not ('open').

    The time is exact where a change of a sale was noticed for the report and customer, and else taken
    back to the quarter of an hour: days and months begin at one in every time zone, and nothing finer
    is ever compared.
    """

    fetched_at_utc: datetime
    state: str


@dataclass(frozen=True)
class Outline:
    """The ledger without the loads: what it says of each month of a report and customer is `held`.

    Pairs of which the same is held have the very same mapping there, so that what follows from it need
    be worked out only once. The other fields are those of the ledger.
    """

    held: Mapping[tuple[str, str], Mapping[date | None, HeldBriefly]]
    denied: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    caps: Mapping[tuple[str, str], Cap] = field(default_factory=dict)
    pages: Mapping[tuple[str, str], int] = field(default_factory=dict)
    request_seconds: float | None = None
    changed: Mapping[tuple[str, str, date], datetime] = field(default_factory=dict)
    probed: Mapping[str, date] = field(default_factory=dict)


_ALIKE = """
    WITH dated AS (
        SELECT report, customer, month, state,
               CASE WHEN (report, customer) IN (SELECT (report, customer) FROM meta.changes)
                    THEN fetched_at_utc ELSE time_bucket(INTERVAL 15 MINUTE, fetched_at_utc) END AS asked_utc
        FROM meta.months
    ), held AS (
        SELECT report, customer, list(month ORDER BY month) AS months,
               list(asked_utc ORDER BY month) AS asked, list(state ORDER BY month) AS states
        FROM dated GROUP BY ALL
    )
    SELECT months, asked, states, list(report), list(customer) FROM held GROUP BY ALL
"""


def read_rows(
    connection: DuckDBPyConnection, pairs: Collection[tuple[str, str]]
) -> dict[tuple[str, str], dict[date | None, int]]:
    """How many rows are held of every month of these reports and customers."""
    found = connection.execute(
        "SELECT report, customer, list(month), list(rows) FROM meta.months "
        "WHERE (report, customer) IN (SELECT (unnest($1::VARCHAR[]), unnest($2::VARCHAR[]))) GROUP BY ALL",
        [[report for report, _ in pairs], [customer for _, customer in pairs]],
    )
    return {
        (report, customer): dict(zip(months, rows, strict=True))
        for report, customer, months, rows in found.fetchall()
    }


def read_outline(connection: DuckDBPyConnection) -> Outline:
    """The whole ledger, in outline."""
    held: dict[tuple[str, str], Mapping[date | None, HeldBriefly]] = {}
    for months, asked, states, reports, customers in connection.execute(_ALIKE).fetchall():
        briefly = (HeldBriefly(aware(at), state) for at, state in zip(asked, states, strict=True))
        shared = dict(zip(months, briefly, strict=True))
        held.update(dict.fromkeys(zip(reports, customers, strict=True), shared))
    return Outline(held, **learned(connection))
