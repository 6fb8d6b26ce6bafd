"""Tests of the month of every row, and of the rows that are rejected: alone, whole, with reason and place."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month, months_between
from pipelines.normalize.document import read_document
from pipelines.normalize.normalize import normalize
from tests.unit.normalize.answers import (
    FEBRUARY,
    JANUARY,
    estate,
    estates,
    event,
    lead,
    normalized,
    reasons,
    rows,
)

YEAR = tuple(months_between(Month(2026, 1), Month(2026, 12)))
BY_MONTH = "commission_office_by_month"


def offices(*found: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"commissionOffices": list(found), **beside}


NESTED = offices(
    {
        "customerId": "M1",
        "name": "One",
        "years": [
            {
                "year": 2026,
                "commission": 30,
                "months": [{"month": 1, "commission": 10.5}, {"month": 2, "commission": 20}],
            }
        ],
    }
)
FLAT = offices(
    {"customerId": "M1", "year": "2026", "month": "02", "commission": 20},
    {"customerId": "M1", "year": "2026", "month": "01", "commission": 10},
)


def test_rows_of_a_window_go_to_the_months_of_their_dates() -> None:
    result = normalized("running_commissions", [event(), event(obtainedAt="2026-02-01T00:00:00")])
    assert rows(result, "running_commissions", "_month") == [(date(2026, 1, 1),), (date(2026, 2, 1),)]


def test_the_date_of_a_row_counts_and_not_the_month_it_is_filed_under() -> None:
    result = normalized("sales", estates(estate("OBJ1", contractDay="2026-02-03T00:00:00")))
    assert rows(result, "sales_estates", "month", "_month") == [("1", date(2026, 2, 1))]


def test_undated_rows_belong_to_the_month_of_their_window() -> None:
    result = normalized("commission_user", [{"userId": "H1"}], months=(FEBRUARY,))
    assert rows(result, "commission_user", "_month") == [(date(2026, 2, 1),)]


def test_a_report_without_months_has_none() -> None:
    assert rows(normalized("users", [{"id": "H1"}]), "users", "_month") == [(None,)]


def test_rows_are_found_where_they_carry_a_year_and_a_month() -> None:
    result = normalized(BY_MONTH, NESTED, months=YEAR)
    columns = ("_month", "office_customer_id", "office_name", "year", "year_commission", "commission")
    assert rows(result, BY_MONTH, *columns) == [
        (date(2026, 1, 1), "M1", "One", 2026, 30, 10.5),
        (date(2026, 2, 1), "M1", "One", 2026, 30, 20.0),
    ]
    assert result.findings.year_and_month is True


def test_rows_that_carry_both_themselves_are_rows_at_once() -> None:
    result = normalized(BY_MONTH, FLAT, months=YEAR)
    assert rows(result, BY_MONTH, "_month", "customer_id", "commission") == [
        (date(2026, 2, 1), "M1", 20),
        (date(2026, 1, 1), "M1", 10),
    ]


def test_lists_nested_in_such_rows_are_their_children() -> None:
    answer = offices({"year": 2026, "months": [{"month": 1, "agents": [{"id": "H1"}]}]})
    result = normalized(BY_MONTH, answer, months=YEAR)
    assert rows(result, f"{BY_MONTH}__agents", "_parent_row", "_month", "id") == [(0, date(2026, 1, 1), "H1")]


def test_such_rows_are_found_under_another_name_as_well() -> None:
    answer = {"result": {"offices": NESTED["commissionOffices"]}}
    result = normalized(BY_MONTH, answer, months=YEAR)
    assert rows(result, BY_MONTH, "_month") == [(date(2026, 1, 1),), (date(2026, 2, 1),)]
    assert result.findings.year_and_month is True


@pytest.mark.parametrize(
    "answer", [offices({"customerId": "M1", "commission": 5}), {"offices": [{"commission": 5}]}, [{"a": 1}]]
)
def test_rows_without_a_year_and_a_month_are_noticed(answer: Any) -> None:
    assert normalized(BY_MONTH, answer, months=YEAR).findings.year_and_month is False


@pytest.mark.parametrize("answer", [offices(), {}, None, []])
def test_of_no_rows_nothing_is_known(answer: Any) -> None:
    assert normalized(BY_MONTH, answer, months=YEAR).findings.year_and_month is None


def test_months_named_in_words_are_not_guessed_at() -> None:
    answer = offices({"year": 2026, "months": [{"month": "January", "commission": 1}]})
    result = normalized(BY_MONTH, answer, months=(JANUARY,))
    assert result.findings.year_and_month is False
    assert reasons(result) == []


def test_a_month_that_was_not_asked_for_is_rejected() -> None:
    result = normalized(BY_MONTH, NESTED, months=(JANUARY,))
    assert rows(result, BY_MONTH, "_month") == [(date(2026, 1, 1),)]
    assert reasons(result) == [(BY_MONTH, "its month is not one of those asked for", "month")]


def test_children_are_of_the_month_of_their_parent() -> None:
    late = estate("OBJ1", contractDay="2026-02-27T00:00:00", bids=[{"sum": 1}])
    assert rows(normalized("sales", estates(late)), "sales_estates__bids", "_month") == [(date(2026, 2, 1),)]


def test_an_undocumented_list_on_a_level_is_of_the_month_around_it_or_of_the_first() -> None:
    answer = estates(estate("OBJ1"), visits=[{"n": 1}])
    (month,) = answer["officeSaleReports"][0]["years"][0]["months"]
    month |= {"month": "2", "views": [{"n": 2}]}
    result = normalized("sales", answer)
    assert rows(result, "sales__office_sale_reports_visits", "_month") == [(date(2026, 1, 1),)]
    name = "sales__office_sale_reports_years_months_views"
    assert rows(result, name, "_month", "office_name") == [(date(2026, 2, 1), "One")]


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
def test_a_row_with_a_value_of_another_type_is_rejected(value: Any, said: str) -> None:
    result = normalized("running_commissions", [event(), event(amount=value)])
    assert reasons(result) == [("running_commissions", f"amount is no DECIMAL(18,4): it is {said}", "amount")]
    assert len(rows(result, "running_commissions", "_row")) == 1


def test_a_row_that_is_rejected_says_its_place_and_keeps_its_json() -> None:
    bad = estate("OBJ2", commission="much", agents=[{"id": "HAN1"}])
    (rejected,) = normalized("sales", estates(estate("OBJ1"), bad)).rejected
    assert rejected.place == "$.officeSaleReports[0].years[0].months[0].estateSaleReports[1]"
    assert json.loads(rejected.raw) == bad
    assert rejected.month == JANUARY.first_day


def test_of_several_pages_the_page_is_said() -> None:
    pages = {"incomingLeads": [lead("L1")]}, {"incomingLeads": [lead("L2"), lead(None)]}
    (rejected,) = normalized("tips_and_leads", *pages).rejected
    assert rejected.place == "page 2: $.incomingLeads[1]"
    assert json.loads(rejected.raw) == lead(None)


def test_what_is_nested_in_a_row_goes_with_it() -> None:
    agents = [{"id": "HAN1", "changes": [{"commission": 1}]}]
    result = normalized(
        "sales", estates(estate("OBJ1", commission="x", agents=agents), estate("OBJ2", agents=agents))
    )
    assert rows(result, "sales_estates", "_row", "id") == [(0, "OBJ2")]
    assert rows(result, "sales_agents", "_parent_row", "estate_id") == [(0, "OBJ2")]
    assert rows(result, "sales_agent_changes", "_parent_row", "estate_id") == [(0, "OBJ2")]


def test_a_nested_row_that_does_not_fit_leaves_its_parent_alone() -> None:
    result = normalized(
        "sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}, {"id": "HAN2", "responsible": "maybe"}]))
    )
    assert rows(result, "sales_agents", "id") == [("HAN1",)]
    assert reasons(result) == [("sales_agents", "responsible is no BOOLEAN: it is a text", "responsible")]


@pytest.mark.parametrize("id_", [{}, {"id": None}])
def test_a_row_without_its_documented_id_is_rejected(id_: dict[str, None]) -> None:
    day = {"contractDay": "2026-01-15"}
    result = normalized("sales", estates({**day, **id_}))
    assert reasons(result) == [("sales_estates", "id is missing, which tells rows apart", "id")]


@pytest.mark.parametrize("element", [7, "text", None, ["list"], True])
def test_an_element_that_is_no_object_is_rejected(element: Any) -> None:
    result = normalized("sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}, element])))
    assert reasons(result) == [("sales_agents", "it is no object", None)]
    assert json.loads(result.rejected[0].raw) == element
    assert rows(result, "sales_agents", "id") == [("HAN1",)]


@pytest.mark.parametrize("day", ["2025-12-31T23:59:59", "2026-03-01T00:00:00", "0001-01-01T00:00:00"])
def test_a_row_dated_outside_the_window_is_rejected(day: str) -> None:
    result = normalized("running_commissions", [event(obtainedAt=day)])
    assert reasons(result) == [
        ("running_commissions", "its month is not one of those asked for", "obtained_at")
    ]
    assert result.rejected[0].month is None


def test_a_row_without_its_documented_date_is_rejected() -> None:
    result = normalized("running_commissions", [event(obtainedAt=None)])
    assert reasons(result) == [
        ("running_commissions", "it has no date, though one is documented", "obtained_at")
    ]


def test_a_level_that_does_not_fit_is_rejected_with_everything_in_it() -> None:
    bad = estates(estate("OBJ1"), customerId=["M1"])["officeSaleReports"]
    good = estates(estate("OBJ2"))["officeSaleReports"]
    result = normalized("sales", {"officeSaleReports": bad + good})
    assert rows(result, "sales_estates", "office_customer_id", "id") == [("M1", "OBJ2")]
    assert [json.loads(one.raw) for one in result.rejected] == bad


def test_a_reason_never_holds_a_value_of_the_row() -> None:
    result = normalized("users", [{"id": "H1", "name": True, "changedAt": "Anna Andersson"}])
    assert "Anna" not in result.rejected[0].reason


def test_an_old_customer_number_that_is_no_text_costs_nobody_a_commission() -> None:
    body = (
        b'[{"customerId":"M7","office":{"customerId":"M7"},"commission":5},'
        b'{"customerId":7,"office":{"customerId":"M8"}}]'
    )
    months = [Month.parse("2026-10")]
    found = normalize(REPORTS["commission_office"], [read_document(body)], months=months, timezone="UTC")
    assert found.rejected == ()
    assert found.tables[0].frame["customer_id"].to_list() == ["M7", "7"]
