"""Months that the service rejects (400): all others are loaded, with few requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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

Refuses = Callable[[date, date], bool]
"""Whether a question about these days, both included, is refused."""


@dataclass
class Refusing(httpx.AsyncBaseTransport):
    """The sandbox, except for requests that it rejects, which are counted by report."""

    sandbox: httpx.AsyncBaseTransport
    refuses: Refuses
    refused: Counter[str] = field(default_factory=Counter)
    status: int = 400

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        first, last = (date.fromisoformat(request.url.params[name][:10]) for name in ("dateFrom", "dateTo"))
        if not self.refuses(first, last):
            return await self.sandbox.handle_async_request(request)
        self.refused[request.url.path.split("/")[2]] += 1
        return httpx.Response(self.status, json={"dateFrom": ["is not allowed"]}, request=request)


def refusing(
    directory: Path, refuses: Refuses, reports: tuple[str, ...] = REPORTS
) -> tuple[Scenario, Refusing]:
    here = scenario(directory, reports, offices=1, start="2026-01")
    transport = Refusing(here.sandbox, refuses)
    return replace(here, transport=transport), transport


def held(here: Scenario) -> dict[str, tuple[date, ...]]:
    """The loaded months of every report."""
    found = here.rows("SELECT report, list(month ORDER BY month) FROM meta.months GROUP BY ALL")
    return {report: tuple(months) for report, months in found}


def failed(here: Scenario) -> set[date]:
    return {month for (month,) in here.rows("SELECT month FROM meta.open_failures")}


def before_september(first: date, _: date) -> bool:
    return first < date(2026, 8, 31)


def test_what_is_answered_from_some_day_on_is_loaded_and_the_months_before_are_named(tmp_path: Path) -> None:
    here, _ = refusing(tmp_path, before_september)
    summary = here.sync()
    assert held(here) == dict.fromkeys(REPORTS, MONTHS[8:])
    assert MONTHS[7] in failed(here)
    unasked = {day for one in summary.results if one.status == "not requested" for day in one.months}
    assert failed(here) | unasked == set(MONTHS[:8])
    assert all("set BROKERBI_START later" in one for one in summary.complaints())


def test_refused_months_cost_few_questions_and_teach_no_shorter_windows(tmp_path: Path) -> None:
    here, transport = refusing(tmp_path, before_september)
    for _ in ("the first night", "the next"):
        transport.refused.clear()
        here.sync()
        assert max(transport.refused.values()) <= 12
    assert {cap.months for cap in ledger_of(Store(tmp_path)).caps.values()} <= {None}
