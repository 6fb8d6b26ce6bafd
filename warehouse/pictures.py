"""What is there to draw? The published file, read once and closed again, as plain rows for a page.

Nothing here knows how a page looks. A table that an older or partly built file does not have is named,
and everything else is read all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import connect
from warehouse.errors import WarehouseError
from warehouse.publish import Versions

Rows = Sequence[Mapping[str, Any]]


class NothingPublished(WarehouseError):
    """There is no published file to read."""


@dataclass(frozen=True)
class Pictured:
    """The rows of every picture by its name, the names that the file cannot answer, and the file."""

    rows: Mapping[str, Rows]
    missing: tuple[str, ...]
    file: Path


MOST_DIFFERENCES = 40
MOST_PROBLEMS = 200
MOST_RESTATEMENTS = 40
BEST_USERS = 10
MOST_OFFICES = 500
_LAST_TWELVE = "month > (SELECT max(month) FROM marts.office_month) - INTERVAL 12 MONTH"

_QUERIES = {
    "publications": """
        SELECT name, at_utc, loads FROM meta.publications
        WHERE status = 'published' ORDER BY at_utc DESC LIMIT 1
    """,
    "office_months": """
        SELECT month, office_id, coalesce(office_name, office_id) AS office_name, commission,
               sold_commission, sold_estate_parts, is_open
        FROM marts.office_month ORDER BY office_id, month
    """,
    "budgets": """
        SELECT month, office_id, measure, budget, actual, year_budget, year_forecast
        FROM marts.budget_vs_actual
        WHERE user_id IS NULL AND measure IN ('commission', 'sold estates') ORDER BY office_id, month
    """,
    "earners": f"""
        SELECT earner_kind AS kind, period, month, coalesce(earner_name, earner_id) AS name, commission,
               sold_estate_parts, commission_rank AS place, rank_change, earner_count, is_complete
        FROM marts.leaderboard
        WHERE month = coalesce(
            (SELECT max(month) FROM marts.leaderboard WHERE period = 'month' AND is_complete),
            (SELECT max(month) FROM marts.leaderboard))
          AND commission_rank <= CASE earner_kind WHEN 'user' THEN {BEST_USERS} ELSE {MOST_OFFICES} END
        ORDER BY earner_kind, period, commission_rank, name
    """,
    "leads": f"""
        WITH counted AS (SELECT * FROM marts.lead_funnel WHERE {_LAST_TWELVE})
        SELECT part, way, name, sum(lead_count)::BIGINT AS leads, sum(estate_lead_count)::BIGINT AS of_homes,
               sum(sold_count)::BIGINT AS sold, sum(days_to_contract_total)::BIGINT AS days
        FROM (
            SELECT 'all' AS part, '' AS name, * FROM counted
            UNION ALL BY NAME
            SELECT 'month' AS part, strftime(month, '%Y-%m') AS name, * FROM counted
            UNION ALL BY NAME SELECT 'kind' AS part, coalesce(lead_type, 'not stated') AS name, * FROM counted
            UNION ALL BY NAME SELECT 'state' AS part, coalesce(state, 'not stated') AS name, * FROM counted
            UNION ALL BY NAME
            SELECT 'office' AS part, coalesce(office_name, office_id, 'no office of ours') AS name, *
            FROM counted
        )
        GROUP BY ALL HAVING part IN ('all', 'month') OR sum(lead_count) > 0
        ORDER BY part, way, leads DESC, name
    """,
    "held_months": """
        SELECT report, customer, month, state, rows FROM meta.months
        WHERE month IS NOT NULL ORDER BY ALL
    """,
    "standings": """
        SELECT report, customer, newest_held_month, last_success_utc, last_failure_utc, due_utc, state
        FROM meta.freshness ORDER BY report, customer
    """,
    "agreements": """
        SELECT compared, measure, count(*) AS compared_count,
               count(*) FILTER (NOT is_reconciled) AS different_count
        FROM marts.reconciliation GROUP BY ALL ORDER BY ALL
    """,
    "differences": f"""
        SELECT month, coalesce(office_name, office_id) AS office_name, compared, measure, amount,
               compared_amount, difference, likely_reason
        FROM marts.reconciliation WHERE NOT is_reconciled
        ORDER BY abs(difference) DESC, month DESC LIMIT {MOST_DIFFERENCES}
    """,
    "restatements": f"""
        SELECT noted_at_utc, report, coalesce(office_name, office_id) AS office_name, month,
               row_count_change, commission_before, commission_after, commission_change
        FROM marts.restatements
        ORDER BY noted_at_utc DESC, abs(commission_change) DESC NULLS LAST LIMIT {MOST_RESTATEMENTS}
    """,
    "problems": f"""
        SELECT kind, severity, report, customer, month, since_utc, message, count(*) OVER () AS in_all
        FROM meta.problems ORDER BY severity, kind, report, customer, month, message LIMIT {MOST_PROBLEMS}
    """,
    "marks": """
        SELECT kind, report, customer, month FROM meta.problems
        WHERE kind IN ('failed month', 'held back', 'no access')
    """,
}


def read_pictures(data_dir: Path) -> Pictured:
    """Everything a page shows; raises NothingPublished when there is no file yet."""
    file = Versions(Path(data_dir)).published
    if not file.exists():
        raise NothingPublished(
            f"There is no published file {file} yet; `brokerbi sync` or `brokerbi publish` makes one."
        )
    with connect(file, read_only=True) as connection:
        read = {name: _read(connection, query) for name, query in _QUERIES.items()}
    missing = tuple(name for name, rows in read.items() if rows is None)
    return Pictured({name: rows or () for name, rows in read.items()}, missing, file)


def _read(connection: DuckDBPyConnection, query: str) -> Rows | None:
    """The rows of a query; none when the file has no such table or column."""
    try:
        found = connection.execute(query)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    except (duckdb.CatalogException, duckdb.BinderException):
        return None
