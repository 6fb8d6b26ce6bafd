"""Months that hold other rows than the service would answer now, over the nights of a moving world.

`python -m tests.tools.soak.stale_months --days 40 --every 5` says how many there are with and without the
question which sales were changed, and what the question costs.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.scenarios.scenario import Scenario, whole_chain

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
FIRST = date(2026, 5, 5)

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


def _nights(folder: Path, days: int, every: int, changed_months: str) -> str:
    here = whole_chain(folder / "data", REPORTS, start="2024-06", as_of=FIRST, changed_months=changed_months)
    here.sync()
    requests, seen = 0, []
    for night in range(1, days + 1):
        here = here.on(FIRST + timedelta(days=night))
        here.sync()
        requests += len(here.asked)
        if night % every == 0:
            fresh = synced_into(folder / f"fresh {night}", here)
            seen.append(len(stale_months(here, fresh)))
    return (
        f"{sum(seen) / len(seen):.1f} stale months on average, {max(seen)} at most, {seen[-1]} at the end; "
        f"{requests / days:.0f} requests a night"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=40)
    parser.add_argument("--every", type=int, default=5)
    given = parser.parse_args()
    for words, most in (("without asking what changed", "0"), ("asking what changed", "12")):
        with TemporaryDirectory() as folder:
            sys.stdout.write(f"{words}: {_nights(Path(folder), given.days, given.every, most)}\n")


if __name__ == "__main__":
    main()
