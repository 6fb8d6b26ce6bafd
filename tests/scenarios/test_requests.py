"""Requests of a night: what is asked together, by turns, and because something else has changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.sandbox.service import Service
from tests.scenarios.scenario import NOON, TODAY, Scenario, scenario, world_of

BUDGETS = ("budget_commission", "office_budget_commission")
DECEMBER = date(2026, 12, 2)


def office(data_dir: Path, shapes: str, *reports: str) -> Scenario:
    """An office with the shapes of answers named, its reports held since last night."""
    first = first_sync(shapes, *reports).copied_to(data_dir)
    return replace(first, service=service_of(shapes)).on(TODAY + timedelta(days=1))


@cache
def first_sync(shapes: str, *reports: str) -> Scenario:
    here = replace(unasked(Path(mkdtemp()), *reports), service=service_of(shapes))
    here.sync()
    return here


def unasked(data_dir: Path, *reports: str) -> Scenario:
    return scenario(data_dir, reports, offices=1, start="2026-09")


def service_of(shapes: str) -> Service:
    service = world_of("2026-09", 1)
    service.shapes = shapes  # type: ignore[assignment]
    return service


def asked(here: Scenario) -> dict[str, int]:
    """How often the last sync asked each of the two reports of budgets."""
    ranges = Counter(entry.path.startswith("/Report/") for entry in here.asked)
    return {"range": ranges[True], "month": ranges[False]}


def test_budgets_of_all_months_are_one_request_and_the_same_rows_as_month_by_month(tmp_path: Path) -> None:
    here = office(tmp_path / "together", "a", BUDGETS[0])
    here.sync(refresh=True)
    alone = office(tmp_path / "alone", "a", BUDGETS[0])
    by_month = replace(REPORTS[BUDGETS[0]], endpoint=replace(REPORTS[BUDGETS[0]].endpoint, window_months=1))
    replace(alone, catalogue={**REPORTS, BUDGETS[0]: by_month}).sync(refresh=True)
    assert (len(here.asked), len(alone.asked)) == (1, 15)
    assert here.cells() == alone.cells()


@pytest.mark.parametrize(
    ("shapes", "most"), [("a", {"range": 1, "month": 4}), ("b", {"range": 6, "month": 6})]
)
def test_a_quiet_night_asks_for_a_part_of_the_budgets(
    tmp_path: Path, shapes: str, most: dict[str, int]
) -> None:
    here = office(tmp_path / "data", shapes, *BUDGETS)
    here.sync()
    assert all(1 <= number <= most[name] for name, number in asked(here).items())


def test_a_first_sync_leaves_budgets_to_their_turns_and_says_until_when(tmp_path: Path) -> None:
    here = unasked(tmp_path, *BUDGETS)
    first = here.sync()
    query = (
        "SELECT report, waiting_months, waiting_until, due_utc FROM meta.freshness WHERE waiting_months > 0"
    )
    waiting = here.rows(query)
    assert {name for name, *_ in waiting} == set(BUDGETS[1:])
    assert all(until <= TODAY + timedelta(days=7) for *_, until, _ in waiting)
    assert all(due.replace(tzinfo=UTC) > NOON + timedelta(days=1) for *_, due in waiting)
    assert first.complaints() == []
    for number in (3, 7):
        here.on_calendar_day(TODAY + timedelta(days=number)).sync()
    assert here.rows(query) == []
    assert here.value("SELECT count(*) FROM meta.months") == 2 * 15


def test_a_night_asks_for_the_months_of_which_the_ledger_said_that_they_are_due(tmp_path: Path) -> None:
    here = office(tmp_path / "data", "b", *BUDGETS, "commission_office")
    for number in range(1, 3):
        night = TODAY + timedelta(days=number)
        said = here.rows(
            "SELECT report, month FROM meta.months WHERE next_due_on <= $1 "
            "UNION ALL SELECT report, month FROM meta.turns WHERE due_on <= $1 ORDER BY ALL",
            night,
        )
        here.on_calendar_day(night).sync()
        read = "SELECT report, month FROM meta.months WHERE fetched_at_utc >= $1 ORDER BY ALL"
        assert here.rows(read, night) == said


def test_months_that_somebody_selects_are_asked_whole(tmp_path: Path) -> None:
    here = unasked(tmp_path, *BUDGETS[1:])
    here.sync(first=Month(2026, 9))
    assert len(here.asked) == 15


@pytest.mark.parametrize("shapes", ["a", "b"])
def test_budgets_that_have_changed_are_all_in_the_file_the_same_night(tmp_path: Path, shapes: str) -> None:
    here = office(tmp_path / "nightly", shapes, *BUDGETS).on(DECEMBER - timedelta(days=1))
    here.sync()
    then = here.on(DECEMBER)  # budgets of the next year are decided
    then.sync()
    fresh = then.copied_to(tmp_path / "fresh")
    fresh.sync(refresh=True)
    assert then.cells().items() <= fresh.cells().items()  # the month that came into reach may wait
    assert len({(entry.path, *entry.query.items()) for entry in then.asked}) == len(then.asked)
