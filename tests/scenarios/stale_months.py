"""Months that hold other rows than the service would answer now, over the nights of a moving world."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.scenarios.scenario import Scenario

ALL_OF_THEIRS = "* EXCLUDE (_load_id, _fetched_at_utc, _row)"
TABLES = {
    "sales_estates": ALL_OF_THEIRS,
    # an agent who marries changes her name in every month; that is no change of a sale
    "sales_agents": "_customer, _month, estate_id, id, commission_value, commission_percentage_of_total",
    "estates_report_estates": ALL_OF_THEIRS,
    "commission_office": ALL_OF_THEIRS,
    "commission_user": ALL_OF_THEIRS,
    "running_commissions": ALL_OF_THEIRS,
}
REPORTS = ("sales", "estates_report", "commission_office", "commission_user", "running_commissions")

StaleMonth = tuple[str, str, date]
"""Table, customer and month."""


def synced_into(directory: Path, here: Scenario) -> Scenario:
    """What a sync into an empty directory holds on the same day."""
    fresh = here.with_settings(data_dir=directory)
    fresh.sync()
    return fresh


def stale_months(here: Scenario, fresh: Scenario) -> set[StaleMonth]:
    """What differs from a sync into an empty directory."""
    now, held = _contents(fresh), _contents(here)
    return {one for one in {*now, *held} if now.get(one) != held.get(one)}


def _contents(here: Scenario) -> dict[StaleMonth, object]:
    found: dict[StaleMonth, object] = {}
    for table, theirs in TABLES.items():
        rows = here.rows(
            "SELECT _customer, _month, list_sort(list(hash(theirs::VARCHAR))) "
            f"FROM (SELECT {theirs} FROM bi.{table}) AS theirs GROUP BY ALL"
        )
        found |= {(table, customer, month): hashes for customer, month, hashes in rows}
    return found
