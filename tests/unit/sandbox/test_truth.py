"""Answers and truth: two computations over the same world that agree to the öre."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.months import Month
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from tests.truth import truth
from tests.unit.sandbox.asking import (
    AGREED,
    BI,
    EVERYTHING,
    SPRING,
    YEAR,
    Json,
    ask,
    estates,
    leads,
    quiet,
    world,
)

SEEDS = (1, 77)
CUSTOMERS = ("G1", "M30012", "M30016")
FIRST, LAST = date(2025, 1, 1), date(2025, 12, 31)

every_customer = pytest.mark.parametrize("customer", CUSTOMERS)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def _true(seed: int, customer: str, first: date = FIRST, last: date = LAST) -> dict[str, Any]:
    return truth(world(seed), customer, first, last)


def _summed(rows: Iterable[tuple[object, tuple[Decimal, ...]]]) -> dict[object, tuple[Decimal, ...]]:
    sums: dict[object, tuple[Decimal, ...]] = {}
    for key, values in rows:
        held = sums.get(key, (Decimal(0),) * len(values))
        sums[key] = tuple(a + b for a, b in zip(held, values, strict=True))
    return {key: values for key, values in sums.items() if any(values)}


def _measures(row: Json) -> tuple[Decimal, ...]:
    return tuple(Decimal(row[name]) for name in ("soldEstateParts", "commission", "soldTotalPrice"))


def _true_measures(rows: Json, *keys: str) -> dict[object, tuple[Decimal, ...]]:
    """Parts and prices of sales only; the commission of everything."""
    return _summed(
        (
            tuple(str(row[key]) for key in keys) if len(keys) > 1 else row[keys[0]],
            (
                row["parts"] if row["assignment"] == "Sale" else Decimal(0),
                row["commission"],
                row["price"] if row["assignment"] == "Sale" else Decimal(0),
            ),
        )
        for row in rows
    )


@every_seed
@every_customer
def test_the_sales_report_has_the_true_sales_per_office_and_month(seed: int, customer: str) -> None:
    tree = ask(quiet(seed), f"{BI}/GetSalesReport", customerId=customer, **AGREED, **YEAR)
    told = _summed(
        ((office, month), (Decimal(1), Decimal(estate["finalPrice"]), Decimal(estate["commission"])))
        for office, month, estate in estates(tree)
    )
    assert told == {
        (row["office"], str(row["month"])): (row["count"], row["finalPrice"], row["commission"])
        for row in _true(seed, customer)["sales"]
    }


@every_seed
@every_customer
def test_the_estates_reports_have_sales_and_writings(seed: int, customer: str) -> None:
    service, true = quiet(seed), _true(seed, customer)
    expected = sum(row["count"] for row in true["sales"] + true["writings"])
    counts = [
        len(list(estates(ask(service, f"{BI}/{name}", customerId=customer, **AGREED, **YEAR))))
        for name in ("GetEstatesReport", "GetEstateReportProdDb")
    ]
    assert counts == [expected, expected]


@every_seed
def test_agents_shares_of_a_group_are_the_true_shares(seed: int) -> None:
    tree = ask(quiet(seed), f"{BI}/GetSalesReport", customerId="G1", **AGREED, **YEAR)
    told = _summed(
        (
            (agent["primaryOffice"]["customerId"], agent["id"], month),
            (agent["commission"]["percentageOfTotal"] / 100, agent["commission"]["value"]),
        )
        for _, month, estate in estates(tree)
        for agent in estate["agents"]
    )
    sales = [row for row in _true(seed, "G1")["shares"] if row["assignment"] == "Sale"]
    assert told == {
        (row["office"], row["user"], str(row["month"])): (row["parts"], row["commission"]) for row in sales
    }


@every_seed
@every_customer
def test_offices_earned_what_is_true(seed: int, customer: str) -> None:
    rows = ask(quiet(seed), f"{BI}/CommissionOfficeReport/{customer}", **YEAR)
    told = _summed((row["office"]["customerId"], _measures(row)) for row in rows)
    assert told == _true_measures(_true(seed, customer)["shares"], "office")


@every_seed
@every_customer
def test_users_earned_what_is_true(seed: int, customer: str) -> None:
    rows = ask(quiet(seed), f"{BI}/CommissionUserReport/{customer}", **YEAR)
    told = _summed((row["userId"], _measures(row)) for row in rows)
    assert told == _true_measures(_true(seed, customer)["shares"], "user")


@pytest.mark.parametrize("shapes", ["a", "b"])
def test_months_of_the_monthly_report_are_the_true_months(shapes: Any) -> None:
    answer = ask(quiet(shapes=shapes), f"{BI}/CommissionOfficeReportByMonth/G1", **YEAR)
    told = _summed(
        (
            (office.get("customerId") or office["office"]["customerId"], f"2025-{int(month['month']):02d}"),
            _measures(month),
        )
        for office in answer["commissionOffices"]
        for year in office["years"]
        for month in year["months"]
    )
    assert told == _true_measures(_true(1, "G1")["shares"], "office", "month")


@every_seed
@every_customer
def test_running_commissions_are_the_true_ones_with_equal_rows_kept(seed: int, customer: str) -> None:
    rows = ask(quiet(seed), f"{BI}/RunningCommissions", customerId=customer, **SPRING)
    told = _summed(
        (
            (row["customerId"], row["userId"], row["obtainedAt"][:7]),
            (Decimal(1), row["amount"], row["amount"] * row["exchangeRate"]),
        )
        for row in rows
    )
    true = _true(seed, customer, date(2025, 4, 1), date(2025, 5, 31))["running"]
    assert told == {
        (row["office"], row["user"], str(row["month"])): (row["rows"], row["amount"], row["amountSek"])
        for row in true
    }


@every_seed
@pytest.mark.parametrize("choice", ["Active", "Removed", "ActiveAndRemoved"])
def test_leads_and_tips_are_the_true_ones_by_state(seed: int, choice: str) -> None:
    service = quiet(seed)
    answer = ask(service, f"{BI}/TipsAndLeads/Report", customerId="G1", activeStatusTipLead=choice, **SPRING)
    told = Counter(
        (way, row["createdAt"][:7], (row.get("lead") or row["tip"]).get("state"))
        for way, row in leads(answer)
    )
    true: Counter[tuple[str, str, str]] = Counter()
    for row in _true(seed, "G1", date(2025, 4, 1), date(2025, 5, 31))["leads"]:
        if choice == "ActiveAndRemoved" or row["removed"] == (choice == "Removed"):
            true[row["way"], str(row["month"]), row["state"]] += row["count"]
    assert told == true


@every_seed
def test_budgets_are_the_true_ones(seed: int) -> None:
    service, told = quiet(seed), {}
    for row in ask(service, f"{BI}/Budget/Commission/G1/2025/9"):
        told[row["userId"]] = row["commission"]
    true = _true(seed, "G1", date(2025, 9, 1), date(2025, 9, 30))["budgets"]
    assert told == {row["user"]: row["commission"] for row in true}


def test_users_are_the_true_ones() -> None:
    told = [(row["id"], row["name"]) for row in ask(quiet(), f"{BI}/External/Users", customerId="G1")]
    assert told == [(row["user"], row["name"]) for row in _true(1, "G1")["users"]]


@settings(max_examples=8)
@given(st.integers(1, 10**9), st.dates(date(2025, 2, 1), date(2026, 12, 31)))
def test_offices_earned_what_is_true_in_any_world_on_any_day(seed: int, as_of: date) -> None:
    random_world = World.build(seed=seed, offices=3, start=Month(2025, 1), as_of=as_of)
    told: dict[str, Decimal] = defaultdict(Decimal)
    for row in ask(Service(random_world), f"{BI}/CommissionOfficeReport/G1", **YEAR):
        told[row["office"]["customerId"]] += row["commission"]
    true: dict[str, Decimal] = {office: Decimal(0) for office in random_world.offices}
    for row in truth(random_world, "G1", FIRST, LAST)["shares"]:
        true[row["office"]] += row["commission"]
    assert told == true


def test_the_leads_of_a_window_are_the_same_in_whole_and_in_pages() -> None:
    service = quiet()
    asked = {"customerId": "G1", **EVERYTHING, **SPRING}
    whole = list(leads(ask(service, f"{BI}/TipsAndLeads/Report", **asked)))
    paged: list[tuple[str, Json]] = []
    for index in range(100):
        page = ask(service, f"{BI}/TipsAndLeads/Report/Paged", pageIndex=index, pageSize=50, **asked)
        paged += leads(page)
    assert sorted(map(str, paged)) == sorted(map(str, whole))
