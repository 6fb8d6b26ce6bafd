"""The gap to budget adds up to its rows, and what is owed says what it cannot know."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from pipelines.page.facts import Facts, Row
from pipelines.page.figures import OfficeMonths, Shown
from pipelines.page.gap import gap_section, owed_section
from pipelines.page.language import SPACE, language
from tests.unit.page.given import agent, budgeted, due, earned, month, owed

ENGLISH = language("en")


def _gap(facts: Facts, *, is_chain: bool) -> Shown:
    section = gap_section(facts, OfficeMonths(facts), "Hemviken", ENGLISH, is_chain=is_chain)
    assert section is not None
    return {**section, "sentences": [one.replace(SPACE, " ") for one in section["sentences"]]}


def _facts(*reached: int, agents: tuple[Row, ...] = ()) -> Facts:
    offices = [("ABC"[place], amount) for place, amount in enumerate(reached)]
    return Facts(
        office_months=tuple(earned(office, "2026-02", amount) for office, amount in offices),
        budgets=tuple(budgeted(office, "2026-02", 1000, amount) for office, amount in offices),
        agents=agents,
    )


def test_the_offices_that_make_most_of_the_gap_are_named() -> None:
    section = _gap(_facts(990, 400, 1100), is_chain=True)
    assert section["sentences"] == [
        "February 2026: Hemviken is 510 behind its budget of SEK 3,000, at 83%.",
        "Furthest behind: Office B (−600).",
        "Ahead all the same: Office C (+100).",
    ]
    assert [(one["name"], one["gap"]) for one in section["rows"]] == [
        ("Office B", -600),
        ("Office A", -10),
        ("Office C", 100),
    ]


def test_the_agents_of_an_office_and_the_rest_add_up_to_its_gap() -> None:
    agents = (agent("A", "Ann", 300, budget=700), agent("A", "Bo", 50))
    section = _gap(_facts(400, agents=agents), is_chain=False)
    found = [(one["name"], one["gap"]) for one in section["rows"]]
    assert found == [("Ann", -400), ("not in an agent's own budget", -200)]


def test_an_agent_who_left_is_marked_with_the_last_month_and_the_budget_explained() -> None:
    left = agent("A", "Ann", 300, budget=700, last_seen=month("2026-01"))
    section = _gap(_facts(400, agents=(left,)), is_chain=False)
    assert section["rows"][0]["note"] == "last seen January 2026"
    assert section["notes"][0].startswith("The budget of an agent who has left, or was last seen earlier,")


def test_who_came_after_the_months_is_marked_new_and_not_named_as_behind() -> None:
    agents = (
        agent("A", "Erik", 0, budget=700, new_since=month("2026-03")),
        agent("A", "Ann", 300, budget=400),
        agent("A", "Bo", 800, budget=300),
    )
    section = _gap(_facts(1100, agents=agents), is_chain=False)
    assert section["sentences"][-1] == "Behind all the same: Ann (−100)."
    assert [(one["name"], one["note"]) for one in section["rows"] if not one["is_rest"]][-1] == (
        "Erik",
        "new since March 2026",
    )


def test_a_sole_agent_is_the_whole_gap() -> None:
    section = _gap(_facts(400, agents=(agent("A", "Ann", 400, budget=1000),)), is_chain=False)
    assert [(one["name"], one["gap"]) for one in section["rows"]] == [("Ann", -600)]
    assert len(section["sentences"]) == 1


def test_a_gap_of_less_than_one_is_none() -> None:
    facts = _facts(1000, 1000)
    near = replace(facts, budgets=[replace(one, actual=Decimal("999.9")) for one in facts.budgets])
    assert _gap(near, is_chain=True)["sentences"] == [
        "February 2026: Hemviken is exactly at its budget of SEK 2,000."
    ]


def test_without_budgets_there_is_no_gap() -> None:
    section = _gap(Facts(office_months=(earned("A", "2026-02", 5),)), is_chain=True)
    assert (section["rows"], section["sentences"][0][:20]) == ([], "No budget of commiss")


def test_a_month_that_is_not_over_has_no_gap() -> None:
    months = OfficeMonths(Facts(office_months=(earned("A", "2026-02", 5, is_open=True),)))
    assert gap_section(Facts(), months, "A", ENGLISH, is_chain=True) is None


def _owed(*rows: Row) -> list[str]:
    return list(owed_section(Facts(receivables=rows), ENGLISH, is_chain=True)["sentences"])


def test_what_is_signed_and_what_of_it_is_due_are_summed() -> None:
    [total, longest] = _owed(owed("A"), owed("B", 100, 0))
    assert total == (
        "4 sales are signed and their commission, 400, not received yet; "
        "of it 200 of one sale is due, as possession was on 20 March 2026 or before."
    )
    assert longest == "The longest has been due for 9 days."


def test_a_sale_that_is_due_since_today_has_no_length() -> None:
    assert len(_owed({**owed("A"), "longest_days_due": 0})) == 1


def test_an_office_that_notes_no_receipt_owes_nothing_that_anybody_knows() -> None:
    assert _owed(owed("A", is_noted=False))[0].startswith("No receipt has ever been noted here")
    assert _owed(owed("A"), owed("B", is_noted=False))[-1] == ("B has never noted a receipt and is left out.")


def test_a_due_sale_whose_receipt_is_noted_for_a_day_to_come_says_so() -> None:
    sale = {**due("A"), "to_be_received_on": date(2026, 3, 21)}
    shown = owed_section(Facts(receivables=[owed("A")], due_sales=[sale, due("A")]), ENGLISH, is_chain=False)
    assert [one["note"] for one in shown["sales"]] == ["receipt noted for 21 March 2026", ""]


def test_an_office_with_everything_received_says_so() -> None:
    assert _owed(owed("A", 0, 0)) == ["Everything signed has been received."]


def test_amounts_of_offices_are_numbers_in_the_download() -> None:
    section = _gap(_facts(400), is_chain=True)
    assert "Office%20A%2C-600%2C400%2C1000%2C0.4" in section["download"]["href"]
    assert section["rows"][0]["share"] == Decimal("0.4")


def test_a_gap_says_what_it_is_if_vat_is_in_the_commission() -> None:
    facts = _facts(1210)
    noted = replace(facts, budgets=[replace(one, vat="unknown") for one in facts.budgets])
    assert _gap(noted, is_chain=True)["sentences"][1] == (
        "If 25% VAT is in the commission, which the settings do not say, it is at 97% (−32)."
    )
