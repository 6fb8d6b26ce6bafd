"""Can a budget be changed through the service, and only rightly?"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pipelines.sandbox.calls import Reply
from pipelines.sandbox.service import Service
from tests.unit.sandbox.asking import BI, Json, ask, own_world, post

GOALS = {
    "commission": 123_456,
    "estates": {"sold": 2, "registered": 3},
    "saleMeetings": {"total": 9, "ownBooked": 4},
}


def _user(service: Service) -> str:
    user_id = ask(service, f"{BI}/External/Users", customerId="M30012")[0]["id"]
    return str(user_id)


def _post(service: Service, user_id: str, body: object = GOALS, place: str = "G1/FIR30012") -> Reply:
    return post(service, f"{BI}/Budget/{place}/{user_id}/2026/2", body)


def _told(service: Service, measure: str, user_id: str) -> Json:
    rows = ask(service, f"{BI}/Budget/{measure}/G1/{user_id}/2026/2")
    return rows[0] if rows else None


def test_a_posted_budget_is_told_by_all_three_reports() -> None:
    service = Service(own_world())
    user_id = _user(service)
    status = _post(service, user_id).status
    commission, estate, crm = (_told(service, name, user_id) for name in ("Commission", "Estate", "Crm"))
    told = (commission["commission"], estate["sold"], estate["registered"], crm["total"], crm["ownBooked"])
    assert (status, told) == (204, (123_456, 2, 3, 9, 4))


def test_a_posted_budget_is_not_known_before_it_was_posted() -> None:
    service = Service(own_world())
    user_id = _user(service)
    before = _told(service, "Commission", user_id)
    _post(service, user_id)
    service.set_as_of(date(2025, 12, 30))
    assert _told(service, "Commission", user_id) == before


def test_the_last_of_two_posted_budgets_counts() -> None:
    service = Service(own_world())
    user_id = _user(service)
    _post(service, user_id)
    _post(service, user_id, GOALS | {"commission": 1})
    assert _told(service, "Commission", user_id)["commission"] == 1


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"commission": "1"},
        {"commission": 10_000_001},
        {"commission": -1},
        {"commission": 1.5},
        {"commission": 1, "estates": {"sold": True}},
    ],
)
def test_a_budget_of_the_wrong_kind_is_refused(body: Any) -> None:
    service = Service(own_world())
    assert _post(service, _user(service), body).status == 400


@pytest.mark.parametrize("place", ["G1/M30012", "G1/FIR30011", "G1/FIR30016"])
def test_an_office_that_is_not_the_users_is_not_found(place: str) -> None:
    service = Service(own_world())
    assert _post(service, _user(service), place=place).status == 404


def test_a_range_of_months_includes_both_ends() -> None:
    service = Service(own_world())
    rows = ask(
        service, "/Report/Budget/M30012/Commission", fromYear=2025, fromMonth=3, toYear=2025, toMonth=5
    )
    months = {month["month"] for user in rows[0]["users"] for month in user["months"]}
    assert months == {3, 4, 5}


def test_without_bounds_the_year_of_today_is_told() -> None:
    rows = ask(Service(own_world()), "/Report/Budget/M30012/SoldEstates")
    found = {(month["year"], month["month"]) for user in rows[0]["users"] for month in user["months"]}
    assert found == {(2025, month) for month in range(1, 13)}
