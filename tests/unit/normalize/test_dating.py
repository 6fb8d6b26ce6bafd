"""Does every row find its month? By its date, by a year and a month around it, or by its window."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pipelines.months import Month, months_between
from tests.unit.normalize.answers import FEBRUARY, JANUARY, estate, estates, event, flattened, reasons, rows

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
    flat = flattened("running_commissions", [event(), event(obtainedAt="2026-02-01T00:00:00")])
    assert rows(flat, "running_commissions", "_month") == [(date(2026, 1, 1),), (date(2026, 2, 1),)]


def test_the_date_of_a_row_counts_and_not_the_month_it_is_filed_under() -> None:
    flat = flattened("sales", estates(estate("OBJ1", contractDay="2026-02-03T00:00:00")))
    assert rows(flat, "sales_estates", "month", "_month") == [("1", date(2026, 2, 1))]


def test_undated_rows_belong_to_the_month_of_their_window() -> None:
    flat = flattened("commission_user", [{"userId": "H1"}], months=(FEBRUARY,))
    assert rows(flat, "commission_user", "_month") == [(date(2026, 2, 1),)]


def test_a_report_without_months_has_none() -> None:
    assert rows(flattened("users", [{"id": "H1"}]), "users", "_month") == [(None,)]


def test_rows_are_found_where_they_carry_a_year_and_a_month() -> None:
    flat = flattened(BY_MONTH, NESTED, months=YEAR)
    columns = ("_month", "office_customer_id", "office_name", "year", "year_commission", "commission")
    assert rows(flat, BY_MONTH, *columns) == [
        (date(2026, 1, 1), "M1", "One", 2026, 30, 10.5),
        (date(2026, 2, 1), "M1", "One", 2026, 30, 20.0),
    ]
    assert flat.findings.year_and_month is True


def test_rows_that_carry_both_themselves_are_rows_at_once() -> None:
    flat = flattened(BY_MONTH, FLAT, months=YEAR)
    assert rows(flat, BY_MONTH, "_month", "customer_id", "commission") == [
        (date(2026, 2, 1), "M1", 20),
        (date(2026, 1, 1), "M1", 10),
    ]


def test_lists_nested_in_such_rows_are_their_children() -> None:
    answer = offices({"year": 2026, "months": [{"month": 1, "agents": [{"id": "H1"}]}]})
    flat = flattened(BY_MONTH, answer, months=YEAR)
    assert rows(flat, f"{BY_MONTH}__agents", "_parent_row", "_month", "id") == [(0, date(2026, 1, 1), "H1")]


def test_such_rows_are_found_under_another_name_as_well() -> None:
    answer = {"result": {"offices": NESTED["commissionOffices"]}}
    flat = flattened(BY_MONTH, answer, months=YEAR)
    assert rows(flat, BY_MONTH, "_month") == [(date(2026, 1, 1),), (date(2026, 2, 1),)]
    assert flat.findings.year_and_month is True


@pytest.mark.parametrize(
    "answer", [offices({"customerId": "M1", "commission": 5}), {"offices": [{"commission": 5}]}, [{"a": 1}]]
)
def test_rows_without_a_year_and_a_month_are_told_of(answer: Any) -> None:
    assert flattened(BY_MONTH, answer, months=YEAR).findings.year_and_month is False


@pytest.mark.parametrize("answer", [offices(), {}, None, []])
def test_of_no_rows_nothing_is_told(answer: Any) -> None:
    assert flattened(BY_MONTH, answer, months=YEAR).findings.year_and_month is None


def test_months_named_in_words_are_not_guessed_at() -> None:
    answer = offices({"year": 2026, "months": [{"month": "January", "commission": 1}]})
    flat = flattened(BY_MONTH, answer, months=(JANUARY,))
    assert flat.findings.year_and_month is False
    assert reasons(flat) == []


def test_a_month_that_was_not_asked_for_is_turned_away() -> None:
    flat = flattened(BY_MONTH, NESTED, months=(JANUARY,))
    assert rows(flat, BY_MONTH, "_month") == [(date(2026, 1, 1),)]
    assert reasons(flat) == [(BY_MONTH, "its month is not one of those asked for", "month")]


def test_children_are_of_the_month_of_their_parent() -> None:
    late = estate("OBJ1", contractDay="2026-02-27T00:00:00", bids=[{"sum": 1}])
    assert rows(flattened("sales", estates(late)), "sales_estates__bids", "_month") == [(date(2026, 2, 1),)]


def test_an_undocumented_list_on_a_level_is_of_the_month_around_it_or_of_the_first() -> None:
    answer = estates(estate("OBJ1"), visits=[{"n": 1}])
    (month,) = answer["officeSaleReports"][0]["years"][0]["months"]
    month |= {"month": "2", "views": [{"n": 2}]}
    flat = flattened("sales", answer)
    assert rows(flat, "sales__office_sale_reports_visits", "_month") == [(date(2026, 1, 1),)]
    name = "sales__office_sale_reports_years_months_views"
    assert rows(flat, name, "_month", "office_name") == [(date(2026, 2, 1), "One")]
