"""The request for changed sales, after which older months are read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import httpx
import pytest

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.months import Month
from pipelines.planning.plan import make_plan
from pipelines.planning.selection import Selection
from pipelines.sync.summary import Summary
from tests.scenarios.scenario import Scenario, whole_chain
from warehouse.ledger.window_result import WindowResult, WindowStatus
from warehouse.store.database import Store

FIRST, LATER, NEXT = date(2026, 6, 22), date(2026, 6, 29), date(2026, 6, 30)
"""No older month of sales has its day of the four weeks between them."""
OLDER = date(2026, 4, 1)  # the months from here on are read every night anyhow

Answering = Callable[[httpx.Request], httpx.Response]


@dataclass
class OtherAnswers(httpx.AsyncBaseTransport):
    """The sandbox, except for the request for changed sales, which has all days without `answering`."""

    sandbox: httpx.AsyncBaseTransport
    answering: Answering | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.params.get("selectionType") != "Changed":
            return await self.sandbox.handle_async_request(request)
        if self.answering:
            return self.answering(request)
        whole = request.url.copy_remove_param("dateFrom").copy_remove_param("dateTo")
        return await self.sandbox.handle_async_request(httpx.Request("GET", whole, headers=request.headers))


@dataclass(frozen=True)
class Week:
    """A first sync, and a nightly run a week later."""

    here: Scenario
    summary: Summary

    @property
    def questions(self) -> list[WindowResult]:
        return [one for one in self.summary.results if one.report == CHANGED_SALES]

    @property
    def probes(self) -> list[tuple[object, ...]]:
        return self.here.rows("SELECT DISTINCT status, asked_of FROM meta.probes")

    @property
    def older_months_read(self) -> int:
        loaded = (one for one in self.summary.loaded if one.report == "sales")
        return len({month for one in loaded for month in one.months if month < OLDER})


@cache
def first_sync(reports: tuple[str, ...], customers: str = "", *, whole: bool = False) -> Scenario:
    settings = {"start": "2025-11", "customers": customers, "retry_seconds": "0"}
    here = whole_chain(Path(mkdtemp()) / "data", reports, as_of=FIRST, whole=whole, **settings)
    assert here.sync().is_well
    return here


def week(
    directory: Path,
    answering: Answering | None = None,
    *,
    reports: tuple[str, ...] = ("sales",),
    of_all_days: bool = False,
    **settings: object,
) -> Week:
    later = first_sync(reports).copied_to(directory / "data").on(LATER).with_settings(**settings)
    if answering or of_all_days:
        later.transport = OtherAnswers(later.sandbox, answering)
    return Week(later, later.sync())


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Week:
    return week(tmp_path_factory.mktemp("asked"))


def test_every_customer_is_asked_once_and_the_answer_is_landed_and_counted(asked: Week) -> None:
    found = [(one.status, one.requests, bool(one.bytes)) for one in asked.questions]
    assert found == [(WindowStatus.ANSWERED, 1, True)] * 3
    assert asked.probes == [("answered", "sales")]
    assert all((asked.here.data_dir / "landing" / one.landing).is_file() for one in asked.questions)


def test_a_replay_takes_the_answers_for_no_report(asked: Week) -> None:
    assert asked.here.replay(reports=["sales"]).failures == []


def test_a_plan_says_that_it_will_ask_and_asks_nothing(asked: Week) -> None:
    asked.here.service.log.clear()
    tomorrow = asked.here.settings.model_copy(update={"today": NEXT})
    plan, _ = make_plan(tomorrow, Selection(), Store(tomorrow.data_dir), asked.here.clock)
    spans = {probe.customer.id: probe.windows[0].spans for probe in plan.probes}
    found = {(customer, str(days[0].first), str(days[-1].last)) for customer, days in spans.items()}
    assert found == {(customer.id, "2026-06-27", "2026-06-30") for customer in tomorrow.customers}
    assert asked.here.asked == []


def test_a_choice_of_months_or_reports_asks_for_no_changes() -> None:
    narrowed = (Selection(first=Month(2026, 1)), Selection(reports=("sales",)), Selection(refresh=True))
    assert [one.requests_changes for one in (Selection(), *narrowed)] == [True, False, False, False]


@pytest.mark.parametrize(
    ("status", "answer"),
    [(400, {"selectionType": "is not supported"}), (200, {"hello": [{"is": "this"}]})],
)
def test_a_night_without_an_answer_goes_on_and_says_so(status: int, answer: object, tmp_path: Path) -> None:
    night = week(tmp_path, lambda request: httpx.Response(status, json=answer, request=request))
    assert night.summary.is_well
    assert night.older_months_read == 1  # of those with commission to come, the one read longest ago
    assert {one.status for one in night.questions} == {WindowStatus.SKIPPED}
    assert night.probes == [("failed", "sales")]
    assert night.questions[0].reason.startswith("changes unknown: ")


def test_a_question_that_is_refused_says_nothing_of_sales_which_are_asked_as_always(tmp_path: Path) -> None:
    night = week(tmp_path, lambda request: httpx.Response(403, request=request))
    assert night.summary.failure_lines() == []
    assert {one.report for one in night.summary.loaded} == {"sales"}
    assert night.here.rows("FROM meta.access") == []
    assert night.probes == [("failed", "sales")]
    assert all(one.reason.startswith("changes unknown: ") for one in night.questions)
    here, [customer, *_] = night.here, night.here.settings.customers
    choices = (Selection(), Selection(customers=(customer.id,)))
    plans = [make_plan(here.settings, choice, Store(here.data_dir), here.clock)[0] for choice in choices]
    assert [len(plan.probes) for plan in plans] == [0, 1]


def test_an_answer_that_knows_no_days_makes_only_what_changed_since_due(tmp_path: Path) -> None:
    night = week(tmp_path, of_all_days=True)
    assert night.older_months_read < 6


def test_a_changed_sale_concerns_its_stored_month_and_its_present_one(tmp_path: Path) -> None:
    lister = "M30016"
    here = first_sync(("sales", "commission_office"), lister).copied_to(tmp_path / "data").on(LATER)
    [(estate, stored_month)] = here.rows(
        "SELECT id, _month FROM bi.sales_estates WHERE _customer = $1 ORDER BY ALL LIMIT 1", lister
    )

    def answering(request: httpx.Request) -> httpx.Response:
        rows = [{"id": estate, "contractDay": "2026-01-10"}]
        tree = {"officeSaleReports": [{"years": [{"months": [{"estateSaleReports": rows}]}]}]}
        return httpx.Response(200, content=json.dumps(tree), request=request)

    here.transport = OtherAnswers(here.sandbox, answering)
    here.sync()
    months = {stored_month, date(2026, 1, 1)}
    expected = {(report, lister, month) for report in ("sales", "commission_office") for month in months}
    named = "SELECT report, customer, month FROM meta.changes WHERE report IN ('sales', 'commission_office')"
    assert {*here.rows(named)} == expected


def test_a_month_on_which_reports_disagree_is_read_again_the_next_night(tmp_path: Path) -> None:
    office, by_month, watched = "commission_office", "commission_office_by_month", date(2026, 5, 1)
    here = first_sync((office, by_month), "G1", whole=True).copied_to(tmp_path / "data").on(date(2026, 7, 3))
    here.sync(reports=(by_month,), refresh=True)
    here.publish()
    disagreeing = "SELECT DISTINCT month FROM marts.reconciliation WHERE NOT is_reconciled"
    stale = {month for (month,) in here.rows(disagreeing) if month < watched}
    nights = [here.sync().loaded, here.sync().loaded]
    asked = [{month for one in night for month in one.months if month < watched} for night in nights]
    assert (bool(stale), stale - asked[0], asked[1]) == (True, set(), set())
    here.build("reconciliation")
    assert here.rows(disagreeing) == []
