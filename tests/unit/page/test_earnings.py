"""Earnings: like is compared with like only, and what is not held is no zero."""

from __future__ import annotations

from decimal import Decimal

from pipelines.page.facts import Facts
from pipelines.page.figures import UNKNOWN, OfficeMonths, last_months
from pipelines.page.sections import cards, leaderboards
from tests.unit.page.given import budgeted, chain, earned, earner, month


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
