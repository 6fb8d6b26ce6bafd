"""How many months are held as they are no more? Nights of a moving world, asking what changed or not."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.months import Month
from pipelines.planning.selection import Selection
from tests.scenarios.rehearsal import Rehearsal, rehearsal

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
REPORTS = "sales,estates_report,commission_office,commission_user,running_commissions"

Square = tuple[str, str, date]


def stale(world: Rehearsal, directory: Path) -> set[Square]:
    """Tables, customers and months that hold other rows than the service would answer now."""
    directory.mkdir()
    fresh = replace(world, settings=world.settings.model_copy(update={"data_dir": directory}))
    fresh.sync(Selection())
    now, held = _contents(fresh), _contents(world)
    return {square for square in {*now, *held} if now.get(square) != held.get(square)}


def nights(data_dir: Path, first: date, start: Month, **environment: str) -> Iterator[Rehearsal]:
    """A world synced on its first day, and then every night, for as long as somebody asks for more."""
    world = rehearsal(
        data_dir, start=start, as_of=first, service=None, BROKERBI_REPORTS=REPORTS, **environment
    )
    world.sync()
    yield world
    while True:
        first += timedelta(days=1)
        world = world.on_another_day(first)
        world.sync()
        yield world


def _contents(world: Rehearsal) -> dict[Square, object]:
    found: dict[Square, object] = {}
    for table, theirs in TABLES.items():
        rows = world.rows(
            "SELECT _customer, _month, list_sort(list(hash(theirs::VARCHAR))) "
            f"FROM (SELECT {theirs} FROM bi.{table}) AS theirs GROUP BY ALL"
        )
        found |= {(table, customer, month): held for customer, month, held in rows}
    return found


def main(days: int, every: int) -> None:
    """Print for both ways how many squares were stale on average, and what it cost."""
    for words, most in (("without asking what changed", "0"), ("asking what changed", "12")):
        requests, seen = 0, []
        with TemporaryDirectory() as folder:
            world_nights = nights(
                Path(folder) / "data", date(2026, 5, 5), Month(2024, 6), BROKERBI_CHANGED_MONTHS=most
            )
            for night, world in enumerate(world_nights):
                requests += len(world.asked) if night else 0
                if night and night % every == 0:
                    seen.append(len(stale(world, Path(folder) / f"fresh {night}")))
                if night == days:
                    break
        sys.stdout.write(
            f"{words}: {sum(seen) / len(seen):.1f} stale squares on average, {max(seen)} at most, "
            f"{seen[-1]} at the end; {requests / days:.0f} requests a night\n"
        )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--days", type=int, default=40)
    arguments.add_argument("--every", type=int, default=5)
    given = arguments.parse_args()
    main(given.days, given.every)
