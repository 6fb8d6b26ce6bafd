"""Is a new report one block of data? One is added here, and everything else follows from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from pipelines.catalogue.model import MonthOfRow, Report, StoredAs, Table, TimeParameters, text
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.operations.replay import replay
from pipelines.planning.selection import Selection
from tests.scenarios.rehearsal import rehearsal

COLLEAGUE = (text("id", "id of the user"), text("name", "name of the user"))

COLLEAGUES = Report(
    name="colleagues",
    subject="people",
    path="/BusinessIntelligence/External/Users",
    description="The users once more, under another name.",
    time_parameters=TimeParameters.NONE,
    stored_as=StoredAs.HISTORY,
    month_of_row=MonthOfRow.NONE,
    customer_parameter="customerId",
    tables=(Table(name="colleagues", rows="[]", description="A user.", columns=COLLEAGUE, key=("id",)),),
)


def test_a_report_is_added_by_its_block_alone(tmp_path: Path) -> None:
    world = rehearsal(tmp_path, start=Month(2026, 11), as_of=date(2026, 11, 21))
    world.context = replace(world.context, catalogue={**REPORTS, "colleagues": COLLEAGUES})
    summary = world.sync(Selection(reports=("users", "colleagues")))
    assert summary.is_well
    both = "SELECT count(*), count(DISTINCT id), count(name) FROM bi.{}"
    assert world.rows(both.format("colleagues")) == world.rows(both.format("users"))
    assert world.value("SELECT description FROM meta.columns WHERE table_name = 'colleagues' LIMIT 1")
    assert replay(world.settings, catalogue={**REPORTS, "colleagues": COLLEAGUES}).failures == []
