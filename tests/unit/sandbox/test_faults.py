"""Faults: where and how often they strike, and what they do to an answer."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from pipelines.sandbox.calls import Reply
from pipelines.sandbox.faults import KINDS, Fault
from pipelines.sandbox.service import Service
from tests.unit.sandbox.asking import AGREED, BI, EVERYTHING, MAY, YEAR, Json, ask, leads, reply, world

USERS = f"{BI}/External/Users"
PAGED = f"{BI}/TipsAndLeads/Report/Paged"


def _service(*faults: Fault) -> Service:
    return Service(world(), faults=faults, clock=lambda: datetime(2026, 1, 1, 5, tzinfo=UTC))


def _users(service: Service, customer: str = "G1") -> Reply:
    return reply(service, USERS, customerId=customer)


def _page(service: Service, index: int) -> Json:
    asked = {"customerId": "G1", "pageIndex": index, "pageSize": 30, **EVERYTHING, **MAY}
    return ask(service, PAGED, **asked)


def _ids(answer: Json) -> list[str]:
    return [(row.get("lead") or row["tip"])["id"] for _, row in leads(answer)]


@pytest.mark.parametrize(
    ("written", "header"),
    [("seconds", "90"), ("date", "Thu, 01 Jan 2026 05:01:30 GMT"), ("none", None)],
)
def test_retry_after_is_seconds_or_a_date_or_missing(written: str, header: str | None) -> None:
    answered = _users(_service(Fault("429", retry_after=written, seconds=90)))
    assert answered.headers.get("Retry-After") == header


@pytest.mark.parametrize(
    ("faults", "customers", "statuses"),
    [
        ([Fault("500", count=2, after=1)], ["G1"] * 5, [200, 500, 500, 200, 200]),
        ([Fault("503", tries=1)], ["G1", "M30016", "G1", "M30016", "G1"], [503, 503, 200, 200, 200]),
        ([Fault("403", customer="M30016", path="external/users")], ["G1", "M30016"], [200, 403]),
        ([Fault("403", path="external/trademarks")], ["G1"], [200]),
        ([Fault("500", count=1), Fault("403")], ["G1", "G1"], [500, 403]),
    ],
    ids=["count and beginning", "first tries of a request", "customer", "path", "one status for a request"],
)
def test_a_fault_strikes_where_and_as_often_as_it_says(
    faults: list[Fault], customers: list[str], statuses: list[int]
) -> None:
    service = _service(*faults)
    assert [_users(service, customer).status for customer in customers] == statuses


def test_a_rate_is_about_kept_and_drawn_the_same_way_each_time() -> None:
    first, again = (
        [_users(service).status for _ in range(400)]
        for service in (_service(Fault("500", rate=0.25)) for _ in "ab")
    )
    assert first == again
    assert 70 < first.count(500) < 130


def test_the_lot_of_a_request_does_not_hang_on_the_order_of_others() -> None:
    forward, backward = (_service(Fault("500", rate=0.5)) for _ in "ab")
    customers = ["G1", "M30011", "M30012", "M30013", "M30016", "M30017"]
    told = {customer: _users(forward, customer).status for customer in customers}
    assert told == {customer: _users(backward, customer).status for customer in reversed(customers)}


def test_a_body_can_be_empty_or_in_the_wrong_charset_or_compressed() -> None:
    whole = _users(_service()).body
    empty, charset, packed = (_users(_service(Fault(kind))) for kind in ("empty", "charset", "gzip"))
    assert (empty.body, charset.body.decode("latin-1"), gzip.decompress(packed.body)) == (
        b"",
        whole.decode().encode("latin-1", "replace").decode("latin-1"),
        whole,
    )
    assert packed.headers["Content-Encoding"] == "gzip"


def test_unknown_fields_appear_in_some_rows() -> None:
    service = _service(Fault("unknown_fields", share=0.5))
    rows = ask(service, f"{BI}/RunningCommissions", customerId="G1", **MAY)
    assert 0 < len([row for row in rows if "sandboxDetail" in row]) < len(rows)


def test_some_rows_can_be_no_rows_at_all() -> None:
    service = _service(Fault("wrong_rows", share=0.5))
    rows = ask(service, f"{BI}/RunningCommissions", customerId="G1", **MAY)
    assert {type(row) for row in rows} >= {dict, str}


def test_rows_that_move_in_show_on_the_second_look_at_the_first_page() -> None:
    service = _service(Fault("moving_rows", rows=3))
    first, second, again = (_page(service, index) for index in (0, 1, 0))
    assert second["totalRowCount"] - first["totalRowCount"] == len(set(_ids(first)) & set(_ids(second))) == 3
    assert (again["totalRowCount"], _ids(again) == _ids(first)) == (second["totalRowCount"], False)


def test_a_fault_is_read_from_text() -> None:
    assert Fault.parse("429:rate=0.2,path=Leads,retry_after=date,count=3,restless=true") == Fault(
        "429", rate=0.2, path="Leads", retry_after="date", count=3, restless=True
    )


@pytest.mark.parametrize(
    "text", ["earthquake", "500:rate", "500:rate=often", "500:colour=red", "429:retry_after=soon", ""]
)
def test_a_fault_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"fault|rate|retry_after"):
        Fault.parse(text)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_fault_can_strike_a_report(kind: str) -> None:
    service = _service(Fault(kind))
    answered = reply(service, f"{BI}/GetSalesReport", customerId="G1", **AGREED, **YEAR)
    assert answered.status == (302 if kind == "redirect" else int(kind) if kind.isdecimal() else 200)
    assert service.faults.described()[0]["struck"] == 1
