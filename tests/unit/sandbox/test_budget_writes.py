"""Budgets that are set: what is accepted, when it is shown, and what becomes of what is left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipelines.months import Month
from pipelines.sandbox.budget_writes import BudgetWrites, Omitted
from pipelines.sandbox.calls import Call
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from tests.unit.sandbox.asking import BI, ask, credentials, world

OFFICE, MAY = "M30016", Month(2026, 5)
USER = world().history.users(OFFICE)[0].id
WHOLE = {
    "commission": 90_000,
    "estates": {"sold": 2, "registered": 3},
    "saleMeetings": {"total": 9, "ownBooked": 4},
}


def _set(service: Service, body: object, office: str = "FIR30016", user: str = USER) -> int:
    target = f"{BI}/Budget/{OFFICE}/{office}/{user}/2026/5"
    call = Call("POST", target, {"authorization": credentials()}, json.dumps(body).encode())
    return service.respond(call).status


def _shown(service: Service) -> list[Any]:
    places = (f"{BI}/Budget/{name}/{OFFICE}/{USER}/2026/5" for name in ("Commission", "Estate", "Crm"))
    rows = [row for place in places for row in ask(service, place)]
    names = ("commission", "sold", "registered", "total", "ownBooked")
    return [row[name] for name in names for row in rows if name in row]


def test_a_budget_that_is_set_is_shown_and_answered_without_a_body() -> None:
    service = Service(world())
    assert _set(service, WHOLE) == 204
    assert _shown(service) == [90_000, 2, 3, 9, 4]


@pytest.mark.parametrize(("omitted", "meetings"), [("kept", [9, 4]), ("zeroed", [0, 0])])
def test_a_measure_that_is_left_out_is_kept_or_zeroed(omitted: Omitted, meetings: list[int]) -> None:
    service = Service(world(), budgets=BudgetWrites(omitted=omitted))
    _set(service, WHOLE)
    _set(service, {"commission": 1, "estates": {"sold": 5, "registered": 6}})
    assert _shown(service) == [1, 5, 6, *meetings]


def test_a_budget_may_be_shown_late() -> None:
    now = [datetime(2025, 12, 31, tzinfo=UTC)]
    service = Service(world(), budgets=BudgetWrites(visible_after=30, clock=lambda: now[0]))
    _set(service, WHOLE)
    now[0] += timedelta(seconds=29)
    before = _shown(service)
    now[0] += timedelta(seconds=1)
    assert (before, _shown(service)) == (_shown(Service(world())), [90_000, 2, 3, 9, 4])


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"commission": 10_000_001},
        {"commission": 1.5},
        {"commission": "1"},
        {"estates": {"sold": -1}},
    ],
)
def test_a_body_that_is_not_allowed_is_refused_with_400_and_changes_nothing(body: object) -> None:
    service = Service(world())
    assert (_set(service, body), service.budgets.written) == (400, {})


def test_the_two_ids_of_an_office_are_not_interchangeable() -> None:
    service = Service(world())
    assert (_set(service, WHOLE, office=OFFICE), _set(service, WHOLE, user="HANx")) == (404, 404)


def test_a_lost_answer_is_that_of_a_budget_that_was_set_and_a_500_of_one_that_was_not() -> None:
    lost, broken = (Service(world(), faults=[Fault(kind)]) for kind in ("reset", "500"))
    _set(lost, WHOLE)
    _set(broken, WHOLE)
    assert (len(lost.budgets.written), len(broken.budgets.written)) == (1, 0)


def test_somebody_else_may_change_a_budget_meanwhile() -> None:
    service = Service(world(), budgets=BudgetWrites(visible_after=30))
    body = {"customerId": OFFICE, "userId": USER, "month": "2026-05", "commission": 7, "sold": 1}
    assert service.respond(Call("POST", "/_sandbox/budgets", {}, json.dumps(body).encode())).status == 200
    assert _shown(service) == [7, 1, *_shown(Service(world()))[2:]]
