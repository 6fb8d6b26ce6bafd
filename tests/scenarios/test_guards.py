"""Doubtful answers: emptied months, shrunk customers, windows too long, moving pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.connect.pace import RetryPolicy
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import Scenario, scenario, synced, whole_chain
from warehouse.ledger.ledger import Cap, forget_caps, ledger_of
from warehouse.ledger.stored_answers import newest_answers
from warehouse.ledger.window_result import WindowStatus
from warehouse.load.landing import Landing
from warehouse.store.database import Store


def caps(here: Scenario) -> list[tuple[str, int | None]]:
    """The learned windows as `status` shows them."""
    return [(report, cap.months) for (report, _), cap in ledger_of(Store(here.data_dir)).caps.items()]


def test_a_month_that_empties_is_asked_twice_and_then_believed_with_a_warning(tmp_path: Path) -> None:
    here = synced(tmp_path, ("commission_office",))
    summary = here.sync(Fault("empty_report"))
    assert [(one.status, one.requests) for one in summary.results] == [(WindowStatus.LOADED, 2)] * 2
    assert all("and has none now; it was read twice" in one.warnings[0] for one in summary.results)
    assert here.value("SELECT count(*) FROM bi.commission_office") == 0
    assert len(here.rows("FROM meta.loads WHERE note LIKE '%read twice%'")) == 2


def test_a_month_that_was_empty_only_once_is_kept(tmp_path: Path) -> None:
    here = synced(tmp_path, ("commission_office",))
    before = here.cells()
    summary = here.sync(Fault("empty_report", tries=1))
    assert [one.requests for one in summary.results] == [2, 2]
    assert here.cells() == before


def test_months_of_which_no_row_can_be_read_any_more_stay_as_they_are(tmp_path: Path) -> None:
    here = synced(tmp_path, ("commission_office",))
    before = here.cells()
    summary = here.sync(Fault("wrong_types", share=1))
    assert {one.status for one in summary.results} == {WindowStatus.FAILED}
    assert all("can be read any more" in one.reason for one in summary.results)
    assert here.cells() == before


def test_a_window_that_keeps_timing_out_is_halved_remembered_and_can_be_forgotten(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales",), offices=1)
    assert here.sync(Fault("slow_start", seconds=100, count=RetryPolicy.tries)).failure_lines() == []
    assert "1 span halved" in here.value("SELECT note FROM meta.loads")
    assert caps(here) == [("sales", 1)]
    here.sync(refresh=True)
    assert len(here.asked) == 2
    with Store(tmp_path).writing() as connection:
        forget_caps(connection)
    assert caps(here) == []


def asked_in_pages(here: Scenario) -> list[str]:
    """The page sizes in the order of the requests; "-" is the report without pages."""
    return [entry.query.get("pagesize", "-") for entry in here.asked]


def test_a_refused_page_size_is_made_smaller_and_remembered_for_the_next_time(tmp_path: Path) -> None:
    sizes = ["1000", "100", "-"]
    here = scenario(tmp_path / "a", ("tips_and_leads",), offices=1)
    plain = synced(tmp_path / "b", ("tips_and_leads",))
    here.service.largest_page = 0
    assert here.sync().failure_lines() == []
    assert (asked_in_pages(here)[: len(sizes)], here.cells()) == (sizes, plain.cells())
    assert list(ledger_of(Store(here.data_dir)).caps.values()) == [Cap(page_size=0)]
    here.sync(refresh=True)
    assert set(asked_in_pages(here)) == {sizes[-1]}
    assert 400 not in [entry.status for entry in here.asked]


@pytest.mark.parametrize("kind", ["moving_rows", "repeated_ids"])
def test_pages_that_move_are_read_again_and_it_is_written_down(tmp_path: Path, kind: str) -> None:
    here, calm = (
        whole_chain(tmp_path / name, ("tips_and_leads",), start="2026-10", customers="G1", page_size=rows)
        for name, rows in (("moving", "2"), ("calm", "1000"))
    )
    assert here.sync(Fault(kind, rows=2, restless=True)).failure_lines() == []
    assert calm.sync().failure_lines() == []
    notes = [note for (note,) in here.rows("SELECT note FROM meta.loads")]
    assert any("read again" in note and "read unpaged" in note for note in notes)
    moving, still = (
        {cell: rows for cell, rows in one.cells().items() if "envelope" not in cell[0]}
        for one in (here, calm)
    )
    assert moving == still


def chain_of(tmp_path: Path, report: str) -> Scenario:
    """Two months of a report of a group of offices, after a first sync."""
    return first_of_chain(report).copied_to(tmp_path / "data")


@cache
def first_of_chain(report: str) -> Scenario:
    here = whole_chain(Path(mkdtemp()) / "data", (report,), start="2026-10", customers="G1")
    assert here.sync().failure_lines() == []
    return here


def test_shapes_reads_the_answer_that_does_not_fit_even_if_others_are_newer(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales",))
    first, second = (customer.id for customer in here.settings.customers)
    here.sync(Fault("wrong_rows", customer=first, share=1.0))
    here.sync(customers=(second,), refresh=True)
    with Store(here.settings.data_dir).reading() as connection:
        assert newest_answers(connection)["sales"][2] == first


def test_more_than_half_of_the_rows_are_held_back_from_a_replay_too_until_accepted(tmp_path: Path) -> None:
    here = chain_of(tmp_path, "sales")
    before = here.cells()
    summary = here.sync(Fault("empty_report"))
    assert [one.status for one in summary.results] == [WindowStatus.HELD_BACK]
    assert "--accept-shrink" in summary.failure_lines()[0]
    with Store(here.settings.data_dir).reading() as connection:
        newest, *_ = newest_answers(connection)["sales"]
    assert newest == summary.results[0].landing
    assert len([*Landing(here.data_dir / "landing").read_used(newest)]) == 1  # `brokerbi shapes` reads it
    here.lose_working_file()
    assert here.replay().failures == []
    assert here.cells() == before
    assert here.sync(Fault("empty_report"), accept_shrink=True).failure_lines() == []
    assert here.value("SELECT count(*) FROM bi.sales_estates") == 0
