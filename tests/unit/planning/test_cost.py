"""Requests of the nightly runs to come, as long as nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month, months_between
from pipelines.planning.due import PlanInputs, make_calendar
from pipelines.planning.plan import Plan, plan_probes, plan_reports
from pipelines.planning.selection import Selection
from tests.scenarios.scenario import TODAY, Scenario, scenario
from warehouse.ledger.ledger import Cap, Ledger, StoredMonth

BUDGETS = ("budget_sold_estates", "budget_commission", "budget_crm")


def after(plan: Plan, ledger: Ledger, day: date) -> Ledger:
    """The ledger if everything in a plan was loaded on that day."""
    moment, held = datetime.combine(day, time(12), UTC), dict(ledger.stored)
    for planned in plan.planned:
        months: dict[date | None, StoredMonth] = {
            month.first_day: StoredMonth(moment, "open" if month.last_day >= day else "held")
            for month in planned.months.requested
        }
        if planned.windows:
            held[planned.pair] = {
                **held.get(planned.pair, {}),
                **(months or {None: StoredMonth(moment, "held")}),
            }
    probed = dict.fromkeys((probe.customer.id for probe in plan.probes), day)
    return replace(ledger, stored=held, probed={**ledger.probed, **probed})


def nightly_requests(here: Scenario, ledger: Ledger, nights: int) -> Iterator[int]:
    """The requests that each nightly run is expected to make."""
    reports = [report for report in REPORTS.values() if report.timing.enabled]
    for number in range(nights):
        day = TODAY + timedelta(days=number)
        known = make_calendar(here.settings, day), ledger, Selection(), reports, here.settings.customers
        months = [month.first_day for month in months_between(Month(2024, 1), Month.of(day))]
        unsettled = {(name, here.settings.customers[0].id): months for name in ("sales", "tips_and_leads")}
        inputs = PlanInputs(*known, unsettled=unsettled, max_changed_months=12)
        plan = Plan(tuple(plan_reports(inputs)), 10, 5, 0.5, tuple(plan_probes(inputs)))
        yield plan.requests
        ledger = after(plan, ledger, day)


@pytest.mark.parametrize(("cap", "first", "quiet"), [(Cap(), 335, 45), (Cap(months=1), 473, 51)])
def test_no_nightly_run_of_an_office_makes_many_more_requests_than_another(
    tmp_path: Path, cap: Cap, first: int, quiet: int
) -> None:
    here = scenario(tmp_path, offices=1, start="2024-01")
    customer = here.settings.customers[0].id
    caps = {(name, customer): cap for name in BUDGETS}
    pages = {("tips_and_leads", customer): 4}  # one for each of two spans and two choices
    begin, *others = nightly_requests(here, Ledger(caps=caps, most_requests=pages), 70)
    assert (begin <= first, max(others) <= quiet) == (True, True)


@pytest.mark.parametrize(("days_ago", "probes"), [(0, 0), (1, 1)])
def test_changed_sales_are_requested_again_the_day_after_a_denial(
    tmp_path: Path, days_ago: int, probes: int
) -> None:
    here, moment = scenario(tmp_path, offices=1, start="2024-01"), datetime.combine(TODAY, time(12), UTC)
    pairs = [(name, here.settings.customers[0].id) for name in REPORTS]
    held = StoredMonth(moment - timedelta(days=9), "held")
    months: dict[date | None, StoredMonth] = {date(2024, 1, 1): held}
    ledger = Ledger(
        stored=dict.fromkeys(pairs, months), denied=dict.fromkeys(pairs, moment - timedelta(days=days_ago))
    )
    reports = list(REPORTS.values())
    known = make_calendar(here.settings, TODAY), ledger, Selection(), reports, here.settings.customers
    assert len([*plan_probes(PlanInputs(*known))]) == probes
