"""Unexpected answers: rows in quarantine, spoiled bodies, and undocumented reports."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import FEW, scenario
from tests.tools.spoiled_bodies import marked, outcome, samples

WAITING = "SELECT count(*) FROM meta.quarantine_rows"
COMMISSIONS = "SELECT count(*), sum(commission) FROM bi.commission_office"


def mistaken() -> Report:
    """The report of commissions of offices, with commission declared as BOOLEAN by mistake."""
    report = REPORTS["commission_office"]
    table = report.tables[0]
    columns = tuple(
        replace(one, type="BOOLEAN") if one.name == "commission" else one for one in table.columns
    )
    return replace(report, tables=(replace(table, columns=columns), *report.tables[1:]))


def test_rows_move_to_their_table_once_the_catalogue_is_mended(tmp_path: Path) -> None:
    here = scenario(tmp_path / "here", ("commission_office",))
    calm = scenario(tmp_path / "calm", ("commission_office",))
    calm.sync()
    replace(here, catalogue={**REPORTS, "commission_office": mistaken()}).sync()
    assert here.value(WAITING) == calm.value("SELECT count(*) FROM bi.commission_office") > 0
    assert here.rows(COMMISSIONS) == [(0, None)]
    assert here.replay(quarantine=True).failures == []
    assert here.value(WAITING) == 0
    assert here.rows(COMMISSIONS) == calm.rows(COMMISSIONS)


def test_wrong_rows_wait_while_the_others_are_loaded_until_they_are_right(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales",), offices=1)
    summary = here.sync(Fault("wrong_types", share=0.2))
    assert summary.failure_lines() == []
    loaded = here.value("SELECT count(*) FROM bi.sales_estates")
    held = here.value(f"{WAITING} WHERE table_name = 'sales_estates'")
    waiting = sum(one.rejected_count for one in summary.results)
    assert here.value('SELECT sum("rows") FROM meta.quarantine') == waiting > 0
    assert here.sync(refresh=True, accept_shrink=True).failure_lines() == []
    assert here.rows("SELECT error FROM meta.conditions WHERE kind = 'quarantine'") == []
    assert here.value("SELECT count(*) FROM bi.sales_estates") == loaded + held


def test_an_answer_of_another_structure_loses_no_row_without_a_word() -> None:
    known = samples((*FEW, "sold_estates", "commission_office_by_month", "budget_commission"))
    chance, answers = random.Random(1), [marked(sample) for sample in known]
    found = [outcome(chance.choice(answers), chance) for _ in range(100)]
    assert [edit for became, edit in found if became == "lost"] == []
    assert {became for became, _ in found} == {"nothing lost", "does not fit"}
