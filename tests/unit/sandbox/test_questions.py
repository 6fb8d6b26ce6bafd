"""Questions: logins, rights, paths, parameters and intervals, as the interface states them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from pipelines.sandbox.calls import Call
from pipelines.sandbox.service import Service
from tests.unit.sandbox.asking import AGREED, BI, MAY, YEAR, ask, credentials, estates, quiet, reply, world

OFFICES = f"{BI}/CommissionOfficeReport/G1"
RUNNING = f"{BI}/RunningCommissions"
PAGED = f"{BI}/TipsAndLeads/Report/Paged"


def _status(path: str, **query: object) -> int:
    return reply(quiet(), path, **query).status


def _between(first: str, last: str) -> dict[str, str]:
    return {"dateFrom": first, "dateTo": last}


@pytest.mark.parametrize(
    ("name", "first", "last", "status"),
    [
        ("CommissionOfficeReport/G1", "2025-01-01T00:00:00", "2026-01-01T00:00:00", 200),
        ("CommissionOfficeReport/G1", "2025-01-01T00:00:00", "2026-01-01T00:00:01", 400),
        ("RunningCommissions", "2024-12-31T00:00:00", "2025-02-28T00:00:00", 200),
        ("RunningCommissions", "2024-12-31T00:00:00", "2025-02-28T00:00:01", 400),
        ("RunningCommissions", "2025-03-01T00:00:00", "2025-02-01T00:00:00", 400),
        ("TipsAndLeads/Report", "2025-01-01T00:00:00", "2025-03-01T00:00:01", 400),
        ("LiveData/Report", "2025-01-01T00:00:00", "2025-03-01T00:00:01", 400),
    ],
)
def test_limits_of_a_year_and_two_months_follow_the_calendar(
    name: str, first: str, last: str, status: int
) -> None:
    assert _status(f"{BI}/{name}", customerId="G1", **_between(first, last)) == status


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (OFFICES, {}),
        (OFFICES, {**YEAR, "assignment": "Rental"}),
        (OFFICES, _between("yesterday", "today")),
        (f"{BI}/GetSalesReport", {"customerId": "G1", **YEAR}),
        (RUNNING, {"customerId": "G1"}),
        (PAGED, {"customerId": "G1", **MAY}),
        (PAGED, {"customerId": "G1", "pageIndex": "0", "pageSize": "0", **MAY}),
        (f"{BI}/Budget/Crm/G1/2025/13", {}),
        ("/Report/Budget/G1/Crm", {"fromYear": "2025", "toYear": "2024"}),
    ],
)
def test_a_missing_or_invalid_parameter_is_a_validation_error(path: str, query: dict[str, str]) -> None:
    assert _status(path, **query) == 400


@pytest.mark.parametrize(("date_to", "told"), [("inclusive", True), ("exclusive", False), ("day", True)])
def test_the_end_of_an_interval_has_three_readings_that_agree_on_the_last_second_of_a_day(
    date_to: Any, told: bool
) -> None:
    service, asked = Service(world(), date_to=date_to), {"customerId": "G1", **AGREED}
    whole = ask(service, f"{BI}/GetSalesReport", **asked, **YEAR)
    assert whole == ask(quiet(), f"{BI}/GetSalesReport", **asked, **YEAR)
    *_, (_, _, estate) = estates(whole)
    until = _between("2025-01-01T00:00:00", estate["contractDay"])
    tree = ask(service, f"{BI}/GetSalesReport", **asked, **until)
    assert (estate["id"] in {found["id"] for _, _, found in estates(tree)}) == told


def _users(service: Service, customer: str, header: str | None) -> int:
    headers = {} if header is None else {"authorization": header}
    return service.respond(Call("GET", f"{BI}/External/Users?customerId={customer}", headers)).status


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Basic !!!",
        credentials("sandbox", "wrong"),
        "Basic " + b64encode("sändbox:sandbox".encode("latin-1")).decode(),
    ],
)
def test_a_wrong_login_is_answered_with_401(header: str | None) -> None:
    assert _users(quiet(), "M30016", header) == 401


@pytest.mark.parametrize("customer", ["M99999", "G2", "FIR30011", "m30011", ""])
def test_a_customer_without_access_is_answered_with_403_and_a_missing_one_with_400(customer: str) -> None:
    answered = reply(quiet(), f"{BI}/External/Users", customerId=customer)
    assert answered.status == (403 if customer else 400)
