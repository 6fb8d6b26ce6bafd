"""Faults: where and how often they strike, and what they do to an answer."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.cli.main import main
from pipelines.sandbox.calls import Reply
from pipelines.sandbox.faults import KINDS, OPTIONS, Fault
from pipelines.sandbox.service import Service
from tests.unit.sandbox.asking import BI, reply, world

USERS = f"{BI}/External/Users"


def _service(*faults: Fault) -> Service:
    return Service(world(), faults=faults, clock=lambda: datetime(2026, 1, 1, 5, tzinfo=UTC))


def _users(service: Service, customer: str = "G1") -> Reply:
    return reply(service, USERS, customerId=customer)


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
def test_a_fault_strikes_the_requests_that_its_options_select(
    faults: list[Fault], customers: list[str], statuses: list[int]
) -> None:
    service = _service(*faults)
    assert [_users(service, customer).status for customer in customers] == statuses


def test_a_fault_is_read_from_text() -> None:
    assert Fault.parse("429:rate=0.2,path=Leads,retry_after=date,count=3,restless=true") == Fault(
        "429", rate=0.2, path="Leads", retry_after="date", count=3, restless=True
    )


@pytest.mark.parametrize(
    "text", ["earthquake", "500:rate", "500:rate=often", "500:colour=red", "429:retry_after=soon", ""]
)
def test_a_fault_that_is_not_understood_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"fault|rate|retry_after"):
        Fault.parse(text)


def test_every_kind_of_fault_and_every_option_is_in_the_help_and_in_the_documentation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text("utf-8")
    named = re.findall(r"`(\w+)`", page[page.index("| Kind of fault |") :])
    assert (KINDS | OPTIONS).keys() <= {*named}
    assert main(["sandbox", "--help"]) == 0
    told = capsys.readouterr().out
    assert [words for words in (KINDS | OPTIONS).values() if words not in told] == []
    assert [one.name for one in fields(Fault)] == ["kind", *OPTIONS]
