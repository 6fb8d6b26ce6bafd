"""One history seen on different days: what is edited, cancelled, restated, removed and revised."""

from __future__ import annotations

from datetime import date

from pipelines.sandbox.service import Service
from tests.unit.sandbox.asking import AGREED, BI, Json, ask, estates, leads, world

SUMMER, WINTER = date(2025, 7, 31), date(2026, 3, 31)
SPRING = {"dateFrom": "2025-03-01T00:00:00", "dateTo": "2025-04-30T23:59:59"}

HALF_YEAR = {"dateFrom": "2025-01-01T00:00:00", "dateTo": "2025-06-30T23:59:59"}


def _on(day: date) -> Service:
    return Service(world().at(day))


def _sales(day: date) -> dict[str, Json]:
    tree = ask(_on(day), f"{BI}/GetSalesReport", customerId="G1", **AGREED, **HALF_YEAR)
    return {estate["id"]: estate for _, _, estate in estates(tree)}


def _leads(day: date, choice: str) -> set[str]:
    asked = {"customerId": "G1", "activeStatusTipLead": choice, **SPRING}
    answer = ask(_on(day), f"{BI}/TipsAndLeads/Report", **asked)
    return {(row.get("lead") or row["tip"])["id"] for _, row in leads(answer)}


def _budgets(day: date) -> dict[str, int]:
    rows = ask(_on(day), f"{BI}/Budget/Commission/G1/2025/11")
    return {row["userId"]: row["commission"] for row in rows}


def test_cancelled_sales_vanish() -> None:
    assert set(_sales(SUMMER)) - set(_sales(WINTER))


def test_sales_registered_late_turn_up_in_older_months() -> None:
    assert {key for key, sale in _sales(WINTER).items() if sale["contractDay"] < "2025-06"} - set(
        _sales(date(2025, 6, 1))
    )


def test_some_commissions_are_restated() -> None:
    before, after = _sales(SUMMER), _sales(WINTER)
    assert any(before[key]["commission"] != after[key]["commission"] for key in before.keys() & after.keys())


def test_a_restated_sale_carries_what_it_was_before() -> None:
    before, after = _sales(SUMMER), _sales(WINTER)
    for key in before.keys() & after.keys():
        assert before[key]["changes"] == after[key]["changes"][: len(before[key]["changes"])]


def test_every_change_can_be_found_by_its_date() -> None:
    asked = {"customerId": "G1", "dateFrom": "2025-08-01T00:00:00", "dateTo": "2026-03-31T23:59:59"}
    tree = ask(_on(WINTER), f"{BI}/GetSalesReport", selectionType="Changed", **asked)
    touched = {estate["id"] for _, _, estate in estates(tree)}
    before, after = _sales(SUMMER), _sales(WINTER)
    changed = {
        key for key in before.keys() & after.keys() if before[key]["changedAt"] != after[key]["changedAt"]
    }
    assert changed
    assert changed <= touched


def test_removed_leads_are_told_only_when_asked_for() -> None:
    removed = _leads(date(2025, 4, 30), "Active") - _leads(WINTER, "Active")
    assert removed
    assert removed <= _leads(WINTER, "Removed") <= _leads(WINTER, "ActiveAndRemoved")


def test_a_budget_is_changed_twice_for_some_and_never_for_others() -> None:
    first, second, third = (
        _budgets(day) for day in (date(2025, 2, 20), date(2025, 7, 15), date(2025, 10, 31))
    )
    changes = [(first[key] != second[key]) + (second[key] != third[key]) for key in first if key in third]
    assert {0, 1, 2} <= set(changes)


def test_budgets_of_the_year_to_come_are_known_before_it_starts() -> None:
    rows = ask(_on(date(2025, 12, 20)), f"{BI}/Budget/Estate/G1/2026/3")
    assert len(rows) > 15


def test_users_come_and_go_and_change() -> None:
    before, after = (
        {row["id"]: row for row in ask(_on(day), f"{BI}/External/Users", customerId="G1")}
        for day in (date(2024, 6, 1), WINTER)
    )
    both = before.keys() & after.keys()
    assert before.keys() - after.keys()
    assert after.keys() - before.keys()
    assert any(before[key]["cellPhone"] != after[key]["cellPhone"] for key in both)


def test_a_service_can_be_moved_to_another_day() -> None:
    service = _on(SUMMER)
    ask(service, f"{BI}/GetSalesReport", customerId="G1", **AGREED, **SPRING)
    service.set_as_of(WINTER)
    tree = ask(service, f"{BI}/GetSalesReport", customerId="G1", **AGREED, **HALF_YEAR)
    assert {estate["id"] for _, _, estate in estates(tree)} == set(_sales(WINTER))


def test_a_service_that_follows_the_calendar_moves_by_itself() -> None:
    days = [SUMMER]
    service = Service(world().at(SUMMER), today=lambda: days[-1])
    ask(service, f"{BI}/External/Users", customerId="G1")
    days.append(WINTER)
    ask(service, f"{BI}/External/Users", customerId="G1")
    assert service.world.as_of == WINTER
