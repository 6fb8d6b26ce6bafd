"""Plans for many customers, and their expected requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from pipelines.catalogue.reports import REPORTS, report
from pipelines.months import Month, months_between
from pipelines.planning.due import Calendar, PlanInputs, next_due_days, rules_for
from pipelines.planning.plan import PlannedReport, plan_reports
from pipelines.planning.selection import Pair, Selection
from pipelines.planning.windows import windows
from pipelines.settings.model import Customer
from warehouse.ledger.ledger import Cap, Ledger, StoredMonth

TODAY = date(2026, 11, 21)
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 12)
BUDGETS = ("budget_sold_estates", "budget_commission", "budget_crm")
SALES = report("sales")
HELD = StoredMonth(datetime(2026, 11, 20, 23, 30, tzinfo=UTC), "held")  # the same night, local time
Held = Mapping[date | None, StoredMonth]


def held_until(last: Month) -> Held:
    """Every month from the start until one is loaded."""
    return {month.first_day: HELD for month in months_between(Month(2024, 1), last)}


ALL = held_until(Month(2026, 11))
HELD_OF_THREE: Mapping[Pair, Held] = {("sales", name): ALL for name in ("M1", "M2", "M3")}


def planned(ledger: Ledger, selection: Selection | None = None) -> list[PlannedReport]:
    customers = [Customer(id=name) for name in ("M1", "M2", "M3", "new")]
    ledger = replace(ledger, stored=HELD_OF_THREE)
    inputs = PlanInputs(CALENDAR, ledger, selection or Selection(), [SALES], customers, max_changed_months=12)
    return list(plan_reports(inputs))


@pytest.mark.parametrize(("named", "count"), [((), 0), (("M1",), 1)])
def test_an_inactive_customer_is_planned_only_if_it_is_named(named: tuple[str, ...], count: int) -> None:
    customers = [Customer(id="M1", active=False)]
    inputs = PlanInputs(CALENDAR, Ledger(), Selection(customers=named), [SALES], customers)
    assert len([*plan_reports(inputs)]) == count


def test_a_learned_limit_applies_to_its_customer_only() -> None:
    found = planned(Ledger(caps={("sales", "M2"): Cap(months=1)}))
    assert [len(one.windows) for one in found] == [1, 3, 1, 3]


def test_a_change_makes_months_due_for_its_customer_only() -> None:
    changed = {("sales", "M3"): {date(2024, 5, 1): datetime(2026, 11, 21, tzinfo=UTC)}}
    found = planned(Ledger(changed=changed))
    assert [one.months.due_for("changed") for one in found] == [(), (), (Month(2024, 5),), ()]


def test_a_night_requests_the_least_recently_fetched_month_with_unanswered_leads() -> None:
    leads, months = report("tips_and_leads"), [date(2024, month, 1) for month in (2, 3, 4, 5)]
    stored: dict[date | None, StoredMonth] = {
        day: StoredMonth(datetime(2026, 11, number, tzinfo=UTC), "held")
        for number, day in enumerate(months, 10)
    }
    pair = ("tips_and_leads", "M1")
    ledger, unsettled = Ledger(stored={pair: {**ALL, **stored}}), {pair: [*months[1:], date(2026, 10, 1)]}
    inputs = PlanInputs(CALENDAR, ledger, Selection(), [leads], [Customer(id="M1")], unsettled=unsettled)
    [planned_leads] = plan_reports(inputs)
    assert planned_leads.months.due_for("unsettled") == (Month(2024, 3),)


def test_a_budget_is_requested_if_its_counterpart_has_changed() -> None:
    changed = {date(2024, 5, 1): datetime(2026, 11, 21, tzinfo=UTC)}
    held = {("office_budget_crm", "M1"): held_until(Month(2027, 11))}
    ledger = Ledger(stored=held, snapshots_changed={("budget_crm", "M1"): changed})
    inputs = PlanInputs(CALENDAR, ledger, Selection(), [report("office_budget_crm")], [Customer(id="M1")])
    [budgets] = plan_reports(inputs)
    assert budgets.months.due_for("changed") == (Month(2024, 5),)


@pytest.mark.parametrize("caps", [{}, dict.fromkeys(BUDGETS, Cap(months=1))], ids=["together", "alone"])
def test_older_months_are_requested_on_different_nights(caps: Mapping[str, Cap]) -> None:
    reports = [one for one in REPORTS.values() if one.timing.enabled and one.has_months]
    chain = [Customer(id=f"M{number}") for number in range(20)]
    held = {(report.name, one.id): ALL for report in reports for one in chain}
    learned = {(name, one.id): cap for name, cap in caps.items() for one in chain}
    requests = Counter[tuple[str, date]]()
    ledger = Ledger(stored=held, caps=learned)
    inputs = PlanInputs(CALENDAR, ledger, Selection(), reports, chain)
    for one in plan_reports(inputs):
        due_days = next_due_days(inputs.stored[one.pair], rules_for(inputs, one.report, one.customer.id))
        days = {month: due.day for month, due in due_days.items() if due.reason == "monthly"}
        for day in set(days.values()):
            months = [month for month in days if month and days[month] == day]
            together = learned.get(one.pair, Cap(months=one.report.endpoint.window_months)).months or 1
            requests[one.customer.id, day] += len([*windows(months, together, TODAY)])
    nights = Counter[date]()
    for (_, day), number in requests.items():
        nights[day] += number
    assert (len(nights), max(requests.values()) <= 6) == (28, True)
    assert max(nights.values()) < 1.3 * nights.total() / 28


def test_months_named_for_a_customer_are_requested_for_it_only() -> None:
    exact = {("sales", "M1"): (Month(2026, 11),), ("sales", "new"): (Month(2024, 1), Month(2026, 11))}
    found = planned(Ledger(), Selection(exact=exact))
    assert [(one.customer.id, one.months.requested) for one in found] == [
        (name, exact[r, name]) for r, name in exact
    ]


@pytest.mark.parametrize(("pages", "requests"), [({}, 8), ({("tips_and_leads", "M1"): 6}, 12)])
def test_a_paged_window_is_expected_to_need_as_many_requests_as_the_largest_so_far(
    pages: dict[Pair, int], requests: int
) -> None:
    ledger = Ledger(stored={("tips_and_leads", "M1"): held_until(Month(2026, 5))}, most_requests=pages)
    customers = [Customer(id="M1")]
    inputs = PlanInputs(CALENDAR, ledger, Selection(), [report("tips_and_leads")], customers)
    assert [planned.requests for planned in plan_reports(inputs)] == [requests]
