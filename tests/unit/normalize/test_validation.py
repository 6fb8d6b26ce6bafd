"""Tests of the month of every row, and of the rows that are rejected: alone, whole, with reason and place."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from pipelines.months import Month, months_between
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


MONTHS: list[dict[str, Any]] = [{"month": 1, "commission": 10.5}, {"month": 2, "commission": 20}]
YEARS = [{"year": 2026, "commission": 30, "months": MONTHS}]
NESTED = offices({"customerId": "M1", "name": "One", "years": YEARS})
FLAT = offices(
    {"customerId": "M1", "year": "2026", "month": "02", "commission": 20},
    {"customerId": "M1", "year": "2026", "month": "01", "commission": 10},
)


LATE = estate("OBJ1", contractDay="2026-02-03T00:00:00", bids=[{"sum": 1}])
EVENTS = [event(), event(obtainedAt="2026-02-01T00:00:00")]
FIRST, SECOND = JANUARY.first_day, FEBRUARY.first_day


@pytest.mark.parametrize(
    ("report", "answer", "table", "months"),
    [
        ("running_commissions", EVENTS, "running_commissions", [FIRST, SECOND]),
        ("sales", estates(LATE), "sales_estates", [SECOND]),
        ("sales", estates(LATE), "sales_estates__bids", [SECOND]),
        ("commission_user", [{"userId": "H1"}], "commission_user", [FIRST]),
        ("users", [{"id": "H1"}], "users", [None]),
    ],
    ids=["their dates", "not where they are filed", "their parents", "their window", "none"],
)
def test_rows_are_of_the_month_of(report: str, answer: Any, table: str, months: list[date | None]) -> None:
    asked = (JANUARY,) if report == "commission_user" else (JANUARY, FEBRUARY)
    assert rows(normalized(report, answer, months=asked), table, "_month") == [(one,) for one in months]


def test_rows_are_found_where_they_carry_a_year_and_a_month() -> None:
    result = normalized(BY_MONTH, NESTED, months=YEAR)
    columns = ("_month", "office_customer_id", "office_name", "year", "year_commission", "commission")
    assert rows(result, BY_MONTH, *columns) == [
        (date(2026, 1, 1), "M1", "One", 2026, 30, 10.5),
        (date(2026, 2, 1), "M1", "One", 2026, 30, 20.0),
    ]
    assert result.year_and_month is True
    flat = normalized(BY_MONTH, FLAT, months=YEAR)
    assert rows(flat, BY_MONTH, "_month", "customer_id", "commission") == [
        (SECOND, "M1", 20),
        (FIRST, "M1", 10),
    ]


def test_lists_nested_in_such_rows_are_their_children() -> None:
    answer = offices({"year": 2026, "months": [{"month": 1, "agents": [{"id": "H1"}]}]})
    result = normalized(BY_MONTH, answer, months=YEAR)
    assert rows(result, f"{BY_MONTH}__agents", "_parent_row", "_month", "id") == [(0, date(2026, 1, 1), "H1")]


NOTHING: tuple[Any, ...] = (offices(), {}, None, [])
WITHOUT_MONTH: tuple[Any, ...] = (
    offices({"customerId": "M1", "commission": 5}),
    {"offices": [{"commission": 5}]},
    [{"a": 1}],
    offices({"year": 2026, "months": [{"month": "January", "commission": 1}]}),  # not guessed at
)


@pytest.mark.parametrize(
    ("answer", "months", "year_and_month"),
    [
        ({"result": {"offices": NESTED["commissionOffices"]}}, [FIRST, SECOND], True),
        *((answer, None, False) for answer in WITHOUT_MONTH),
        *((nothing, [], None) for nothing in NOTHING),
    ],
)
def test_rows_with_a_year_and_a_month_are_found_and_rows_without_are_noticed(
    answer: Any, months: list[date] | None, year_and_month: bool | None
) -> None:
    result = normalized(BY_MONTH, answer, months=YEAR)
    assert result.year_and_month is year_and_month
    assert months is None or rows(result, BY_MONTH, "_month") == [(one,) for one in months]
    assert reasons(result) == []


def test_a_month_that_was_not_asked_for_is_rejected() -> None:
    result = normalized(BY_MONTH, NESTED, months=(JANUARY,))
    assert rows(result, BY_MONTH, "_month") == [(date(2026, 1, 1),)]
    assert reasons(result) == [(BY_MONTH, "its month is not one of those asked for", "month")]


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


@pytest.mark.parametrize("element", [7, "text", None, ["list"], True])
def test_an_element_that_is_no_object_is_rejected(element: Any) -> None:
    result = normalized("sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}, element])))
    assert reasons(result) == [("sales_agents", "it is no object", None)]
    assert json.loads(result.rejected[0].raw) == element
    assert rows(result, "sales_agents", "id") == [("HAN1",)]


UTC_DAYS = {"OBJ1": "2026-01-31T23:00:00", "OBJ2": "2026-01-11T23:00:00"}
NO_ID = "id is missing, which tells rows apart"
NO_DATE = "it has no date, though one is documented"
OTHER_MONTH = "its month is not one of those asked for"
DAY = {"contractDay": "2026-01-15"}


@pytest.mark.parametrize(
    ("report", "answer", "reason"),
    [
        ("sales", estates(DAY), ("sales_estates", NO_ID, "id")),
        ("sales", estates({**DAY, "id": None}), ("sales_estates", NO_ID, "id")),
        *(
            ("running_commissions", [event(obtainedAt=at)], ("running_commissions", reason, "obtained_at"))
            for at, reason in {
                None: NO_DATE,
                "2025-12-29T23:59:59": OTHER_MONTH,
                "2026-03-03T00:00:00": OTHER_MONTH,
                "0001-01-01T00:00:00": NO_DATE,
            }.items()
        ),
    ],
)
def test_a_row_without_id_or_date_or_of_another_month_is_rejected(
    report: str, answer: Any, reason: tuple[str, str, str]
) -> None:
    result = normalized(report, answer)
    assert reasons(result) == [reason]
    assert result.rejected[0].month == (FIRST if report == "sales" else None)


@pytest.mark.parametrize(
    ("at", "is_undatable"), [("third of May", True), (True, True), (None, True), ("2025-11-01", False)]
)
def test_a_row_whose_date_is_missing_or_cannot_be_read_may_be_of_any_month_and_no_other_row(
    at: object, is_undatable: bool
) -> None:
    result = normalized("running_commissions", [event(), event(obtainedAt=at)])
    assert [one.is_undatable for one in result.rejected] == [is_undatable]


@pytest.mark.parametrize(
    ("filed_under", "id_", "month", "is_undatable"),
    [
        ("2", "OBJ2", SECOND, False),
        ("3", "OBJ2", None, False),
        (None, "OBJ2", None, True),
        (None, None, None, False),
    ],
)
def test_a_row_without_a_date_is_of_the_month_that_its_answer_files_it_under(
    filed_under: str | None, id_: str | None, month: date | None, is_undatable: bool
) -> None:
    answer = estates(estate("OBJ1"))
    undated = [{"id": id_, "contractDay": None}]
    answer["officeSaleReports"][0]["years"][0]["months"] += [
        {"month": filed_under, "estateSaleReports": undated}
    ]
    (rejected,) = normalized("sales", answer).rejected
    assert (rejected.month, rejected.is_undatable) == (month, is_undatable)


def test_sales_whose_days_are_written_in_utc_are_of_the_month_of_their_local_day_on_all_pages() -> None:
    first, second = (estates(estate(id_, contractDay=at)) for id_, at in UTC_DAYS.items())
    assert rows(normalized("sales", first, second), "sales_estates", "id", "_month") == [
        ("OBJ1", SECOND),
        ("OBJ2", FIRST),
    ]
    local = estates(estate("OBJ3", contractDay="2026-01-05T00:00:00"))
    assert rows(normalized("sales", first, local), "sales_estates", "id", "_month") == [
        ("OBJ1", FIRST),
        ("OBJ3", FIRST),
    ]


def test_an_event_late_in_the_evening_stays_where_it_is() -> None:
    result = normalized("running_commissions", [event(obtainedAt="2026-01-31T23:00:00")])
    assert rows(result, "running_commissions", "_month") == [(FIRST,)]


@pytest.mark.parametrize("at", ["2025-12-31T00:00:00", "2026-03-01T23:59:59.999"])
def test_a_row_of_the_day_before_or_after_the_window_is_left_to_another_window(at: str) -> None:
    result = normalized("running_commissions", [event(), event(obtainedAt=at)])
    assert (len(rows(result, "running_commissions", "_row")), reasons(result)) == (1, [])


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
    answer = [{"customerId": id_, "office": {"customerId": "M7"}, "commission": 5} for id_ in ("M7", 7)]
    result = normalized("commission_office", answer, months=(JANUARY,))
    assert (result.rejected, rows(result, "commission_office", "customer_id")) == ((), [("M7",), ("7",)])


def test_an_office_that_is_named_by_its_old_number_alone_is_loaded_and_one_without_a_name_is_not() -> None:
    named: list[dict[str, Any]] = [{"customerId": 7, "office": None}, {"customerId": 8}, {"customerId": None}]
    answer = [{**one, "commission": 5} for one in named]
    for report in ("commission_office", "commission_office_sale"):
        result = normalized(report, answer, months=(JANUARY,))
        assert rows(result, report, "office_customer_id", "customer_id") == [(None, "7"), (None, "8")]
        assert [one.place for one in result.rejected] == ["$[2]"]


TOTAL = {"name": "Totalt", "commission": 300, "soldEstateParts": 1.5, "soldAverageCommission": 200}
USERS = [
    {"userId": "U1", "commission": 100.004, "soldEstateParts": 0.5, "soldAverageCommission": 200},
    {"userId": "U2", "commission": 200, "soldEstateParts": 1, "soldAverageCommission": 200},
]
ZEROS = {"commission": 0, "soldEstateParts": 0, "soldAverageCommission": 0}


@pytest.mark.parametrize(
    ("answer", "rejected"),
    [
        ([*USERS, TOTAL], 0),
        ([{**TOTAL, "userId": " "}, *USERS], 0),
        ([USERS[1], {**USERS[1], "userId": None}], 0),
        ([{**ZEROS, "userId": "U1"}, ZEROS], 0),
        ([*USERS, {**TOTAL, "commission": 301}], 1),
        ([*USERS, {**TOTAL, "soldAverageCommission": 201}], 1),
        ([*USERS, ZEROS], 1),
        ([*USERS, {"name": "Totalt"}], 1),
        ([*USERS, TOTAL, TOTAL], 2),
        ([USERS[0], {**USERS[1], "userId": None}], 1),
    ],
    ids=[
        "sum", "sum of a blank id", "sum of one", "sum of nothing", "another sum", "another average",
        "zeros", "no numbers", "twice", "another row",
    ],
)  # fmt: skip
def test_a_row_without_an_id_that_is_the_sum_of_the_others_is_none_of_them(
    answer: list[dict[str, object]], rejected: int
) -> None:
    result = normalized("commission_user", answer, months=(JANUARY,))
    named = [one["userId"] for one in answer if str(one.get("userId", "")).startswith("U")]
    assert rows(result, "commission_user", "user_id") == [(one,) for one in named]
    assert len(result.rejected) == rejected
    assert any("sum of the other rows" in note for note in result.notes) is not bool(rejected)


NO_IDS = ["", " ", "0", 0, 0.0, "0.0", "00000000-0000-0000-0000-000000000000"]


@pytest.mark.parametrize("unset", NO_IDS)
def test_an_id_that_is_blank_or_zeros_alone_is_missing(unset: object) -> None:
    answer = [{"userId": unset, "commission": 7}, {"userId": "U0", "commission": 5}]
    result = normalized("commission_user", answer, months=(JANUARY,))
    assert rows(result, "commission_user", "user_id") == [("U0",)]
    assert [one.reason for one in result.rejected] == ["user_id is missing, which tells rows apart"]


@pytest.mark.parametrize("unset", NO_IDS)
def test_an_office_with_an_unset_id_is_named_by_its_old_number_unless_that_is_unset_too(
    unset: object,
) -> None:
    answer = [{"customerId": number, "office": {"customerId": unset}} for number in (7, unset)]
    result = normalized("commission_office", answer, months=(JANUARY,))
    assert rows(result, "commission_office", "office_customer_id", "customer_id") == [(None, "7")]
    assert [one.place for one in result.rejected] == ["$[1]"]


def test_a_zero_that_is_no_id_stays() -> None:
    sale = estate("E1", status={"id": 0}, finalPrice=0, agents=[{"id": "U1", "commissionValue": 0}])
    result = normalized("sales", estates(sale))
    assert rows(result, "sales_estates", "status_id", "final_price") == [(0, 0)]
    assert rows(result, "sales_agents", "commission_value") == [(0,)]


@pytest.mark.parametrize("strange", [7, "seven", None, [1]])
def test_a_year_that_can_be_none_does_not_hide_the_one_above(strange: object) -> None:
    months: list[dict[str, Any]] = [{**one, "year": strange} for one in MONTHS]
    years = [{"year": 2026, "months": months}]
    result = normalized(BY_MONTH, offices({"customerId": "M1", "years": years}), months=YEAR)
    assert rows(result, BY_MONTH, "_month") == [(date(2026, 1, 1),), (date(2026, 2, 1),)]


def test_offices_years_and_months_of_one_may_each_come_without_a_list() -> None:
    office = {
        "office": {"customerId": "M1"},
        "years": {"year": 2026, "months": {"month": 1, "commission": 5}},
    }
    year = {"year": 2026, "months": [{"month": 1, "commission": 5}]}
    lists = [{"office": {"customerId": "M1"}, "years": [year]}]
    both = [{"office": {"customerId": "M1"}, "years": [{"year": 2026, "months": MONTHS}]}]
    for one in (office, {**office, "years": year}, [office], lists, {**office, "years": [year]}):
        for documents in ([one], [both, one], [one, both]):
            result = normalized(BY_MONTH, *map(offices_as, documents), months=YEAR)
            found = rows(result, BY_MONTH, "_month", "office_customer_id", "year", "commission")
            assert (FIRST, "M1", 2026, 5.0) in found
            assert (len(found), result.year_and_month) == (1 if len(documents) == 1 else 3, True)


def offices_as(value: Any) -> dict[str, Any]:
    return {"commissionOffices": value}


def test_a_document_that_says_its_year_and_month_is_a_row_itself() -> None:
    row = {"year": 2026, "month": 2, "commission": 5}
    for answer in (row, {"data": row}, {"office": {"years": {**row}}}):
        result = normalized(BY_MONTH, answer, months=YEAR)
        assert rows(result, BY_MONTH, "_month") == [(SECOND,)]
