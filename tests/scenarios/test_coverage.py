"""The months of meta.coverage, compared with the plan and the screens."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from pipelines.months import Month
from pipelines.planning.plan import make_plan
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import TODAY, Scenario, scenario
from warehouse.store.database import Store

REPORTS = ("users", "commission_office", "budget_commission", "office_budget_commission", "live_commissions")
Months = set[tuple[str, str, date]]
MISSING = "SELECT report, customer, month FROM meta.coverage WHERE is_missing AND month IS NOT NULL"


def planned(here: Scenario) -> Months:
    """The months that the plan finds missing."""
    plan, _ = make_plan(here.settings, Selection(), Store(here.data_dir), here.clock, here.catalogue)
    return {(*row.pair, month.first_day) for row in plan.planned for month in row.months.missing}


def covered(here: Scenario) -> Months:
    """The same as meta.coverage has it."""
    return set(here.rows(MISSING))


def test_the_plan_requests_the_months_that_are_missing(tmp_path: Path) -> None:
    here = scenario(tmp_path, REPORTS, offices=2, start="2026-07")
    first, second = (customer.id for customer in here.settings.active_customers)
    here.sync(Fault("404", customer=second, path="CommissionOffice"), first=Month(2026, 10))
    assert len(planned(here)) > 6
    assert covered(here) == planned(here)
    here.sync(Fault("403", customer=first, path="LiveData"), refresh=True)
    here = here.on_calendar_day(TODAY + timedelta(days=1))
    assert covered(here) == planned(here)
