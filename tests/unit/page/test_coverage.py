"""Does every square say what is held?"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.page.coverage import coverage_view
from pipelines.page.facts import Facts, HeldMonth, Mark, Publication, Standing
from tests.unit.page.given import PUBLISHED, month


def _held(report: str, customer: str, of_month: str, state: str = "held", rows: int = 3) -> HeldMonth:
    return HeldMonth(report, customer, month(of_month), state, rows)


def _squares(held: Sequence[HeldMonth], *marks: Mark) -> list[list[str]]:
    publications = (Publication(None, PUBLISHED, None),)
    view = coverage_view(Facts(publications=publications, held_months=tuple(held), marks=marks))
    assert view is not None
    return [[square.name for square in squares] for _, squares in view.whole.rows]


def test_the_newest_month_comes_first_and_is_open() -> None:
    held = [_held("sales", "M1", "2026-03", "open"), _held("sales", "M1", "2026-02")]
    assert _squares(held) == [["open", "held"]]


def test_a_gap_is_missing() -> None:
    held = [_held("sales", "M1", "2026-03"), _held("sales", "M1", "2026-01")]
    assert _squares(held) == [["held", "missing", "held"]]


def test_the_worst_of_all_reports_counts() -> None:
    held = [_held("sales", "M1", "2026-02"), _held("users", "M1", "2026-02")]
    assert _squares(held, Mark("failed month", "sales", "M1", month("2026-02"))) == [["failed"]]


def test_a_report_that_is_only_kept_for_the_latest_months_is_not_missing_before() -> None:
    held = [_held("sales", "M1", "2026-01"), _held("sales", "M1", "2026-02"), _held("live", "M1", "2026-02")]
    assert _squares(held) == [["held", "held"]]


def test_a_refused_report_says_that_there_is_no_access() -> None:
    held = [_held("sales", "M1", "2026-02")]
    assert _squares(held, Mark("no access", "sales", "M2", None)) == [["held"], ["refused"]]


def test_budgets_of_months_to_come_are_no_coverage() -> None:
    held = [_held("budgets", "M1", "2026-03"), _held("budgets", "M1", "2026-12")]
    assert _squares(held) == [["held"]]


def test_a_single_report_shows_which_months_came_without_a_row() -> None:
    view = coverage_view(Facts(held_months=(_held("sales", "M1", "2026-02", rows=0),)))
    assert view is not None
    assert view.reports[0].rows[0][1][0].name == "empty"


def test_a_customer_that_is_switched_off_misses_nothing() -> None:
    held = (_held("sales", "M1", "2026-03"), _held("sales", "M2", "2026-02"), _held("sales", "M1", "2026-02"))
    off = Standing("sales", "M2", month("2026-02"), PUBLISHED, None, None, "switched off")
    view = coverage_view(Facts(held_months=held, standings=(off,)))
    assert view is not None
    assert [[square.name for square in squares] for _, squares in view.whole.rows] == [
        ["held", "held"],
        ["off", "held"],
    ]
    assert view.whole.told == "nothing is missing"
