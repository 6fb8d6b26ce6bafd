"""Syncs on any day with any settings: every row is kept, counted from the stored answers by other means."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipelines.months import Month
from pipelines.sandbox.service import Service
from tests.scenarios.scenario import FastClock, Scenario, settings_for, world_of
from tests.working_file import give_working_file
from warehouse.load.landing import Landing

FEWEST = settings(max_examples=max(1, settings().max_examples // 100))
"""An example is two whole syncs; the thorough profile tries twenty."""
FIRST = date(2023, 12, 1)
REPORTS = ("commission_office", "sales", "running_commissions", "tips_and_leads")
ZONES = ("Europe/Stockholm", "UTC", "America/St_Johns", "Pacific/Auckland", "Australia/Lord_Howe")


@cache
def world() -> Service:
    return world_of("2023-12", 2)


def scenario_of(directory: Path, today: date, months: int, zone: str, page_size: int) -> Scenario:
    """A sync on this day that keeps so many months, the current one among them."""
    service = Service(world().world)
    start = max(Month.of(FIRST), Month.of(today).plus(1 - months))
    words = {"today": today.isoformat(), "timezone": zone, "page_size": str(page_size)}
    chosen = settings_for(directory, service.world.offices[:1], str(start), REPORTS, **words)
    give_working_file(directory)
    return Scenario(service, chosen, FastClock(noon=datetime.combine(today, time(12), UTC)))


def served(directory: Path) -> int:
    """The rows of leads and running commissions in the stored answers that count, in the months asked for."""
    landing, rows = Landing(directory / "landing"), 0
    for path in landing.paths():
        months = {day[:7] for day in landing.landed(path).header["months"]}
        for meta, body in landing.read_used(path):
            told = json.loads(body)
            if meta["path"].endswith("RunningCommissions"):
                rows += sum(one["obtainedAt"][:7] in months for one in told)
            if "TipsAndLeads" in meta["path"]:
                for name in ("incomingLeads", "outgoingLeads", "tips"):
                    rows += sum(one["createdAt"][:7] in months for one in _rows(told, name))
    return rows


def _rows(told: object, name: str) -> list[dict[str, str]]:
    """The rows of a list that stands under this name, wherever that is."""
    if isinstance(told, list):
        return [row for one in told for row in _rows(one, name)]
    if not isinstance(told, dict):
        return []
    own = told.get(name)
    below = [row for key, one in told.items() if key != name for row in _rows(one, name)]
    return [*(own if isinstance(own, list) else []), *below]


KEPT = """
SELECT (SELECT count(*) FROM bi.running_commissions) + (SELECT count(*) FROM bi.incoming_leads)
     + (SELECT count(*) FROM bi.outgoing_leads) + (SELECT count(*) FROM bi.tips)
     + (SELECT count(*) FROM meta.quarantine_rows WHERE report IN ('running_commissions', 'tips_and_leads'))
"""


@FEWEST
@given(
    today=st.dates(FIRST, date(2026, 11, 21)),
    months=st.integers(1, 14),
    zone=st.sampled_from(ZONES),
    page_size=st.sampled_from([7, 100, 1000]),
)
@example(today=date(2024, 2, 29), months=3, zone="Europe/Stockholm", page_size=7)
@example(today=date(2024, 12, 31), months=13, zone="Pacific/Auckland", page_size=100)
@example(today=date(2026, 3, 29), months=2, zone="Europe/Stockholm", page_size=1000)
def test_every_row_is_kept_and_twice_is_once(today: date, months: int, zone: str, page_size: int) -> None:
    with TemporaryDirectory() as folder:
        here = scenario_of(Path(folder), today, months, zone, page_size)
        assert here.sync().complaints() == []
        assert here.value(KEPT) == served(Path(folder))
        before = here.cells()
        assert here.sync(refresh=True).complaints() == []
        assert here.cells() == before
