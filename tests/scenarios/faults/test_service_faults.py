"""What does a night with faults leave behind? What an undisturbed one leaves, or exactly named gaps.

Every fault strikes one report of one customer of its own, so that one night tells of many.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.sandbox.faults import Fault
from pipelines.sync.summary import Summary
from tests.scenarios.faults.ground import FEW, Cell, Ground, Rows, ground
from warehouse.window_result import WindowResult, WindowStatus

OFFICES = 5
TRIES = 5
PATHS = {
    "users": "/Users",
    "commission_office": "OfficeReport/",
    "sales": "SalesReport",
    "tips_and_leads": "Tips",
}
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
LASTING = {
    name: Fault(name)
    for name in "429 500 502 503 reset reset_inside half half_without_length html empty".split()
}
STATUS = {"403": "no access"}


@dataclass(frozen=True)
class Night:
    """One sync in which every fault of a set had a report of a customer to itself."""

    ground: Ground
    pairs: Mapping[str, tuple[str, str]]
    summary: Summary
    cells: dict[Cell, Rows]
    struck: Mapping[str, int]

    def outcomes(self, name: str) -> list[WindowResult]:
        return [one for one in self.summary.results if one.pair == self.pairs[name]]

    def of_pair(self, cells: Mapping[Cell, Rows], name: str) -> dict[Cell, Rows]:
        report, customer = self.pairs[name]
        tables = {
            table
            for (table,) in self.ground.rows("SELECT table_name FROM meta.tables WHERE report = $1", report)
        }
        return {cell: rows for cell, rows in cells.items() if cell[0] in tables and cell[1] == customer}


@cache
def night(faults: tuple[tuple[str, Fault], ...]) -> Night:
    here = ground(Path(mkdtemp()), offices=OFFICES)
    everybody = [(report, customer.id) for customer in here.settings.customers for report in FEW]
    pairs = dict(zip((name for name, _ in faults), everybody, strict=False))
    struck = [replace(fault, path=PATHS[pairs[name][0]], customer=pairs[name][1]) for name, fault in faults]
    summary = here.sync(*struck)
    counts = {
        name: int(str(told["struck"]))
        for (name, _), told in zip(faults, here.service.faults.described(), strict=True)
    }
    return Night(here, pairs, summary, here.cells(), counts)


@cache
def calm(offices: int = OFFICES) -> dict[Cell, Rows]:
    here = ground(Path(mkdtemp()), offices=offices)
    here.sync()
    return here.cells()


def healing() -> Night:
    return night(tuple(HEALING.items()))


def lasting(name: str) -> Night:
    """Half of the faults a night: ten requests in a row that fail would end the run."""
    names = list(LASTING)
    half = names[:5] if name in names[:5] or name in REFUSALS else names[5:]
    return night((*REFUSALS.items(), *((one, LASTING[one]) for one in half)))


@pytest.mark.parametrize("name", HEALING)
def test_what_heals_leaves_no_trace_in_the_tables(name: str) -> None:
    one = healing()
    assert one.struck[name] > 0
    assert {outcome.status for outcome in one.outcomes(name)} == {WindowStatus.LOADED}
    assert one.of_pair(one.cells, name) == one.of_pair(calm(), name)


def test_a_night_of_faults_that_heal_ends_well_with_bounded_requests() -> None:
    one = healing()
    assert one.summary.complaints() == []
    assert one.cells == calm()
    assert len(one.ground.service.log.entries) <= TRIES * len(one.summary.results)


@pytest.mark.parametrize("name", [*LASTING, *REFUSALS])
def test_what_lasts_costs_its_own_report_and_customer_and_is_named(name: str) -> None:
    one = lasting(name)
    report, customer = one.pairs[name]
    assert one.of_pair(one.cells, name) == {}
    told = one.ground.rows(
        "SELECT DISTINCT status FROM meta.loads WHERE (report, customer) = ($1, $2)", report, customer
    )
    assert told == [(STATUS.get(name, "failed"),)]
    named = [sentence for sentence in one.summary.complaints() if f"{report} of {customer}" in sentence]
    assert bool(named) == (name != "403")


@pytest.mark.parametrize("name", [*LASTING, *REFUSALS])
def test_what_may_heal_is_tried_five_times_and_a_refusal_once(name: str) -> None:
    one = lasting(name)
    asked = [outcome for outcome in one.outcomes(name) if outcome.requests]
    assert one.struck[name] == len(asked) * (1 if name in REFUSALS else TRIES)


@pytest.mark.parametrize("name", ["429", "502"])
def test_everybody_else_is_loaded_whole(name: str) -> None:
    one = lasting(name)
    gaps = {one.pairs[each] for each in one.pairs}
    whole = {
        cell: rows for cell, rows in calm().items() if (report_of(one.ground, cell), cell[1]) not in gaps
    }
    assert one.cells == whole


@pytest.mark.parametrize("name", ["429", "502"])
def test_the_following_night_asks_for_what_is_missing_and_has_everything(name: str) -> None:
    one = lasting(name)
    following = copied(one.ground).forgotten()
    summary = following.sync()
    assert summary.complaints() == []
    assert {outcome.pair for outcome in summary.results} >= set(one.pairs.values())
    assert following.cells() == calm()


def test_after_a_401_nothing_more_is_asked_and_the_rest_is_named(tmp_path: Path) -> None:
    here = ground(tmp_path)
    summary = here.sync(Fault("401", after=3))
    refused = [entry for entry in here.service.log.entries if entry.status == 401]
    assert 1 <= len(refused) <= here.settings.concurrency
    assert {one.status for one in summary.results} == {WindowStatus.LOADED, WindowStatus.FAILED}
    assert here.sync().complaints() == []
    assert here.cells() == calm(2)


def test_403_for_everybody_stops_the_run_and_marks_nobody(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=4)
    summary = here.sync(Fault("403"))
    assert "refuses every report" in summary.stopped
    assert len(here.service.log.entries) <= 4 * 2 + here.settings.concurrency
    assert here.rows("FROM meta.access") == []
    assert here.sync().complaints() == []


def test_a_login_that_covers_one_report_gets_it_for_everybody(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=4)
    here.sync(*(Fault("403", path=path) for report, path in PATHS.items() if report != "sales"))
    told = here.rows(
        "SELECT report, status, count(DISTINCT customer) FROM meta.loads GROUP BY ALL ORDER BY 1"
    )
    others = [report for report in FEW if report != "sales"]
    assert told == sorted([("sales", "loaded", 4), *((name, "no access", 4) for name in others)])
    assert len(here.service.log.entries) <= 4 * (len(others) + 3)


def test_a_service_that_is_down_is_left_alone_after_ten_requests_in_a_row(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=4)
    summary = here.sync(Fault("503"))
    assert "requests in a row" in summary.stopped
    assert len(here.service.log.entries) <= TRIES * (10 + here.settings.concurrency * 2)
    assert here.rows("SELECT count(*) FROM meta.months") == [(0,)]


def test_a_quarter_of_all_answers_may_be_faulty(tmp_path: Path) -> None:
    here = ground(tmp_path)
    summary = here.sync(*(Fault(kind, rate=0.03) for kind in LASTING))
    assert summary.complaints() == []
    assert here.cells() == calm(2)


def report_of(here: Ground, cell: Cell) -> str:
    found: dict[str, str] = dict(here.rows("SELECT table_name, report FROM meta.tables"))
    return found[cell[0]]


def copied(here: Ground) -> Ground:
    """The same night in a directory of its own, so that every test begins with it."""
    other = Path(mkdtemp()) / "copied"
    shutil.copytree(here.settings.data_dir, other)
    return replace(here, settings=here.settings.model_copy(update={"data_dir": other}))
