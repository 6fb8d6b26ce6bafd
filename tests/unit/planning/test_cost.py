"""Cost of the nights to come, against what the same nights then ask."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.planning.cost import first_of_month, nights_to_come
from pipelines.planning.selection import Selection
from tests.scenarios.scenario import FEW, TODAY, Scenario, scenario
from warehouse.ledger.ledger import Cap, remember_cap
from warehouse.store.database import Store

CHOSEN = (*FEW, "budget_commission", "office_budget_commission")


def costs(here: Scenario, nights: int) -> list[int]:
    """What each of the next nights is expected to ask."""
    store = Store(here.data_dir)
    found = nights_to_come(here.settings, Selection(), store, here.clock, count=nights)
    return [night.total for night in found]


def test_the_nights_cost_what_was_planned_or_one_less_as_long_as_nothing_changes(tmp_path: Path) -> None:
    here = scenario(tmp_path, CHOSEN, offices=1, start="2026-06")
    here.sync()
    tomorrow = here.on_calendar_day(TODAY + timedelta(days=1))
    expected, asked = costs(tomorrow, 3), []
    for number in range(3):
        tomorrow.on_calendar_day(TODAY + timedelta(days=1 + number)).sync()
        asked.append(len(tomorrow.asked))
    unasked = {most - number for most, number in zip(expected, asked, strict=True)}
    assert unasked <= {
        0,
        1,
    }  # the page after the longest one of leads is asked for once, not for every window


@pytest.mark.parametrize(("longest", "first", "quiet"), [(None, 275, 45), (1, 390, 65)])
def test_no_night_of_an_office_asks_for_much_more_than_another(
    tmp_path: Path, longest: int | None, first: int, quiet: int
) -> None:
    here = scenario(
        tmp_path, [name for name, one in REPORTS.items() if one.timing.enabled], offices=1, start="2024-01"
    )
    if longest:  # rows of budgets without a month
        with Store(tmp_path).writing() as connection:
            for name in ("budget_sold_estates", "budget_commission", "budget_crm"):
                remember_cap(
                    connection, name, here.settings.customers[0].id, Cap(months=1), here.clock.utc_now()
                )
    begin, *others = costs(here, 70)
    assert (begin <= first, max(others) <= quiet) == (True, True)


def test_a_month_of_nights_has_the_first_of_a_month_in_it(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users",), offices=1)
    found = nights_to_come(here.settings, Selection(), Store(tmp_path), here.clock)
    assert (len(found), first_of_month(found).day) == (31, date(2026, 12, 1))
