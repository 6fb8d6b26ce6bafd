"""Does the sync doubt what deserves doubt? Empty months, shrunk customers, long windows, moving pages."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import httpx
import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.operations.replay import replay
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.transport import SandboxTransport
from pipelines.sync.sync import sync
from tests.scenarios.faults.ground import Ground, ground
from tests.scenarios.faults.victim import KILLED, Job, Step, killed_at, run
from warehouse.database import Store
from warehouse.landing import Landing
from warehouse.ledger import Cap, forget_caps, ledger_of
from warehouse.status import overview
from warehouse.window_result import WindowStatus

OFFICE_MONTHS = "SELECT count(*) FROM bi.commission_office"


def one_report(directory: Path, name: str, page_size: int = 1000) -> Ground:
    return ground(directory, (name,), offices=1, page_size=page_size)


def test_a_month_that_empties_is_asked_twice_and_then_believed_with_a_warning(tmp_path: Path) -> None:
    here = one_report(tmp_path, "commission_office")
    here.sync()
    summary = here.sync(Fault("empty_report"))
    assert [(one.status, one.requests) for one in summary.results] == [(WindowStatus.LOADED, 2)] * 2
    assert all("is empty now, asked twice" in one.warnings[0] for one in summary.results)
    assert here.rows(OFFICE_MONTHS) == [(0,)]
    assert len(here.rows("FROM meta.loads WHERE note LIKE '%asked twice%'")) == 2


def test_a_month_that_was_empty_only_once_is_kept(tmp_path: Path) -> None:
    here = one_report(tmp_path, "commission_office")
    here.sync()
    before = here.cells()
    summary = here.sync(Fault("empty_report", tries=1))
    assert [one.requests for one in summary.results] == [2, 2]
    assert here.cells() == before


def test_more_than_half_may_not_go_without_being_told_to(tmp_path: Path) -> None:
    here = one_report(tmp_path, "sales")
    here.sync()
    before = here.cells()
    summary = here.sync(Fault("empty_report"))
    assert [one.status for one in summary.results] == [WindowStatus.HELD_BACK]
    assert "--accept-shrink" in summary.complaints()[0]
    assert here.cells() == before
    assert here.rows("SELECT count(*) FROM meta.loads WHERE status = 'held back'") == [(1,)]


def test_what_was_held_back_is_not_loaded_by_a_replay_after_everything_was_lost(tmp_path: Path) -> None:
    here = one_report(tmp_path, "sales")
    here.sync()
    before = here.cells()
    here.sync(Fault("empty_report"))
    shutil.rmtree(here.settings.data_dir / "work")
    assert replay(here.settings).failures == []
    assert here.cells() == before


def test_what_was_released_is_loaded_by_a_replay_after_everything_was_lost(tmp_path: Path) -> None:
    here = one_report(tmp_path, "sales")
    here.sync()
    here.sync(refresh=True)
    loads = here.rows("SELECT load_id FROM meta.months")
    shutil.rmtree(here.settings.data_dir / "work")
    assert replay(here.settings).failures == []
    assert here.rows("SELECT load_id FROM meta.months") == loads


def test_what_a_killed_sync_had_not_decided_on_is_loaded_by_nobody(tmp_path: Path) -> None:
    here = one_report(tmp_path, "sales")
    here.sync()
    job = Job("sync", str(tmp_path), (here.settings.customers[0].id,), "2026-10", ("sales",))
    assert run(killed_at(job, Step("pipelines/sync/scheduler.py", "_release"))) == KILLED
    assert len(Landing(tmp_path / "landing").held()) == 1
    assert replay(here.settings).loads == 1


def test_more_than_half_goes_when_told_to(tmp_path: Path) -> None:
    here = one_report(tmp_path, "sales")
    here.sync()
    summary = here.sync(Fault("empty_report"), accept_shrink=True)
    assert summary.complaints() == []
    assert here.rows("SELECT count(*) FROM bi.sales_estates") == [(0,)]


def test_a_window_that_keeps_timing_out_is_halved_remembered_and_can_be_forgotten(tmp_path: Path) -> None:
    here = one_report(tmp_path, "sales")
    summary = here.sync(Fault("slow_start", seconds=100, count=here.settings.tries))
    assert summary.complaints() == []
    assert "1 spans were refused and halved" in here.rows("SELECT note FROM meta.loads")[0][0]
    store = Store(here.settings.data_dir)
    assert [(one.report, one.months) for one in overview(store).caps] == [("sales", 1)]
    here.sync(refresh=True)
    assert len(here.service.log.entries) == 2
    with store.writing() as connection:
        forget_caps(connection)
    assert overview(store).caps == []


def test_a_refused_window_is_halved_and_loaded_whole(tmp_path: Path) -> None:
    report = REPORTS["running_commissions"]
    here = ground(tmp_path, reports=(report.name,), offices=1, start="2026-06")
    here.sync()
    before = here.cells()
    longer = replace(here, catalogue={**REPORTS, report.name: replace(report, max_months=6)})
    assert longer.sync(refresh=True).complaints() == []
    assert [entry.status for entry in here.service.log.entries].count(400) >= 1
    assert here.cells() == before
    caps = ledger_of(Store(here.settings.data_dir)).caps
    assert caps == {(report.name, here.settings.customers[0].id): Cap(months=1)}


@dataclass
class Padded(httpx.AsyncBaseTransport):
    """The sandbox, with 200 kB of blanks before its answer for every day that is asked for."""

    sandbox: httpx.AsyncBaseTransport
    asked: list[int] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        first, last = (date.fromisoformat(request.url.params[name][:10]) for name in ("dateFrom", "dateTo"))
        self.asked.append((last - first).days + 1)
        reply = await self.sandbox.handle_async_request(request)
        body = b" " * (200_000 * self.asked[-1]) + await reply.aread()
        return httpx.Response(reply.status_code, content=body)


def test_a_window_whose_answer_is_too_large_is_halved_and_loaded_whole(tmp_path: Path) -> None:
    here, plain = (ground(tmp_path / name, ("sales",), offices=1, start="2026-06") for name in ("a", "b"))
    plain.sync()
    padded = Padded(here.context().transport or SandboxTransport(here.service))
    summary = sync(here.settings, Selection(), context=replace(here.context(), transport=padded))
    assert (summary.complaints(), padded.asked) == ([], [174, 92, 82])
    assert here.cells() == plain.cells()
    assert [(one.report, one.months) for one in overview(Store(here.settings.data_dir)).caps] == [
        ("sales", 3)
    ]


@pytest.mark.parametrize("kind", ["moving_rows", "repeated_ids"])
def test_pages_that_move_are_read_again_and_it_is_written_down(tmp_path: Path, kind: str) -> None:
    here = one_report(tmp_path, "tips_and_leads", page_size=5)
    calm = one_report(tmp_path / "calm", "tips_and_leads")
    calm.sync()
    assert here.sync(Fault(kind, rows=2, restless=True)).complaints() == []
    notes = [note for (note,) in here.rows("SELECT note FROM meta.loads")]
    assert any("read again" in note and "read unpaged" in note for note in notes)
    rows = {cell: rows for cell, rows in here.cells().items() if "envelope" not in cell[0]}
    assert rows == {cell: rows for cell, rows in calm.cells().items() if "envelope" not in cell[0]}
