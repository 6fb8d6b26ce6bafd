"""Is an operator told once what failed, why, since when and what to do, and nothing when all is well?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from assets.messages import FailedRun, Owed, message

ENDED = datetime(2026, 11, 21, 4, 12, tzinfo=UTC)
RUN = FailedRun("nightly", "8a1f", "https://ui.test/runs/8a1f", "2 of 60 squares failed, of c03.\nwhy", ENDED)
OWED = Owed("sales", "c03", "2026-10..2026-11", "2026-11-20 04:02 UTC", "the service answered 500")


def test_a_night_that_left_nothing_to_do_is_not_told_of() -> None:
    assert message("2026-11-21", [], [], "") is None


def test_everything_is_in_one_message() -> None:
    found = message("2026-11-21", [RUN], [OWED], "")
    assert found is not None
    assert found.subject == "brokerbi, 2026-11-21: 1 run failed and reports are owed of 1 customer"
    assert found.text.splitlines() == [
        "What failed",
        "- nightly, 2026-11-21 04:12 UTC, https://ui.test/runs/8a1f",
        "    2 of 60 squares failed, of c03.",
        "    why",
        "",
        "What is owed until it is fetched",
        "- sales of c03: 2026-10..2026-11, since 2026-11-20 04:02 UTC: the service answered 500",
        "",
        "What to do",
        "- Open the run, mend what it names, and re-execute it from failure: it asks for the rest only.",
        "- The next night tries everything that is owed again; sooner, launch a backfill of it.",
    ]


def test_equal_reasons_are_told_once_with_all_their_customers() -> None:
    found = message("2026-11-21", [], [OWED, replace(OWED, customer="c07")], "")
    assert found is not None
    assert "- sales of c03, c07: 2026-10..2026-11" in found.text


def test_a_service_that_is_down_does_not_fill_the_message() -> None:
    found = message("2026-11-21", [], [replace(OWED, report=f"report {n}") for n in range(100)], "")
    assert found is not None
    assert len(found.text.splitlines()) < 40
    assert "and 70 more" in found.text


def test_a_night_that_never_came_is_told_of() -> None:
    found = message("2026-11-21", [], [], "there has been no night since 2026-11-19 04:00 UTC")
    assert found is not None
    assert found.subject == "brokerbi, 2026-11-21: there has been no night since 2026-11-19 04:00 UTC"
