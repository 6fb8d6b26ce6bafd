"""Do rows that break their type wait in quarantine, and move to their table once the model is mended?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.normalize.document import read_document
from pipelines.normalize.normalize import normalize
from pipelines.operations.quarantined_rows import raw_rows
from pipelines.operations.replay import replay
from pipelines.sandbox.faults import Fault
from tests.scenarios.faults.ground import ground
from warehouse.database import Store
from warehouse.quarantine import fingerprint
from warehouse.status import overview


def mistaken() -> Report:
    """Commissions of offices by columns that take an amount for yes or no."""
    report = REPORTS["commission_office"]
    table = report.tables[0]
    columns = tuple(
        replace(one, type="BOOLEAN") if one.name == "commission" else one for one in table.columns
    )
    return replace(report, tables=(replace(table, columns=columns), *report.tables[1:]))


def test_rows_move_to_their_table_once_the_catalogue_is_mended(tmp_path: Path) -> None:
    here = ground(tmp_path / "here", reports=("commission_office",))
    calm = ground(tmp_path / "calm", reports=("commission_office",))
    calm.sync()
    wrong = replace(here, catalogue={**REPORTS, "commission_office": mistaken()})
    wrong.sync()
    held = here.rows("SELECT count(*), count(DISTINCT reason) FROM meta.quarantine_rows")
    [(rows,)] = calm.rows("SELECT count(*) FROM bi.commission_office")
    assert held[0][0] == rows > 0
    assert here.rows("SELECT count(*) FROM bi.commission_office") == [(0,)]
    assert replay(here.settings, quarantine=True).failures == []
    assert here.rows("SELECT count(*) FROM meta.quarantine_rows") == [(0,)]
    assert here.rows("SELECT count(*), sum(commission) FROM bi.commission_office") == calm.rows(
        "SELECT count(*), sum(commission) FROM bi.commission_office"
    )


def test_wrong_rows_wait_while_the_others_are_loaded_and_status_counts_them(tmp_path: Path) -> None:
    here = ground(tmp_path, reports=("sales",), offices=1)
    summary = here.sync(Fault("wrong_types", share=0.2))
    assert summary.complaints() == []
    waiting = sum(one.rejected_count for one in summary.results)
    assert waiting > 0 < here.rows("SELECT count(*) FROM bi.sales_estates")[0][0]
    counted = overview(Store(here.settings.data_dir)).quarantined
    assert sum(one.rows for one in counted) == waiting
    assert here.sync(refresh=True, accept_shrink=True).complaints() == []
    assert overview(Store(here.settings.data_dir)).quarantined == []


def test_a_row_that_waits_is_shown_as_it_came_from_every_kind_of_answer(tmp_path: Path) -> None:
    here = ground(tmp_path, reports=("sales", "tips_and_leads"), offices=1, page_size=3)
    here.sync(Fault("wrong_types", share=0.2))
    shown = list(raw_rows(Store(tmp_path), tmp_path))
    assert {one.row.report for one in shown} == {"sales", "tips_and_leads"}
    assert {one.row.place.partition("$")[0][:5] for one in shown} == {"", "page "}
    assert [one.trouble for one in shown if not one.raw.startswith("{")] == []
    assert [one for one in shown if fingerprint(one.raw) != one.row.fingerprint] == []


def test_an_old_number_that_is_no_number_costs_nobody_a_commission() -> None:
    report = REPORTS["commission_office"]
    body = (
        b'[{"customerId":"M7","office":{"customerId":"M7"},"commission":5},'
        b'{"customerId":7,"office":{"customerId":"M8"}}]'
    )
    pages, months = [read_document(body)], [Month.parse("2026-10")]
    flat = normalize(report, pages, months=months, timezone="UTC", asked=None)
    assert flat.rejected == ()
    assert flat.tables[0].frame["customer_id"].to_list() == ["M7", "7"]
