"""The operators' page: every square says what is held, and nothing that is well is called wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pipelines.page.facts import CoveredMonth, Facts, Freshness
from pipelines.page.figures import Shown
from pipelines.page.operators import coverage
from tests.unit.page.given import PUBLICATION, PUBLISHED, month


def _held(report: str, customer: str, of_month: str, state: str = "held", rows: int = 3) -> CoveredMonth:
    return CoveredMonth(report, customer, month(of_month), state, rows)


def _squares(held: Sequence[CoveredMonth], *marks: CoveredMonth) -> list[list[str]]:
    shown = coverage(Facts(publications=(PUBLICATION,), held_months=tuple(held), marks=marks))
    assert shown is not None
    return _states(shown["whole"])


def _states(matrix: Shown) -> list[list[str]]:
    return [[run["state"] for run in runs for _ in range(run["squares"])] for runs in matrix["rows"].values()]


def test_the_newest_month_comes_first_and_is_open() -> None:
    held = [_held("sales", "M1", "2026-03", "open"), _held("sales", "M1", "2026-02")]
    assert _squares(held) == [["open", "held"]]


def test_a_gap_is_missing() -> None:
    held = [_held("sales", "M1", "2026-03"), _held("sales", "M1", "2026-01")]
    assert _squares(held) == [["held", "missing", "held"]]


def test_the_worst_of_all_reports_counts() -> None:
    held = [_held("sales", "M1", "2026-02"), _held("users", "M1", "2026-02")]
    assert _squares(held, CoveredMonth("sales", "M1", month("2026-02"), "failed", None)) == [["failed"]]


def test_a_report_that_is_only_kept_for_the_latest_months_is_not_missing_before() -> None:
    held = [_held("sales", "M1", "2026-01"), _held("sales", "M1", "2026-02"), _held("live", "M1", "2026-02")]
    assert _squares(held) == [["held", "held"]]


def test_a_refused_report_says_that_there_is_no_access() -> None:
    held = [_held("sales", "M1", "2026-02")]
    assert _squares(held, CoveredMonth("sales", "M2", None, "no access", None)) == [["held"], ["refused"]]


def test_budgets_of_months_to_come_are_no_coverage() -> None:
    held = [_held("budgets", "M1", "2026-03"), _held("budgets", "M1", "2026-12")]
    assert _squares(held) == [["held"]]


def test_months_that_were_asked_since_the_publication_are_coverage() -> None:
    held = (_held("sales", "M1", "2026-03"), _held("users", "M1", "2026-04"))
    asked = ({"day": date(2026, 4, 2)},)
    shown = coverage(Facts(publications=(PUBLICATION,), held_months=held, requests=asked))
    assert shown is not None
    assert _states(shown["whole"]) == [["missing", "held"]]


def test_a_single_report_shows_which_months_came_without_a_row() -> None:
    shown = coverage(Facts(held_months=(_held("sales", "M1", "2026-02", rows=0),)))
    assert shown is not None
    assert _states(shown["reports"][0]) == [["empty"]]


def test_a_customer_that_is_switched_off_misses_nothing() -> None:
    held = (_held("sales", "M1", "2026-03"), _held("sales", "M2", "2026-02"), _held("sales", "M1", "2026-02"))
    off = Freshness("sales", "M2", month("2026-02"), PUBLISHED, None, "switched off", False, False)
    shown = coverage(Facts(held_months=held, standings=(off,)))
    assert shown is not None
    assert _states(shown["whole"]) == [["held", "held"], ["off", "held"]]
    assert shown["whole"]["summary"] == "nothing is missing"
