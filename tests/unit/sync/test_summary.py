"""The summary of a sync: what it says of customers that are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipelines.connect.errors import HostDown
from pipelines.connect.models import Request
from pipelines.planning.selection import Pair
from pipelines.sync.summary import Summary
from warehouse.window_result import WindowResult, WindowStatus

REFUSED, LOADED, WAITING = WindowStatus.NO_ACCESS, WindowStatus.LOADED, WindowStatus.WAITING


@pytest.mark.parametrize(
    ("results", "shut_out"),
    [
        ([("sales", REFUSED), ("users", REFUSED)], ["M1"]),
        ([("sales", REFUSED), ("sales", REFUSED)], []),
        ([("sales", REFUSED), ("users", LOADED)], []),
        ([("sales", REFUSED), ("users", WAITING)], []),
    ],
    ids=["every report", "the only one that was asked", "one of two", "the other was not asked tonight"],
)
def test_a_customer_is_shut_out_when_all_of_several_reports_are_refused(
    results: list[tuple[str, WindowStatus]], shut_out: list[str]
) -> None:
    summary = Summary("run", datetime(2026, 11, 22, tzinfo=UTC))
    for report, status in results:
        summary.add(WindowResult(report, "M1"), status)
    assert summary.shut_out == shut_out


def test_a_single_refused_report_is_a_complaint_but_says_nothing_of_the_customer() -> None:
    summary = Summary("run", datetime(2026, 11, 22, tzinfo=UTC))
    summary.add(WindowResult("sales", "M1"), REFUSED)
    [said] = summary.complaints()
    assert (summary.is_well, said.partition(":")[0]) == (
        False,
        "M1 was refused sales (403), and nothing else was asked",
    )


@pytest.mark.parametrize("answered", [{("sales", "M1")}, {("users", "M1")}], ids=["lost", "never had"])
def test_a_right_that_is_lost_is_a_complaint_and_one_that_never_was_is_none(answered: set[Pair]) -> None:
    summary = Summary("run", datetime(2026, 11, 22, tzinfo=UTC), answered=answered)
    summary.add(WindowResult("users", "M1"), LOADED)
    summary.add(WindowResult("sales", "M1"), REFUSED)
    begins = "Ask the service's support for the right to sales of M1: it was answered before and is refused"
    is_lost = ("sales", "M1") in answered
    assert [one.startswith(begins) for one in summary.complaints()] == [True] * is_lost
    assert summary.is_well is not is_lost


def test_what_a_refused_login_was_to_read_is_not_promised_of_the_next_sync() -> None:
    summary = Summary("run", datetime(2026, 11, 22, tzinfo=UTC))
    for report in ("sales", "users"):
        summary.add(WindowResult(report, "M1", error="Unauthorized"), WindowStatus.FAILED, "Correct it.")
    [said] = summary.complaints()
    assert said.startswith("Correct it. 2 windows were not read, and no sync asks again until the login is ")


def test_what_made_a_sync_give_up_is_told_once() -> None:
    asked = Request("/x", {}, "sales", "M1")
    stopped = HostDown("It failed.", request=asked)
    summary = Summary("run", datetime(2026, 11, 22, tzinfo=UTC), stopped=stopped)
    for report, error in (("sales", "Unavailable"), ("tips", "HostDown"), ("users", "NotFound")):
        summary.add(WindowResult(report, "M1", error=error), WindowStatus.FAILED, "why")
    assert summary.complaints() == [
        "users of M1 (now) failed: why",
        "It failed. 2 windows were not read; the next sync asks again.",
    ]
