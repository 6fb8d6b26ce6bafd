"""Budgets that one request tells of together, and that another report says have changed."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from tests.scenarios.scenario import scenario

BUDGETS = ("budget_commission", "office_budget_commission")
DECEMBER = date(2026, 12, 2)


def test_budgets_that_have_changed_are_all_in_the_file_the_same_night(tmp_path: Path) -> None:
    here = scenario(tmp_path / "nightly", BUDGETS, offices=1, start="2026-09")
    here.service.shapes = "b"
    here.sync()
    here.on(DECEMBER - timedelta(days=1)).sync()
    then = here.on(DECEMBER)  # budgets of the next year are decided
    then.sync()
    fresh = then.copied_to(tmp_path / "fresh")
    fresh.sync(refresh=True)
    assert then.cells().items() <= fresh.cells().items()  # the month that came into reach may wait
    assert len({(entry.path, *entry.query.items()) for entry in then.asked}) == len(then.asked)
