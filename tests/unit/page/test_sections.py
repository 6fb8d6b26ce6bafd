"""Sections: like is compared with like only, what is not held is no zero, every square says what is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from pipelines.page.facts import CoveredMonth, Facts, Freshness
from pipelines.page.figures import UNKNOWN, OfficeMonths, Shown, last_months
from pipelines.page.sections import cards, coverage, leaderboards
from tests.unit.page.given import PUBLICATION, PUBLISHED, budgeted, chain, earned, earner, month, page


def _months(*rows: object) -> OfficeMonths:
    return OfficeMonths(Facts(office_months=tuple(rows)))  # type: ignore[arg-type]


def test_an_office_that_was_not_held_a_year_before_is_left_out_of_the_comparison() -> None:
    months = _months(earned("A", "2026-02", 110), earned("A", "2025-02", 100), earned("B", "2026-02", 900))
    found = months.compared(["A", "B"], [month("2026-02")])
    assert found is not None
    assert [(one.commission, one.offices) for one in found] == [(Decimal(110), 1), (Decimal(100), 1)]


def test_an_unknown_month_is_no_zero_and_is_counted() -> None:
    months = _months(earned("A", "2026-02", None), earned("A", "2026-01", 5))
    total = months.total(["A"], last_months(month("2026-02"), 2))
    assert (total.commission, total.known, total.wanted) == (Decimal(5), 1, 2)


def test_what_is_reached_counts_only_the_offices_with_a_budget() -> None:
    facts = Facts(
        office_months=(earned("A", "2026-02", 90), earned("B", "2026-02", 500)),
        budgets=(budgeted("A", "2026-02", 100, 90),),
    )
    reached = OfficeMonths(facts).progress(["A", "B"], [month("2026-02")])
    assert reached is not None
    assert (reached.share, reached.offices) == (Decimal("0.9"), 1)


def test_a_month_that_is_not_over_is_never_compared_with_a_whole_one() -> None:
    running, *others = cards(OfficeMonths(chain("A")))
    assert [figure["on_year_before"] for figure in running["figures"]] == [None, None, None]
    assert [card["title"] for card in others] == ["Last whole month", "Year to date", "Twelve months"]


def test_a_first_night_in_the_middle_of_a_month_has_one_card() -> None:
    months = _months(earned("A", "2026-03", 5, is_open=True))
    assert [card["title"] for card in cards(months)] == ["This month so far"]


def test_a_year_that_was_not_held_is_said_to_be_missing() -> None:
    last = cards(_months(earned("A", "2026-02", 5)))[0]
    assert last["notes"] == ["the year before is not held, so there is nothing to compare with"]


def test_january_is_the_whole_year_to_date() -> None:
    assert cards(_months(earned("A", "2026-01", 5)))[1]["period"] == "January 2026"


def test_a_card_of_which_nothing_is_held_shows_dashes_and_no_zero() -> None:
    shown = cards(_months(earned("A", "2026-02", None)))
    assert {figure["value"] for card in shown for figure in card["figures"]} == {UNKNOWN}


def test_a_card_of_months_without_a_sale_shows_zero() -> None:
    [card, *_] = cards(_months(earned("A", "2026-02", 0, homes=0)))
    assert [figure["value"][:1] for figure in card["figures"]] == ["0", "0", UNKNOWN]


def test_a_leaderboard_names_its_months_and_counts_who_is_not_on_it() -> None:
    earners = [earner("A", period, earner_count=7) for period in ("quarter", "year")]
    boards = leaderboards(Facts(earners=earners))["Agents"]
    assert [(board["title"], board["period"], board["others"]) for board in boards] == [
        ("Year to date", "January to February 2026", 6),
        ("Quarter", "January to February 2026", 6),
    ]


def test_what_to_mind_of_a_budget_stands_beside_every_share_of_it() -> None:
    facts = chain("A")
    note = "commission may have VAT in it"
    noted = replace(facts, budgets=[replace(one, basis_note=note) for one in facts.budgets])
    shares = page(noted).count("of budget, ")
    assert (page(facts).count(note), page(noted).count(note)) == (0, shares + 1)


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
    assert _squares(held, CoveredMonth("sales", "M1", month("2026-02"), "failed month", None)) == [["failed"]]


def test_a_report_that_is_only_kept_for_the_latest_months_is_not_missing_before() -> None:
    held = [_held("sales", "M1", "2026-01"), _held("sales", "M1", "2026-02"), _held("live", "M1", "2026-02")]
    assert _squares(held) == [["held", "held"]]


def test_a_refused_report_says_that_there_is_no_access() -> None:
    held = [_held("sales", "M1", "2026-02")]
    assert _squares(held, CoveredMonth("sales", "M2", None, "no access", None)) == [["held"], ["refused"]]


def test_budgets_of_months_to_come_are_no_coverage() -> None:
    held = [_held("budgets", "M1", "2026-03"), _held("budgets", "M1", "2026-12")]
    assert _squares(held) == [["held"]]


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
