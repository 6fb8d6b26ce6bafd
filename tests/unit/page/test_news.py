"""What changed is said in sentences that name sales, offices and budgets, and never more than is known."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from pipelines.page.facts import Facts, Row
from pipelines.page.language import SPACE, language
from pipelines.page.news import news_section
from tests.unit.page.given import news

SINCE = news("since")


def told(*rows: Row, is_chain: bool = True, missing: tuple[str, ...] = ()) -> list[str]:
    facts = Facts(news=rows, missing=missing)
    section = news_section(facts, language("en"), ZoneInfo("Europe/Stockholm"), is_chain=is_chain)
    return [one.replace(SPACE, " ") for one in section["sentences"]]


def test_without_an_earlier_publication_nothing_is_said_to_have_changed() -> None:
    assert told()[0].startswith("There is no earlier publication to compare with yet")
    assert told(missing=("news",)) == ["What has changed since last week is not known for this file."]


def test_a_week_without_a_change_says_so() -> None:
    assert told(SINCE) == [
        "Nothing has changed since 13 March 2026: no new sale, no other amount, no other budget."
    ]


def test_new_sales_are_counted_and_their_offices_named() -> None:
    rows = [news("new", "A", amount=90), news("new", "B", amount=6), news("new", "C", amount=4)]
    assert told(SINCE, *rows) == [
        "3 sales have come in since 13 March 2026, with 100 in commission, most of it at A (90) and B (6).",
        "No sale known before has changed.",
    ]


def test_an_office_is_told_of_homes() -> None:
    [first, _] = told(SINCE, news("new", "A", amount=900), is_chain=False)
    assert first == "One sale has come in since 13 March 2026, with 900 in commission: Main Street 1."


def test_changed_sales_are_named_with_what_they_cost() -> None:
    gone = news("gone", "A", before=60, home=None)
    changed = news("amount", "B", before=100, amount=90)
    assert told(SINCE, gone, changed)[1] == (
        "Of the sales known before, one is no longer listed and one got another commission, together −70: "
        "no. 17, A, February 2026 (−60); Main Street 1, B, February 2026 (−10)."
    )


@pytest.mark.parametrize(
    ("is_chain", "effects"), [(True, ["together −10"]), (False, ["together +90", "together −100"])]
)
def test_a_sale_that_moved_is_one_change_of_the_chain_and_comes_or_goes_at_an_office(
    is_chain: bool, effects: list[str]
) -> None:
    here, away = (news(f"moved {way}", "A", before=100, amount=90) for way in ("here", "away"))
    seen = [(here, away)] if is_chain else [(here,), (away,)]
    sentences = [told(SINCE, *rows, is_chain=is_chain)[1] for rows in seen]
    assert all(effect in one for effect, one in zip(effects, sentences, strict=True))


def test_a_budget_that_changed_is_named_with_its_months() -> None:
    rows = [news("budget", "A", before=100, amount=200), news("budget", "B", before=30, amount=20)]
    assert told(SINCE, *rows)[-1] == (
        "The budget of A for February to April 2026 was raised from SEK 100 to SEK 200; "
        "one more office has another budget."
    )
