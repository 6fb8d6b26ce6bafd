"""Answers for several months whose rows, or rows nested in them, carry a year and a month."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.months import Month
from tests.unit.normalize.answers import FEBRUARY, JANUARY, normalized, reasons, rows

GOALS = {"A": {1: 100, 2: 200}, "B": {2: 300}}


def user(id_: str, goals: dict[int, int]) -> dict[str, Any]:
    return {"userId": id_, "months": [{"year": 2026, "month": m, "commission": c} for m, c in goals.items()]}


def office(id_: str, *users: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"customerId": id_, "name": "North", "city": "Umeå", "users": list(users), **other}


BOTH = [office("M1", *(user(id_, goals) for id_, goals in GOALS.items())), office("M2")]


def of_month(month: int) -> list[dict[str, Any]]:
    """The same offices, asked for one month alone."""
    users = (user(id_, {month: goals[month]}) for id_, goals in GOALS.items() if month in goals)
    return [office("M1", *users), office("M2")]


TABLES = {
    "budget_commission": ("_month", "customer_id"),
    "budget_commission__users": ("_month", "office_customer_id", "user_id"),
    "budget_commission__users__months": ("_month", "year", "month", "commission"),
}


@pytest.mark.parametrize("table", TABLES)
def test_an_answer_for_two_months_has_the_rows_of_both_asked_alone(table: str) -> None:
    together = normalized("budget_commission", BOTH)
    alone = [normalized("budget_commission", of_month(m.number), months=(m,)) for m in (JANUARY, FEBRUARY)]
    assert rows(together, table, *TABLES[table]) == [
        row for one in alone for row in rows(one, table, *TABLES[table])
    ]


def test_every_nested_row_finds_the_row_above_it_in_its_own_month() -> None:
    found = normalized("budget_commission", BOTH)
    users = dict(rows(found, "budget_commission__users", "_row", "_month"))
    months = rows(found, "budget_commission__users__months", "_parent_row", "_month")
    assert [users[above] for above, _ in months] == [month for _, month in months]


@pytest.mark.parametrize("written", ["2026-{:02}", "2026-{:02}-01", " 2026-{:02}-01T00:00:00.0000000"])
def test_a_month_that_is_written_with_its_year_is_that_month(written: str) -> None:
    users = [{"userId": "A", "months": [{"month": written.format(m), "commission": m} for m in (1, 2)]}]
    budgets = normalized("budget_commission", [office("M1", *users)])
    found = rows(budgets, "budget_commission__users__months", "_month", "commission")
    assert found == [(JANUARY.first_day, 1), (FEBRUARY.first_day, 2)]
    earned = [{"customerId": "M1", "months": [{"month": written.format(m), "commission": m} for m in (1, 2)]}]
    by_month = normalized("commission_office_by_month", {"commissionOffices": earned})
    found = rows(by_month, "commission_office_by_month", "_month", "commission")
    assert found == [(JANUARY.first_day, 1), (FEBRUARY.first_day, 2)]


@pytest.mark.parametrize(
    ("name", "january"), [("yearMonth", "2026-01"), ("month", 202601), ("month", "202601")]
)
def test_a_month_that_is_one_with_its_year_tells_months_apart(name: str, january: Any) -> None:
    months = [{name: january, "commission": 1}, {name: type(january)("202602"), "commission": 2}]
    earned = {"commissionOffices": [{"customerId": "M1", "rows": months}]}
    by_month = normalized("commission_office_by_month", earned)
    found = rows(by_month, "commission_office_by_month", "_month", "commission")
    assert found == [(JANUARY.first_day, 1), (FEBRUARY.first_day, 2)]


@pytest.mark.parametrize("year", [2026, "2026"])
def test_months_below_their_year_are_told_apart(year: object) -> None:
    of_user = {
        "userId": "A",
        "years": [{"year": year, "months": [{"month": m, "budget": m} for m in (1, 2)]}],
    }
    budgets = normalized("budget_commission", [office("M1", of_user)])
    found = rows(budgets, "budget_commission__users__years__months", "_month", "budget")
    assert (found, budgets.undated) == ([(JANUARY.first_day, 1), (FEBRUARY.first_day, 2)], False)


def test_a_day_is_no_month() -> None:
    users = [{"userId": "A", "months": [{"month": "2026-01-15", "commission": 1}]}]
    assert normalized("budget_commission", [office("M1", *users)]).undated


TOLD: dict[str, tuple[str, Any, bool]] = {
    "an office without a budget is in every month": ("budget_commission", [office("M1")], False),
    "a sum beside the months belongs to none": (
        "budget_commission",
        [office("M1", user("A", {1: 100}), total=100)],
        True,
    ),
    "rows that only name a period are not told apart": (
        "budget_commission",
        [office("M1", {"id": "A", "period": "2026-01-01T00:00:00", "commission": 100})],
        True,
    ),
    "rows that carry the month themselves are told apart": (
        "budget_crm",
        [{"officeId": "M1", "period": {"year": 2026, "month": 2}, "total": 5}],
        False,
    ),
}


@pytest.mark.parametrize(("name", "answer", "undated"), TOLD.values(), ids=list(TOLD))
def test_whether_months_can_be_told_apart(name: str, answer: Any, undated: bool) -> None:
    assert normalized(name, answer).undated is undated


def test_a_row_of_a_month_that_nobody_asked_for_is_set_aside() -> None:
    found = normalized("budget_commission", [office("M1", user("A", {3: 100}))])
    [(table, _, column)] = reasons(found)
    assert (table, column) == ("budget_commission__users__months", "month")


def test_one_month_alone_is_whatever_its_rows_say() -> None:
    march = normalized("budget_commission", [office("M1", user("A", {3: 100}))], months=(Month(2026, 3),))
    assert not march.undated
