"""The summary of a sync: what it says of customers that are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipelines.connect.errors import HostDown
from pipelines.connect.models import Request
from pipelines.sync.summary import Summary
from warehouse.ledger.conditions import Condition
from warehouse.ledger.window_result import WindowResult, WindowStatus

NOW = datetime(2026, 11, 22, tzinfo=UTC)
REFUSED, LOADED = WindowStatus.NO_ACCESS, WindowStatus.LOADED


def condition(kind: str, report: str = "") -> Condition:
    return Condition(kind, report=report, customer="M1", cause="Forbidden", remedy="Ask for it.")


def test_a_customer_that_is_shut_out_is_told_once() -> None:
    summary = Summary("run", NOW, conditions=[condition("shut out")])
    for report in ("sales", "users"):
        summary.add(WindowResult(report, "M1").ended(REFUSED))
    assert (summary.complaints(), summary.is_well) == (["Ask for it. (M1)"], False)


def test_a_single_refused_report_is_a_complaint_but_says_nothing_of_the_customer() -> None:
    summary = Summary("run", NOW)
    summary.add(WindowResult("sales", "M1").ended(REFUSED))
    [said] = summary.complaints()
    assert (summary.is_well, said.partition(":")[0]) == (
        False,
        "M1 was refused sales (403), and nothing else was asked",
    )


@pytest.mark.parametrize("kind", ["right lost", "no right"])
def test_a_right_that_is_lost_is_a_complaint_and_one_that_never_was_is_none(kind: str) -> None:
    summary = Summary("run", NOW, conditions=[condition(kind, "sales")])
    summary.add(WindowResult("users", "M1").ended(LOADED))
    summary.add(WindowResult("sales", "M1").ended(REFUSED))
    is_lost = kind == "right lost"
    assert summary.complaints() == ["Ask for it. (sales of M1)"] * is_lost
    assert summary.is_well is not is_lost


def test_what_a_refused_login_was_to_read_is_not_promised_of_the_next_sync() -> None:
    summary = Summary("run", NOW)
    for report in ("sales", "users"):
        summary.add(
            WindowResult(report, "M1", error="Unauthorized").ended(WindowStatus.FAILED, "Correct it.")
        )
    [said] = summary.complaints()
    assert said.startswith("Correct it. 2 windows were not read, and no sync asks again until the login is ")


def test_what_made_a_sync_give_up_is_told_once() -> None:
    asked = Request("/x", {}, "sales", "M1")
    stopped = HostDown("It failed.", request=asked)
    summary = Summary("run", NOW, stopped=stopped)
    for report, error in (("sales", "Unavailable"), ("tips", "HostDown"), ("users", "NotFound")):
        summary.add(WindowResult(report, "M1", error=error).ended(WindowStatus.FAILED, "why"))
    assert summary.complaints() == [
        "users of M1 (now) failed: why",
        "It failed. 2 windows were not read; the next sync asks again.",
    ]
