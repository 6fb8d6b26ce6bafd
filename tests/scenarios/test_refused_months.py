"""Months that the service rejects (400): all others are loaded, with few requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import httpx

from tests.scenarios.scenario import Scenario, scenario
from warehouse.ledger.ledger import ledger_of
from warehouse.store.database import Store

REPORTS = (
    "commission_office",
    "commission_office_by_month",
    "running_commissions",
    "sales",
    "tips_and_leads",
)
MONTHS = tuple(date(2026, month, 1) for month in range(1, 12))
FIRST_ANSWERED = date(2026, 8, 31)


@dataclass
class Refusing(httpx.AsyncBaseTransport):
    """The sandbox, except for requests for earlier days, which are rejected and counted by report."""

    sandbox: httpx.AsyncBaseTransport
    refused: Counter[str] = field(default_factory=Counter)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if date.fromisoformat(request.url.params["dateFrom"][:10]) >= FIRST_ANSWERED:
            return await self.sandbox.handle_async_request(request)
        self.refused[request.url.path.split("/")[2]] += 1
        return httpx.Response(400, json={"dateFrom": ["is not allowed"]}, request=request)


def held(here: Scenario) -> dict[str, tuple[date, ...]]:
    """The loaded months of every report."""
    found = here.rows("SELECT report, list(month ORDER BY month) FROM meta.months GROUP BY ALL")
    return {report: tuple(months) for report, months in found}


def failed(here: Scenario) -> set[date]:
    return {month for (month,) in here.rows("SELECT month FROM meta.open_failures")}


def test_of_rejected_months_the_others_are_loaded_with_few_requests_and_in_no_shorter_windows(
    tmp_path: Path,
) -> None:
    here = scenario(tmp_path, REPORTS, offices=1, start="2026-01")
    here.transport = transport = Refusing(here.sandbox)
    summary = here.sync()
    assert held(here) == dict.fromkeys(REPORTS, MONTHS[8:])
    assert MONTHS[7] in failed(here)
    unasked = {day for one in summary.results if one.status == "not requested" for day in one.months}
    assert failed(here) | unasked == set(MONTHS[:8])
    assert all("set a later BROKERBI_START" in one for one in summary.failure_lines())
    first_night = max(transport.refused.values())
    transport.refused.clear()
    here.sync()
    assert max(first_night, *transport.refused.values()) <= 12
    assert {cap.months for cap in ledger_of(Store(tmp_path)).caps.values()} <= {None}
