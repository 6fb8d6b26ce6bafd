"""Is every row that does not fit turned away alone, whole, and with its reason and place?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.normalize.answers import JANUARY, estate, estates, event, flattened, lead, reasons, rows


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("abc", "a text"),
        (True, "true or false"),
        ([1], "an object or a list"),
        ({"value": 1}, "an object or a list"),
        (10**16, "a whole number"),
        (1e300, "a fractional number"),
        (10**30, "a whole number too long for 64 bits"),
    ],
)
def test_a_row_with_a_value_of_another_type_is_turned_away(value: Any, said: str) -> None:
    flat = flattened("running_commissions", [event(), event(amount=value)])
    assert reasons(flat) == [
        ("running_commissions", f"amount is no DECIMAL(18,4): it is {said}", "amount"),
    ]
    assert len(rows(flat, "running_commissions", "_row")) == 1


def test_a_row_that_is_turned_away_says_where_it_stood_and_what_it_was() -> None:
    bad = estate("OBJ2", commission="much", agents=[{"id": "HAN1"}])
    (rejected,) = flattened("sales", estates(estate("OBJ1"), bad)).rejected
    assert rejected.place == "$.officeSaleReports[0].years[0].months[0].estateSaleReports[1]"
    assert json.loads(rejected.raw) == bad
    assert rejected.month == JANUARY.first_day


def test_of_several_pages_the_page_is_said() -> None:
    pages = {"incomingLeads": [lead("L1")]}, {"incomingLeads": [lead("L2"), lead(None)]}
    (rejected,) = flattened("tips_and_leads", *pages).rejected
    assert rejected.place == "page 2: $.incomingLeads[1]"
    assert json.loads(rejected.raw) == lead(None)


def test_what_is_nested_in_a_row_goes_with_it() -> None:
    agents = [{"id": "HAN1", "changes": [{"commission": 1}]}]
    flat = flattened(
        "sales", estates(estate("OBJ1", commission="x", agents=agents), estate("OBJ2", agents=agents))
    )
    assert rows(flat, "sales_estates", "_row", "id") == [(0, "OBJ2")]
    assert rows(flat, "sales_agents", "_parent_row", "estate_id") == [(0, "OBJ2")]
    assert rows(flat, "sales_agent_changes", "_parent_row", "estate_id") == [(0, "OBJ2")]


def test_a_nested_row_that_does_not_fit_leaves_its_parent_alone() -> None:
    flat = flattened(
        "sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}, {"id": "HAN2", "responsible": "maybe"}]))
    )
    assert rows(flat, "sales_agents", "id") == [("HAN1",)]
    assert reasons(flat) == [("sales_agents", "responsible is no BOOLEAN: it is a text", "responsible")]


@pytest.mark.parametrize("id_", [{}, {"id": None}])
def test_a_row_without_its_documented_id_is_turned_away(id_: dict[str, None]) -> None:
    day = {"contractDay": "2026-01-15"}
    flat = flattened("sales", estates({**day, **id_}))
    assert reasons(flat) == [("sales_estates", "id is missing, which tells rows apart", "id")]


@pytest.mark.parametrize("element", [7, "text", None, ["list"], True])
def test_an_element_that_is_no_object_is_turned_away(element: Any) -> None:
    flat = flattened("sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}, element])))
    assert reasons(flat) == [("sales_agents", "it is no object", None)]
    assert json.loads(flat.rejected[0].raw) == element
    assert rows(flat, "sales_agents", "id") == [("HAN1",)]


@pytest.mark.parametrize("day", ["2025-12-31T23:59:59", "2026-03-01T00:00:00", "0001-01-01T00:00:00"])
def test_a_row_dated_outside_the_window_is_turned_away(day: str) -> None:
    flat = flattened("running_commissions", [event(obtainedAt=day)])
    assert reasons(flat) == [
        ("running_commissions", "its month is not one of those asked for", "obtained_at")
    ]
    assert flat.rejected[0].month is None


def test_a_row_without_its_documented_date_is_turned_away() -> None:
    flat = flattened("running_commissions", [event(obtainedAt=None)])
    assert reasons(flat) == [
        ("running_commissions", "it has no date, though one is documented", "obtained_at")
    ]


def test_a_level_that_does_not_fit_is_turned_away_with_all_that_stands_in_it() -> None:
    bad = estates(estate("OBJ1"), customerId=["M1"])["officeSaleReports"]
    good = estates(estate("OBJ2"))["officeSaleReports"]
    flat = flattened("sales", {"officeSaleReports": bad + good})
    assert rows(flat, "sales_estates", "office_customer_id", "id") == [("M1", "OBJ2")]
    assert [json.loads(one.raw) for one in flat.rejected] == bad


def test_a_reason_never_holds_a_value_of_the_row() -> None:
    flat = flattened("users", [{"id": "H1", "name": True, "changedAt": "Anna Andersson"}])
    assert "Anna" not in flat.rejected[0].reason
