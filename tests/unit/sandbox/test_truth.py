"""Answers and truth: two computations over the same world that agree to the öre."""

from __future__ import annotations

from collections import defaultdict
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

FIRST, LAST = date(2025, 1, 1), date(2025, 12, 31)


def _true(customer: str = "G1", first: date = FIRST, last: date = LAST) -> dict[str, Any]:
    return truth(world(), customer, first, last)


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
            tuple(str(row[key]) for key in keys),
            (
                row["parts"] if row["assignment"] == "Sale" else Decimal(0),
                row["commission"],
                row["price"] if row["assignment"] == "Sale" else Decimal(0),
            ),
        )
        for row in rows
    )


@pytest.mark.parametrize("name", ["GetEstatesReport", "GetEstateReportProdDb"])
def test_the_estates_reports_have_sales_and_writings(name: str) -> None:
    tree = ask(quiet(), f"{BI}/{name}", customerId="G1", **AGREED, **YEAR)
    expected = sum(row["count"] for row in _true()["sales"] + _true()["writings"])
    assert len(list(estates(tree))) == expected


@pytest.mark.parametrize("customer", ["G1", "M30012"])
def test_offices_and_users_earned_what_is_true(customer: str) -> None:
    shares = _true(customer)["shares"]
    offices = ask(quiet(), f"{BI}/CommissionOfficeReport/{customer}", **YEAR)
    users = ask(quiet(), f"{BI}/CommissionUserReport/{customer}", **YEAR)
    of_offices = _summed(((row["office"]["customerId"],), _measures(row)) for row in offices)
    assert of_offices == _true_measures(shares, "office")
    assert _summed(((row["userId"],), _measures(row)) for row in users) == _true_measures(shares, "user")


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
    assert told == _true_measures(_true()["shares"], "office", "month")


def test_budgets_and_users_are_the_true_ones() -> None:
    true = _true("G1", date(2025, 9, 1), date(2025, 9, 30))
    budgets = ask(quiet(), f"{BI}/Budget/Commission/G1/2025/9")
    users = ask(quiet(), f"{BI}/External/Users", customerId="G1")
    assert {row["userId"]: row["commission"] for row in budgets} == {
        row["user"]: row["commission"] for row in true["budgets"]
    }
    assert [(row["id"], row["name"]) for row in users] == [
        (row["user"], row["name"]) for row in true["users"]
    ]


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
