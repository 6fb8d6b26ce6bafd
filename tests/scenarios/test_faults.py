"""Nights with faults of the service: what heals leaves no trace, what lasts leaves exactly named gaps.

Every fault strikes one report of one customer of its own, so that one night shows many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.causes import cause_lines
from pipelines.connect.errors import AllDenied, HostDown
from pipelines.sandbox.faults import Fault
from pipelines.sync.summary import Summary
from tests.scenarios.scenario import FEW, TODAY, Cell, Rows, Scenario, scenario
from warehouse.ledger.window_result import WindowResult, WindowStatus

OFFICES = 5
TRIES = 5
PATHS = dict(zip(FEW, ("/Users", "OfficeReport/", "SalesReport", "Tips"), strict=True))
HEALING = {
    "429 with seconds": Fault("429", tries=2),
    "429 with a date": Fault("429", tries=2, retry_after="date"),
    "429 with nothing": Fault("429", tries=2, retry_after="none"),
    "500": Fault("500", tries=4),
    "502": Fault("502", tries=4),
    "503": Fault("503", tries=4),
    "a reset before the answer": Fault("reset", tries=2),
    "a reset inside the body": Fault("reset_inside", tries=2),
    "half a body with its length": Fault("half", tries=2),
    "half a body without": Fault("half_without_length", tries=2),
    "a page of HTML": Fault("html", tries=2),
    "an empty body": Fault("empty", tries=2),
    "another charset": Fault("charset", tries=2),
    "a first byte that never comes": Fault("slow_start", tries=2, seconds=100),
    "a slow first byte": Fault("slow_start", seconds=20),
    "a slow body": Fault("slow_body", seconds=20),
    "gzip": Fault("gzip"),
}
REFUSALS = {"404": Fault("404"), "redirect": Fault("redirect"), "403": Fault("403")}
LASTING = "429 500 502 503 reset reset_inside half half_without_length html empty".split()


@dataclass(frozen=True)
class Night:
    """One sync in which every fault of a set had its own report and customer."""

    here: Scenario
    pairs: Mapping[str, tuple[str, str]]
    summary: Summary
    cells: dict[Cell, Rows]
    struck: Mapping[str, int]

    def results(self, fault: str) -> list[WindowResult]:
        return [one for one in self.summary.results if one.pair == self.pairs[fault]]

    def cells_without(self, *faults: str) -> dict[Cell, Rows]:
        """The undisturbed cells of all reports and customers except those with these faults."""
        reports = dict(self.here.rows("SELECT table_name, report FROM meta.tables"))
        gaps = {self.pairs[fault] for fault in faults}
        return {cell: rows for cell, rows in calm().items() if (reports[cell[0]], cell[1]) not in gaps}


@cache
def night(faults: tuple[tuple[str, Fault], ...]) -> Night:
    here = scenario(Path(mkdtemp()) / "data", offices=OFFICES)
    everybody = [(report, customer.id) for customer in here.settings.customers for report in FEW]
    pairs = dict(zip((name for name, _ in faults), everybody, strict=False))
    summary = here.sync(
        *(replace(fault, path=PATHS[pairs[name][0]], customer=pairs[name][1]) for name, fault in faults)
    )
    described = here.service.faults.summary()
    struck = {name: int(str(one["struck"])) for (name, _), one in zip(faults, described, strict=True)}
    return Night(here, pairs, summary, here.cells(), struck)


@cache
def undisturbed(offices: int) -> tuple[dict[Cell, Rows], int]:
    """What a sync without a fault loads, and how many requests it takes."""
    here = scenario(Path(mkdtemp()), offices=offices)
    here.sync()
    return here.cells(), len(here.asked)


def calm(offices: int = OFFICES) -> dict[Cell, Rows]:
    return undisturbed(offices)[0]


def lasting(name: str) -> Night:
    """Half of the faults a night: ten requests in a row that fail would end the run."""
    half = LASTING[5:] if name in LASTING[5:] else LASTING[:5]
    return night((*REFUSALS.items(), *((one, Fault(one)) for one in half)))


def test_what_heals_leaves_no_trace_and_its_requests_are_bounded() -> None:
    one = night(tuple(HEALING.items()))
    assert [name for name in HEALING if not one.struck[name]] == []
    assert {result.status for name in HEALING for result in one.results(name)} == {WindowStatus.LOADED}
    assert one.summary.failure_lines() == []
    assert one.cells == calm()
    assert len(one.here.asked) <= TRIES * len(one.summary.results)


@pytest.mark.parametrize("name", [*LASTING, *REFUSALS])
def test_what_lasts_costs_its_own_report_and_customer_and_is_named(name: str) -> None:
    one = lasting(name)
    report, customer = one.pairs[name]
    assert one.cells == one.cells_without(*one.pairs)  # nothing of its own, and all of everybody else
    query = "SELECT DISTINCT status FROM meta.loads WHERE (report, customer) = ($1, $2)"
    assert one.here.value(query, report, customer) == ("no access" if name == "403" else "failed")
    named = {(found.report, found.customer) for found in one.summary.conditions if found.is_error}
    assert ((report, customer) in named) == (name != "403")
    errors = [found for found in one.summary.conditions if found.is_error]
    assert one.summary.failure_lines() == cause_lines(errors)


def test_the_next_night_has_everything(tmp_path: Path) -> None:
    one = lasting("429")
    following = one.here.copied_to(tmp_path / "data").on_calendar_day(TODAY + timedelta(days=1))
    summary = following.sync()
    assert summary.failure_lines() == []
    assert {result.pair for result in summary.results} >= set(one.pairs.values())
    assert following.cells() == calm()


def test_403_for_everybody_stops_the_run_and_marks_nobody(tmp_path: Path) -> None:
    here = scenario(tmp_path, offices=4)
    summary = here.sync(Fault("403"))
    assert isinstance(summary.stopped, AllDenied)
    assert len(here.asked) <= 4 * 2 + here.settings.concurrency
    assert here.rows("FROM meta.access") == []
    assert here.sync().failure_lines() == []


def test_reports_that_are_denied_leave_the_others_of_their_customer_alone(tmp_path: Path) -> None:
    here = scenario(tmp_path, (*FEW, "trademarks", "commission_user", "sold_estates"), offices=4)
    last = here.settings.customers[-1].id
    summary = here.sync(Fault("403", customer=last, count=3))
    assert [row.kind for row in summary.conditions if row.customer == last] == ["no access"] * 3


def test_a_service_that_is_down_is_left_alone_and_what_was_not_requested_is_noted(tmp_path: Path) -> None:
    here = scenario(tmp_path, offices=4)
    assert isinstance(here.sync(Fault("503")).stopped, HostDown)
    assert len(here.asked) <= TRIES * (10 + here.settings.concurrency * 2)
    assert here.value("SELECT count(*) FROM meta.months") == 0
    assert here.value("SELECT count(DISTINCT (report, customer)) FROM meta.open_failures") == 4 * len(FEW)
    kinds = "SELECT DISTINCT error_kind FROM meta.open_failures ORDER BY 1"
    assert here.rows(kinds) == [("HostDown",), ("Unavailable",)]
