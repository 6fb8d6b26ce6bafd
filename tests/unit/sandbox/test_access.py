"""Logins, and the customers and reports they may ask for."""

from __future__ import annotations

from base64 import b64encode

import pytest

from pipelines.sandbox.calls import Call
from pipelines.sandbox.service import SandboxLogin, Service
from tests.unit.sandbox.asking import BI, credentials, quiet, reply, world


def _status(service: Service, customer: str, header: str | None) -> int:
    headers = {} if header is None else {"authorization": header}
    return service.respond(Call("GET", f"{BI}/External/Users?customerId={customer}", headers)).status


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Basic",
        "Basic !!!",
        "Bearer abc",
        credentials("sandbox", "wrong"),
        credentials("nobody", "sandbox"),
        "Basic " + b64encode(b"sandbox").decode(),
        "Basic " + b64encode(b"\xff\xfe:x").decode(),
        "Basic " + b64encode("sändbox:sandbox".encode("latin-1")).decode(),
    ],
)
def test_a_wrong_login_is_answered_with_401(header: str | None) -> None:
    assert _status(quiet(), "M30016", header) == 401


def test_a_login_in_utf_8_and_with_a_colon_sees_its_customer_and_no_other() -> None:
    service = Service(world(), logins=[SandboxLogin("mäklare", "lös:en å", frozenset({"M30016"}))])
    header = credentials("mäklare", "lös:en å")
    statuses = [_status(service, customer, header) for customer in ("M30016", "M30017", "G1")]
    assert statuses == [200, 403, 403]


@pytest.mark.parametrize("customer", ["M99999", "G2", "FIR30011", "m30011", ""])
def test_a_customer_the_login_does_not_know_is_answered_with_403_and_none_with_400(customer: str) -> None:
    answered = reply(quiet(), f"{BI}/External/Users", customerId=customer)
    assert answered.status == (403 if customer else 400)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/BusinessIntelligence/Nothing?customerId=G1", 404),
        ("GET", "/businessintelligence/External/Users?customerId=G1", 404),
        ("PUT", "/BusinessIntelligence/External/Users?customerId=G1", 405),
        ("POST", "/BusinessIntelligence/External/Users?customerId=G1", 405),
        ("GET", "/BusinessIntelligence/Budget/Crm/G1/HAN0/2025/5", 404),
    ],
)
def test_other_paths_and_methods_are_not_served(method: str, path: str, status: int) -> None:
    call = Call(method, path, {"authorization": credentials()}, b"{}")
    assert quiet().respond(call).status == status
