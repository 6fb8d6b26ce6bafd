"""What changed is said in sentences that name sales, offices and budgets, and never more than is known."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from pipelines.page.facts import Facts, Row
from pipelines.page.figures import Shown
from pipelines.page.language import SPACE, language
from pipelines.page.news import news_section
from tests.unit.page.given import agent, news

SINCE = news("since")


def section(*rows: Row, is_chain: bool = True, missing: tuple[str, ...] = ()) -> Shown:
    facts = Facts(news=rows, missing=missing)
    shown = news_section(facts, language("en"), ZoneInfo("Europe/Stockholm"), is_chain=is_chain)
    return {
        **shown,
        **{key: [one.replace(SPACE, " ") for one in shown[key]] for key in ("sentences", "more")},
    }


def told(*rows: Row, is_chain: bool = True, missing: tuple[str, ...] = ()) -> list[str]:
    return list(section(*rows, is_chain=is_chain, missing=missing)["sentences"])


def test_without_an_earlier_publication_nothing_is_said_to_have_changed() -> None:
    assert told()[0].startswith("There is no earlier publication to compare with yet")
    assert told(missing=("news",)) == ["What has changed since last week is not known for this file."]


def test_a_week_without_a_change_says_so() -> None:
    assert told(SINCE) == [
        "Nothing has changed since 13 March 2026: no new sale, no other amount, no other budget."
    ]


def test_new_sales_are_counted_and_their_offices_named() -> None:
    amounts = {"A": 90, "B": 6, "C": 4}
    rows = [news(kind, one, amount=amounts[one]) for one in amounts for kind in ("new", "new share")]
    assert told(SINCE, *rows) == [
        "3 sales have come in since 13 March 2026, with 100 in commission, most of it at A (90) and B (6).",
        "No commission of a sale known before has changed.",
    ]


def test_a_new_sale_counts_at_the_offices_of_its_agents_and_is_whole_in_the_table_of_the_chain() -> None:
    shares = [
        news("new share", "A", amount=40, is_part=True),
        news("new share", "B", amount=60, is_part=True),
    ]
    rows = [SINCE, news("new", "A", amount=100), *shares]
    whole, part = section(*rows), section(SINCE, shares[0], is_chain=False)
    assert whole["sentences"][0].endswith(
        "One sale has come in since 13 March 2026, with 100 in commission, most of it at B (60) and A (40)."
    )
    assert [(one["what"], one["effect"]) for one in whole["sales"]] == [("new", 100)]
    assert [(one["what"], one["effect"]) for one in part["sales"]] == [("new, the office's share", 40)]


def test_an_office_is_told_of_homes() -> None:
    [first, _] = told(SINCE, news("new share", "A", amount=900), is_chain=False)
    assert first == "One sale has come in since 13 March 2026, with 900 in commission: Main Street 1."


def test_changed_sales_are_named_with_what_they_cost() -> None:
    gone = news("gone", "A", before=60, home=None)
    changed = [news("amount", "B", before=100, amount=amount) for amount in (90, 95)]
    assert told(SINCE, gone, *changed)[1] == (
        "Of the sales known before, one is no longer listed and 2 got another commission, together −75: "
        "no. 17, A, February 2026 (−60); Main Street 1, B, February 2026 (−10); one more sale (−5)."
    )


def test_the_table_has_number_and_contract_day_of_a_home_that_is_listed_no_more() -> None:
    [sale] = section(SINCE, news("gone", "A", before=60, contract_on=date(2026, 2, 3)))["sales"]
    assert sale["sale"].replace(SPACE, " ") == "Main Street 1 (no. 17, contract 3 February 2026)"


def test_a_sale_that_moved_says_from_which_month() -> None:
    moved = news("moved", "A", before=60, amount=60, other_month=date(2026, 3, 1))
    assert told(SINCE, moved)[1].endswith(": Main Street 1, A, February 2026, from March 2026 (0).")


@pytest.mark.parametrize(("is_chain", "effects"), [(True, ["(−10)"]), (False, ["(+90)", "(−100)"])])
def test_a_sale_that_moved_is_one_change_of_the_chain_and_comes_or_goes_at_an_office(
    is_chain: bool, effects: list[str]
) -> None:
    here, away = (news(f"moved {way}", "A", before=100, amount=90) for way in ("here", "away"))
    seen = [(here, away)] if is_chain else [(here,), (away,)]
    sentences = [told(SINCE, *rows, is_chain=is_chain)[1] for rows in seen]
    assert all(effect in one for effect, one in zip(effects, sentences, strict=True))


def test_a_lowered_budget_says_whose_and_the_sum_of_the_office() -> None:
    whole: Shown = {"until": date(2026, 2, 1), "office_before": Decimal(557), "office_after": Decimal(450)}
    rows = [
        news("budget", "A", before=97, agent="Axel", **whole),
        news("budget", "A", before=20, amount=10, agent="Bo", **whole),
    ]
    assert told(SINCE, *rows)[-1] == (
        "The budget of A for February 2026 was lowered from SEK 557 to SEK 450: "
        "Axel (−97, withdrawn) and Bo (−10)."
    )


def test_a_budget_that_was_withdrawn_from_who_has_left_says_so() -> None:
    facts = Facts(
        news=[SINCE, news("budget", "A", before=97)], agents=[agent("A", "An Agent", 5, has_left=True)]
    )
    shown = news_section(facts, language("en"), ZoneInfo("Europe/Stockholm"), is_chain=True)
    assert shown["sentences"][-1].endswith(": An Agent (\N{MINUS SIGN}97, withdrawn, has left).")


def test_budgets_of_a_year_to_come_say_how_many_have_one_in_the_months_that_are_read() -> None:
    year: Shown = {"month": date(2027, 1, 1), "until": date(2027, 11, 1)}
    counts: Shown = {**year, "agent_count": 1, "agent_count_before": 6}
    rows = [news("entered", "A", amount=200, **year)]
    rows += [news("budgeted", office, amount=200, before=900, **counts) for office in "AB"]
    assert told(SINCE, *rows)[-1] == (
        "First budgets of A for January to November 2027 were entered, SEK 200 in all: An Agent (SEK 200). "
        "So far 2 agents have a budget for January to November 2027 (SEK 400); "
        "for the same months of 2026, 12 had one (SEK 1,800)."
    )


def test_other_offices_whose_budgets_changed_are_named_and_told_of_behind_the_click() -> None:
    shown = section(SINCE, *(news("budget", office, before=100, amount=200) for office in "ABCDEF"))
    assert shown["sentences"][-1].endswith(
        "Also changed: B (+100), C (+100), D (+100) and 2 more offices (+200)."
    )
    assert [one[:16] for one in shown["more"]] == [f"The budget of {one} " for one in "BCDEF"]


def test_budgets_entered_for_more_agents_are_no_raised_budget() -> None:
    whole: Shown = {"office_before": Decimal(100), "office_after": Decimal(300), "of_month": "2026-03"}
    assert told(SINCE, news("entered", "A", amount=200, **whole))[-1] == (
        "Budgets of more agents of A for March to April 2026 were entered: An Agent (SEK 200); "
        "the office now has SEK 300, before SEK 100."
    )


def test_entered_budgets_of_many_offices_are_summed_up() -> None:
    rows = [news("entered", office, amount=200, of_month="2026-03") for office in "ABCDE"]
    shown = section(SINCE, *rows)
    assert shown["sentences"][-1] == (
        "Budgets for March to April 2026 were entered, SEK 1,000 in all: A (one agent, SEK 200), "
        "B (one agent, SEK 200), C (one agent, SEK 200) and 2 more offices (SEK 400)."
    )
    assert len(shown["more"]) == 5


def test_what_is_said_of_the_other_agents_adds_up_to_the_budgets_of_the_office() -> None:
    whole: Shown = {"office_before": Decimal(100), "office_after": Decimal(703)}
    [entered] = told(SINCE, *(news("entered", "A", amount=100.5, **whole) for _ in range(6)))[1:]
    [changed] = told(SINCE, *(news("budget", "A", before=0, amount=100.5, **whole) for _ in range(6)))[1:]
    assert "and 3 more agents (SEK 300); the office now has SEK 703, before SEK 100." in entered
    assert changed.endswith(
        "SEK 100 to SEK 703: " + ", ".join(3 * ["An Agent (+101)"]) + " and 3 more agents (+300)."
    )


def test_what_is_said_of_the_other_offices_adds_up_to_the_budgets_entered() -> None:
    [_, entered] = told(SINCE, *(news("entered", office, amount=100.5) for office in "ABCDEF"))
    assert "SEK 603 in all: A (one agent, SEK 101)" in entered
    assert entered.endswith("and 3 more offices (SEK 300).")


def test_a_single_office_more_is_named_and_not_counted() -> None:
    [_, entered] = told(SINCE, *(news("entered", office, amount=100) for office in "ABCD"))
    assert entered.endswith(", C (one agent, SEK 100) and D (one agent, SEK 100).")
    changed = told(SINCE, *(news("budget", office, before=100, amount=200) for office in "ABCDE"))[-1]
    assert changed.endswith("Also changed: B (+100), C (+100), D (+100) and E (+100).")


def test_closed_months_behind_the_click_add_up_to_the_sum_of_all() -> None:
    shown = section(SINCE, *(news("closed", "A", before=0, amount=100.5) for _ in range(13)))
    assert "Closed months changed by +1,307 in all" in shown["sentences"][1]
    assert shown["more"][-1] == "One more closed month changed, by +95."


def test_budgets_of_two_years_count_their_office_and_agent_once() -> None:
    rows = [news("entered", office, amount=200) for office in "AB"]
    next_year: Shown = {"month": date(2027, 1, 1), "until": date(2027, 3, 1)}
    assert told(SINCE, *rows, news("entered", "B", amount=300, **next_year))[-1] == (
        "Budgets for February 2026 to March 2027 were entered, SEK 700 in all: "
        "B (one agent, SEK 500) and A (one agent, SEK 200)."
    )


def test_a_whole_year_of_budgets_is_called_by_its_number() -> None:
    whole: Shown = {"month": date(2027, 1, 1), "until": date(2027, 12, 1)}
    [_, sentence] = told(SINCE, news("entered", "A", amount=200, **whole), is_chain=False)
    assert sentence == "First budgets for 2027 were entered, SEK 200 in all: An Agent (SEK 200)."


def test_what_closed_months_lost_is_said_in_sum_and_for_the_largest() -> None:
    closed = [news("closed", office, before=100, amount=60) for office in "ABCD"]
    reasons = [news("reason", office, amount=-40, home=None) for office in "ABCD"]
    assert told(SINCE, *closed, *reasons) == [
        "No sale has come in since 13 March 2026.",
        (
            "Closed months changed by −160 in all: February of A −40 (no. 17), "
            "February of B −40 (no. 17), February of C −40 (no. 17) and one more (−40)."
        ),
    ]


def test_a_sale_that_is_the_reason_of_a_closed_month_is_told_once() -> None:
    month = [news("closed", "A", before=100, amount=60), news("reason", "A", amount=-40)]
    again, other = (news("gone", "A", before=40, home_number=number) for number in ("17", "18"))
    assert told(SINCE, *month, again)[1:] == ["A closed month changed: February of A −40 (Main Street 1)."]
    assert told(SINCE, *month, again, other)[2] == (
        "Of the other sales known before, one is no longer listed: Main Street 1, A, February 2026 (−40)."
    )


def test_a_new_sale_that_is_the_reason_of_a_closed_month_is_told_as_the_same() -> None:
    month = [news("closed", "A", before=60, amount=100), news("reason", "A", amount=40)]
    found = told(SINCE, *month, news("new share", "A", amount=40, is_part=True), is_chain=False)
    assert found[1] == "A closed month changed: February +40 (Main Street 1, counted as new above)."


def test_an_office_is_told_that_a_changed_amount_is_that_of_a_sale_it_shared() -> None:
    changed = news("amount", "A", before=100, amount=90, is_part=True)
    for is_chain, what in ((True, "other amount"), (False, "other amount, the whole sale")):
        [sale] = section(SINCE, changed, is_chain=is_chain)["sales"]
        assert sale["what"] == what


def test_the_sales_that_explain_a_closed_month_add_up_with_what_none_explains() -> None:
    closed = news("closed", "A", before=100, amount=60, unexplained=-15)
    moved: Shown = {"kind_of_change": "moved here", "other_month": date(2026, 3, 1), "home": "New Street 2"}
    reasons = [
        news("reason", "A", amount=-40),
        news("reason", "A", amount=10, **moved),
        news("reason", "A", amount=3, kind_of_change="appeared", is_part=True),
        news("reason", "A", amount=1),
        news("reason", "A", amount=1),
    ]
    shown = section(SINCE, closed, *reasons, is_chain=False)
    assert shown["sentences"][1] == (
        "A closed month changed: February −40 "
        "(Main Street 1 −40, New Street 2 +10, 3 more sales (+5), −15 from no changed sale)."
    )
    assert shown["more"] == [
        (
            "February: −40, from 100 to 60; Main Street 1 is no longer listed (−40, noted on 11 March 2026); "
            "New Street 2 moved here from March 2026 (+10, noted on 11 March 2026); "
            "Main Street 1 came in late (+3, the office's share, noted on 11 March 2026); "
            "2 more sales (+2); −15 comes from no changed sale: it is of writings or valuations, "
            "a correction by hand, or another share in a sale."
        )
    ]


def test_what_no_sale_explains_is_said() -> None:
    row = news("closed", "A", before=100, amount=60, unexplained=-40)
    [_, closed, unexplained] = told(SINCE, row)
    assert closed == "A closed month changed: February of A −40."
    assert unexplained.startswith("Of that, −40 comes from no changed sale")


@pytest.mark.parametrize(
    ("agents_change", "cause"),
    [
        (None, "of writings or valuations, a correction by hand, or another share in a sale."),
        (-40, "another share of an agent in a sale, also in one that is no longer listed."),
        (0, "in no agent's commission, as a correction by hand is."),
        (-30, "another share of an agent in a sale, or in no agent's commission."),
    ],
)
def test_only_what_the_totals_of_agents_leave_possible_is_named(
    agents_change: int | None, cause: str
) -> None:
    row = news("closed", "A", before=100, amount=60, unexplained=-40, agents_change=agents_change)
    assert told(SINCE, row)[2] == f"Of that, −40 comes from no changed sale: it is {cause}"


@pytest.mark.parametrize(
    ("counts", "what"),
    [
        ((0, -1), "one valuation fewer"),
        ((Decimal("1.5"), -2), "1.5 writings more and 2 valuations fewer"),
        ((0, 0), "as many writings and valuations, at another amount"),
        ((None, None), "writings or valuations, or a correction by hand"),
    ],
)
def test_other_work_that_explains_a_closed_month_is_told_with_its_agent(
    counts: tuple[int | None, int | None], what: str
) -> None:
    work = news("work", "A", amount=-40, agent="Ann", writings=counts[0], valuations=counts[1])
    shown = section(SINCE, news("closed", "A", before=100, amount=60, unexplained=-40), work)
    assert shown["sentences"][1:] == [f"A closed month changed: February of A −40 (Ann, {what})."]
    assert shown["more"] == [
        f"February of A: −40, from 100 to 60; Ann: {what} (−40, noted on 11 March 2026)."
    ]


def test_sales_other_work_and_what_neither_explains_add_up() -> None:
    closed = news("closed", "A", before=100, amount=60, unexplained=-30, agents_change=-40)
    work = news("work", "A", amount=-20, agent="Ann", writings=0, valuations=-1)
    shown = section(SINCE, closed, news("reason", "A", amount=-10), work)
    assert "−40 (Main Street 1 −10, Ann −20, −10 from something else)" in shown["sentences"][1]
    assert "; −10 comes from something else: it is another share of an agent" in shown["more"][-1]


def test_less_than_one_percent_of_a_closed_month_waits_behind_the_click() -> None:
    rows = [news("closed", office, before=1000, amount=991, unexplained=-9) for office in "AB"]
    shown = section(SINCE, *rows)
    assert shown["sentences"] == [
        "No sale has come in since 13 March 2026.",
        "No commission of a sale known before has changed.",
    ]
    assert [one.partition(":")[0] for one in shown["more"]] == [
        *("Closed months changed by −18 in all", "February of A", "February of B")
    ]


def test_an_office_is_told_openly_of_less() -> None:
    row = news("closed", "A", before=10_000, amount=9_950, unexplained=-50)
    assert "A closed month changed" not in told(SINCE, row)[1]
    assert told(SINCE, row, is_chain=False)[1].startswith("A closed month changed: February −50")


def test_prices_that_changed_alone_are_named_in_half_a_sentence() -> None:
    rows = [news("price", "A", before=50, amount=amount) for amount in (70, 40)]
    assert told(SINCE, *rows)[1] == (
        "No commission of a sale known before has changed; "
        "the prices of 2 did: Main Street 1 (+20) and Main Street 1 (−10)."
    )


def test_three_sentences_are_shown_and_the_others_folded() -> None:
    rows = [news(kind, "A", before=100, amount=60) for kind in ("closed", "budget", "entered", "amount")]
    shown = section(SINCE, *rows)
    assert [len(shown[one]) for one in ("sentences", "more")] == [3, 3]


def test_one_changed_sale_is_not_called_several_together() -> None:
    assert told(SINCE, news("amount", "A", before=100, amount=60))[1] == (
        "Of the sales known before, one got another commission: Main Street 1, A, February 2026 (−40)."
    )


def test_agents_among_the_best_of_their_office_who_left_are_told_openly() -> None:
    gone = news("left", "A", amount=900, agent="Ann", month=date(2026, 1, 1), until=date(2026, 2, 1))
    shown = section(SINCE, news("new", "A", amount=5), news("closed", "A", before=9, amount=5), gone)
    assert shown["sentences"][1] == (
        "An agent who is among the three that earned most at the office in January to February 2026 "
        "has left: Ann, A (900)."
    )
    assert told(SINCE, gone, {**gone, "agent": "Bo"}, is_chain=False)[1].endswith(
        "have left: Ann (900); Bo (900)."
    )
