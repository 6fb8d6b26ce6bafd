"""Requests of the nightly runs to come, as long as nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.planning.due import calendar
from pipelines.planning.plan import Plan, plan_from
from pipelines.planning.rules import PlanInputs
from pipelines.planning.selection import Selection
from tests.scenarios.scenario import TODAY, Scenario, scenario
from warehouse.ledger.ledger import Cap, HeldMonth, Ledger

BUDGETS = ("budget_sold_estates", "budget_commission", "budget_crm")


def after(plan: Plan, ledger: Ledger, day: date) -> Ledger:
    """The ledger if everything in a plan was loaded on that day."""
    moment, held = datetime.combine(day, time(12), UTC), dict(ledger.held)
    for planned in plan.planned:
        months: dict[date | None, HeldMonth] = {
            month.first_day: HeldMonth(moment, "open" if month.last_day >= day else "held")
            for month in planned.wanted.months
        }
        if planned.windows:
            held[planned.pair] = {
                **held.get(planned.pair, {}),
                **(months or {None: HeldMonth(moment, "held")}),
            }
    probed = dict.fromkeys((probe.customer.id for probe in plan.probes), day)
    return replace(ledger, held=held, probed={**ledger.probed, **probed})


def nightly_requests(here: Scenario, ledger: Ledger, nights: int) -> Iterator[int]:
    """The requests that each nightly run is expected to make."""
    reports = [report for report in REPORTS.values() if report.timing.enabled]
    for number in range(nights):
        day = TODAY + timedelta(days=number)
        known = calendar(here.settings, day), ledger, Selection(), reports, here.settings.customers
        plan = plan_from(PlanInputs(*known, most_changed=12), here.settings)
        yield plan.requests_expected
        ledger = after(plan, ledger, day)


@pytest.mark.parametrize(("cap", "first", "quiet"), [(Cap(), 275, 45), (Cap(months=1), 390, 65)])
def test_no_nightly_run_of_an_office_makes_many_more_requests_than_another(
    tmp_path: Path, cap: Cap, first: int, quiet: int
) -> None:
    here = scenario(tmp_path, offices=1, start="2024-01")
    caps = {(name, here.settings.customers[0].id): cap for name in BUDGETS}
    begin, *others = nightly_requests(here, Ledger(caps=caps), 70)
    assert (begin <= first, max(others) <= quiet) == (True, True)
