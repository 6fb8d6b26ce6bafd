"""The summary of a sync: its lines about failures and denials."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipelines.connect.errors import HostDown
from pipelines.connect.models import Request
from pipelines.sync.progress import report_cells
from pipelines.sync.summary import Summary
from warehouse.ledger.conditions import ERROR, WARNING, Condition, Kind
from warehouse.ledger.window_result import Failure, WindowResult, WindowStatus

NOW = datetime(2026, 11, 22, tzinfo=UTC)
REFUSED, LOADED = WindowStatus.NO_ACCESS, WindowStatus.LOADED


def condition(kind: str, report: str = "", severity: str = ERROR) -> Condition:
    return Condition(
        Kind(kind), severity, report=report, customer="M1", cause="Forbidden", remedy="Ask for it."
    )


@pytest.mark.parametrize("status", [REFUSED, WindowStatus.SKIPPED])
def test_a_denied_report_that_the_operator_named_is_an_error(status: WindowStatus) -> None:
    summary = Summary("run", NOW, conditions=[condition("no access", "sales", WARNING)], is_explicit=True)
    summary.add(WindowResult("sales", "M1").ended(status, "no access (403 today)"))
    assert (summary.failure_lines(), summary.is_well) == (["sales of M1: Ask for it."], False)


def test_the_table_of_a_sync_names_failed_customers_without_the_reason() -> None:
    ended = [
        *(WindowResult("sales", name).ended(WindowStatus.FAILED, f"Long {name}.") for name in ("M2", "M1")),
        WindowResult("sales", "M4").ended(WindowStatus.SKIPPED, "switched off"),
    ]
    [(*_, remark)] = report_cells(ended)
    assert remark == "2 failed (M1, M2); 1 skipped (M4): switched off"


@pytest.mark.parametrize("status", [REFUSED, WindowStatus.SKIPPED])
@pytest.mark.parametrize(("kind", "severity"), [("access lost", ERROR), ("no access", WARNING)])
def test_lost_access_has_a_line_and_access_never_given_has_none(
    kind: str, severity: str, status: WindowStatus
) -> None:
    summary = Summary("run", NOW, conditions=[condition(kind, "sales", severity)])
    summary.add(WindowResult("users", "M1").ended(LOADED))
    summary.add(WindowResult("sales", "M1").ended(status, "no access (403 today)"))
    is_lost = kind == "access lost"
    assert summary.failure_lines() == ["sales of M1: Ask for it."] * is_lost
    assert summary.is_well is not is_lost


def test_the_error_that_stopped_a_sync_has_one_line_and_so_has_an_error_without_condition() -> None:
    asked = Request("/x", {}, "sales", "M1")
    summary = Summary("run", NOW, stopped=HostDown("It failed.", request=asked))
    down = Failure("HostDown")
    summary.add(WindowResult("sales", "M1").ended(WindowStatus.NOT_REQUESTED, "why", failure=down))
    summary.add(WindowResult("users", "M1").ended(WindowStatus.FAILED, "why", failure=Failure("NotFound")))
    assert summary.failure_lines() == ["users of M1 failed: why", "It failed."]
    summary.conditions = [
        Condition(Kind.FAILED, report="sales", customer="M1", trouble="service", error="It.")
    ]
    assert summary.failure_lines() == ["sales of M1: It.", "users of M1 failed: why"]


def test_a_window_ends_once() -> None:
    ended = WindowResult("sales", "M1").ended(LOADED)
    with pytest.raises(ValueError, match="sales of M1, now, is already loaded"):
        ended.ended(WindowStatus.FAILED, "why")
