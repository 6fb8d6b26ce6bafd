"""The month of each row, and rejected rows: each is rejected alone and whole, with its reason and place."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from pipelines.months import Month, months_between
from pipelines.normalize.rows import ShapeMismatch
from tests.unit.normalize.answers import FEBRUARY, JANUARY, estate, estates, event, normalized, reasons, rows

YEAR = tuple(months_between(Month(2026, 1), Month(2026, 12)))
BY_MONTH = "commission_office_by_month"


def offices(*months: dict[str, Any], **of_year: Any) -> dict[str, Any]:
    """The answer of one office with these months of 2026."""
    years = [{"year": 2026, **of_year, "months": list(months)}]
    return {"commissionOffices": [{"customerId": "M1", "years": years}]}


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
def test_rows_get_the_right_month(report: str, answer: Any, table: str, months: list[date | None]) -> None:
    asked = (JANUARY,) if report == "commission_user" else (JANUARY, FEBRUARY)
    assert rows(normalized(report, answer, months=asked), table, "_month") == [(month,) for month in months]


@pytest.mark.parametrize(
    ("month", "first_day"),
    [
        ({"month": 2}, SECOND),
        ({"month": " 2 ", "year": "ignored"}, SECOND),
        ({"month": "2026-02"}, SECOND),
        ({"month": "202602"}, SECOND),
        ({"month": "2026-02-01"}, SECOND),
        ({"month": "2026-01-31T23:00:00Z"}, SECOND),
        ({"month": "2026-02-28T23:59:59Z"}, SECOND),
    ],
)
def test_a_month_is_a_number_beside_a_year_or_has_its_year(month: dict[str, Any], first_day: date) -> None:
    result = normalized(BY_MONTH, offices({"commission": 5, **month}), months=YEAR)
    assert rows(result, BY_MONTH, "_month", "office_id", "commission") == [(first_day, "M1", 5)]
    assert not result.undated


@pytest.mark.parametrize("month", ["January", 13, 0, "2026-13", "26-01", [1], True])
def test_a_row_whose_month_cannot_be_read_is_rejected(month: Any) -> None:
    result = normalized(BY_MONTH, offices({"month": 1}, {"month": month}), months=YEAR)
    assert rows(result, BY_MONTH, "_month") == [(FIRST,)]
    assert [row.column for row in result.rejected] == ["month"]


def test_rows_of_months_that_were_not_requested_are_left_out() -> None:
    result = normalized(BY_MONTH, offices({"month": 1}, {"month": 2}), months=(JANUARY,))
    assert (rows(result, BY_MONTH, "_month"), reasons(result)) == ([(FIRST,)], [])


@pytest.mark.parametrize(("months", "is_undated"), [(YEAR, True), ((JANUARY,), False)])
def test_rows_without_a_month_are_undated_if_several_months_were_requested(
    months: tuple[Month, ...], is_undated: bool
) -> None:
    result = normalized(BY_MONTH, offices({"commission": 5}, {"commission": 6}), months=months)
    assert (rows(result, BY_MONTH, "_month"), result.undated) == ([(FIRST,), (FIRST,)], is_undated)


@pytest.mark.parametrize(("months", "is_undated"), [(YEAR, True), ((JANUARY,), False)])
def test_references_without_a_date_get_the_only_requested_month(
    months: tuple[Month, ...], is_undated: bool
) -> None:
    result = normalized(
        "sold_estates", [{"customerId": "M1", "houses": [{"id": "E1"}, {"id": "E2"}]}], months=months
    )
    assert (rows(result, "sold_estates", "id", "_month"), result.undated) == (
        [("E1", FIRST), ("E2", FIRST)],
        is_undated,
    )


def test_references_whose_date_may_be_under_another_name_do_not_fit() -> None:
    references = [{"id": id_, "signed": "2026-01-02"} for id_ in ("E1", "E2")]
    with pytest.raises(ShapeMismatch, match="which dates a row, is empty"):
        normalized("sold_estates", [{"customerId": "M1", "houses": references}])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("abc", "a text"),
        (True, "true or false"),
        ([1], "an object or a list"),
        (10**16, "a whole number"),
        (1e300, "a fractional number"),
        (10**30, "a whole number too long for 64 bits"),
    ],
)
def test_a_row_with_a_value_of_another_type_is_rejected(value: Any, kind: str) -> None:
    result = normalized("running_commissions", [event(), event(amount=value)])
    assert reasons(result) == [("running_commissions", f"amount is {kind}, not DECIMAL(18,4)", "amount")]
    assert len(rows(result, "running_commissions", "_row")) == 1


@pytest.mark.parametrize(("wrong", "fitting"), [(1, 1), (2, 1), (2, 2), (2, 3)])
def test_two_rejected_rows_are_an_error_if_they_are_half_of_the_rows(wrong: int, fitting: int) -> None:
    left_out = event(obtainedAt="2026-03-01")  # another request will bring it
    answer = [event(amount="much")] * wrong + [event()] * fitting + [left_out] * 9
    if wrong > 1 and fitting < 3:
        with pytest.raises(ShapeMismatch, match=rf"but {fitting} of \d fit; one does not, because amount is"):
            normalized("running_commissions", answer)
    else:
        assert len(normalized("running_commissions", answer).rejected) == wrong


def test_a_rejected_row_has_its_place_and_its_json() -> None:
    bad = estate("OBJ2", commission="much", agents=[{"id": "HAN1"}])
    (rejected,) = normalized("sales", estates(estate("OBJ1"), bad)).rejected
    assert rejected.place == "officeSaleReports[].years[].months[].estateSaleReports[], element 2"
    assert json.loads(rejected.raw) == bad
    assert rejected.month == JANUARY.first_day


def test_rows_nested_in_a_rejected_row_are_rejected_with_it() -> None:
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
    assert reasons(result) == [("sales_agents", "responsible is a text, not BOOLEAN", "responsible")]


@pytest.mark.parametrize("element", [7, "text", None, ["list"], True])
def test_an_element_that_is_not_an_object_is_rejected(element: Any) -> None:
    result = normalized("sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}, element])))
    assert reasons(result) == [("sales_agents", "it is not an object", None)]
    assert json.loads(result.rejected[0].raw) == element
    assert rows(result, "sales_agents", "id") == [("HAN1",)]


UTC_DAYS = {"OBJ1": "2026-01-31T23:00:00", "OBJ2": "2026-01-11T23:00:00"}
NO_ID = "id, which identifies a row, is missing"
NO_DATE = "obtained_at, which dates a row, is empty"
OTHER_MONTH = "its month was not requested"
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
def test_only_a_row_without_a_readable_date_may_be_of_any_month(at: object, is_undatable: bool) -> None:
    result = normalized("running_commissions", [event(), event(obtainedAt=at)])
    assert [row.is_undatable for row in result.rejected] == [is_undatable]


@pytest.mark.parametrize(
    ("filed_under", "id_", "month", "is_undatable"),
    [
        ("2", "OBJ2", SECOND, False),
        ("3", "OBJ2", None, False),
        (None, "OBJ2", None, True),
        (None, None, None, False),
    ],
)
def test_a_row_without_a_date_gets_the_month_that_its_answer_files_it_under(
    filed_under: str | None, id_: str | None, month: date | None, is_undatable: bool
) -> None:
    answer = estates(estate("OBJ1"))
    undated = [{"id": id_, "contractDay": None}]
    answer["officeSaleReports"][0]["years"][0]["months"] += [
        {"month": filed_under, "estateSaleReports": undated}
    ]
    (rejected,) = normalized("sales", answer).rejected
    assert (rejected.month, rejected.is_undatable) == (month, is_undatable)


def test_sales_with_days_in_utc_get_the_month_of_their_local_day() -> None:
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


@pytest.mark.parametrize("at", ["2025-12-31T00:00:00", "2026-03-01T23:59:59.999"])
def test_a_row_of_the_day_before_or_after_the_window_is_left_to_another_window(at: str) -> None:
    result = normalized("running_commissions", [event(), event(obtainedAt=at)])
    assert (len(rows(result, "running_commissions", "_row")), reasons(result)) == (1, [])


def test_an_office_with_only_its_old_number_is_loaded_and_one_without_any_is_rejected() -> None:
    named: list[dict[str, Any]] = [{"customerId": 7, "office": None}, {"customerId": 8}, {"customerId": None}]
    answer = [{**office, "commission": 5} for office in named]
    for report in ("commission_office", "commission_office_sale"):
        result = normalized(report, answer, months=(JANUARY,))
        assert rows(result, report, "office_customer_id", "customer_id") == [(None, "7"), (None, "8")]
        assert [row.place for row in result.rejected] == ["[], element 3"]


NO_IDS = ["", " ", "0", 0, 0.0, "0.0", "00000000-0000-0000-0000-000000000000"]


@pytest.mark.parametrize("unset", NO_IDS)
def test_an_id_that_is_blank_or_only_zeros_is_missing(unset: object) -> None:
    answer = [{"userId": unset, "commission": 7}, {"userId": "U0", "commission": 5}]
    result = normalized("commission_user", answer, months=(JANUARY,))
    assert rows(result, "commission_user", "user_id") == [("U0",)]
    assert [row.reason for row in result.rejected] == ["user_id, which identifies a row, is missing"]


def test_a_zero_that_is_not_an_id_stays() -> None:
    sale = estate("E1", status={"id": 0}, finalPrice=0, agents=[{"id": "U1", "commission": {"value": 0}}])
    result = normalized("sales", estates(sale))
    assert rows(result, "sales_estates", "status_id", "final_price") == [(0, 0)]
    assert rows(result, "sales_agents", "commission_value") == [(0,)]
