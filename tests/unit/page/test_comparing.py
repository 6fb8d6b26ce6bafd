"""Is like compared with like only?"""

from __future__ import annotations

from decimal import Decimal

from pipelines.page.comparing import COMMISSION, Months, span
from pipelines.page.facts import Facts
from pipelines.page.headline import cards
from pipelines.page.numbers import UNKNOWN
from tests.unit.page.given import budgeted, chain, earned, month


def _months(*rows: object) -> Months:
    return Months(Facts(office_months=tuple(rows)))  # type: ignore[arg-type]


def test_an_office_that_was_not_held_a_year_before_is_left_out_of_the_comparison() -> None:
    months = _months(earned("A", "2026-02", 110), earned("A", "2025-02", 100), earned("B", "2026-02", 900))
    found = months.compared(["A", "B"], [month("2026-02")])
    assert found is not None
    assert (found.now.commission, found.before.commission, found.offices) == (Decimal(110), Decimal(100), 1)


def test_an_unknown_month_is_no_zero_and_is_counted() -> None:
    total = _months(earned("A", "2026-02", None), earned("A", "2026-01", 5)).sum(
        ["A"], span(month("2026-02"), 2)
    )
    assert (total.commission, total.known, total.wanted) == (Decimal(5), 1, 2)


def test_what_is_reached_counts_only_the_offices_with_a_budget() -> None:
    facts = Facts(
        office_months=(earned("A", "2026-02", 90), earned("B", "2026-02", 500)),
        budgets=(budgeted("A", "2026-02", 100, 90),),
    )
    reached = Months(facts).attained(["A", "B"], [month("2026-02")], COMMISSION)
    assert reached is not None
    assert (reached.share, reached.offices) == (Decimal("0.9"), 1)


def test_a_month_that_is_not_over_is_never_compared_with_a_whole_one() -> None:
    running, *others = cards(Months(chain("A")))
    assert [figure.trend for figure in running.figures] == [None, None, None]
    assert [card.title for card in others] == ["Last whole month", "Year to date", "Twelve months"]


def test_a_first_night_in_the_middle_of_a_month_has_one_card() -> None:
    months = _months(earned("A", "2026-03", 5, is_open=True))
    assert [card.title for card in cards(months)] == ["This month so far"]


def test_a_year_that_was_not_held_is_said_to_be_missing() -> None:
    last = cards(_months(earned("A", "2026-02", 5)))[0]
    assert last.notes == ("the year before is not held, so there is nothing to compare with",)


def test_january_is_the_whole_year_to_date() -> None:
    assert cards(_months(earned("A", "2026-01", 5)))[1].period == "January 2026"


def test_a_card_of_which_nothing_is_held_shows_dashes_and_no_zero() -> None:
    shown = cards(_months(earned("A", "2026-02", None)))
    assert {figure.value for card in shown for figure in card.figures} == {UNKNOWN}


def test_a_card_of_months_without_a_sale_shows_zero() -> None:
    [card, *_] = cards(_months(earned("A", "2026-02", 0, homes=0)))
    assert [figure.value[:1] for figure in card.figures] == ["0", "0", UNKNOWN]
