"""Sections on earnings: like is compared with like only, and what is not held is no zero."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from decimal import Decimal
from urllib.parse import unquote

import pytest

from pipelines.page.facts import Facts, OfficeEarnings, Row
from pipelines.page.figures import OfficeMonths, Shown, last_months
from pipelines.page.language import SPACE, UNKNOWN, Language, language
from pipelines.page.sections import (
    agents_section,
    cards,
    leaderboards,
    leads_section,
    months_section,
    offices_section,
)
from tests.unit.page.given import agent, budgeted, chain, earned, earner, month, page

ENGLISH, SWEDISH = language("en"), language("sv")


def _months(*rows: object) -> OfficeMonths:
    return OfficeMonths(Facts(office_months=tuple(rows)))  # type: ignore[arg-type]


def _cards(months: OfficeMonths) -> list[Shown]:
    return cards(months, ENGLISH)


def test_an_office_that_was_not_held_a_year_before_is_left_out_of_the_comparison() -> None:
    months = _months(earned("A", "2026-02", 110), earned("A", "2025-02", 100), earned("B", "2026-02", 900))
    found = months.compared(["A", "B"], [month("2026-02")])
    assert found is not None
    assert [(one.commission, one.offices) for one in found] == [(Decimal(110), 1), (Decimal(100), 1)]


def test_an_unknown_month_is_no_zero_and_is_counted() -> None:
    months = _months(earned("A", "2026-02", None), earned("A", "2026-01", 5))
    total = months.total(["A"], last_months(month("2026-02"), 2))
    assert (total.commission, total.known, total.wanted) == (Decimal(5), 1, 2)


def test_a_month_cut_short_is_in_the_sum_as_in_the_chain_s_mart_and_is_named() -> None:
    months = _months(earned("A", "2026-02", 7), earned("B", "2026-02", 5, is_whole=False))
    [card, *_] = _cards(months)
    assert card["figures"][0]["value"] == "12"
    assert card["notes"][0] == "Office B was read only to 20 March 2026; what came after is missing"


def test_a_month_cut_short_is_compared_with_nothing() -> None:
    months = _months(earned("A", "2026-02", 7, is_whole=False), earned("A", "2025-02", 5))
    assert months.compared(["A"], [month("2026-02")]) is None
    section = months_section(months, "A", ENGLISH)
    assert section is not None
    assert [(one.before, one.is_part) for one in [section["rows"][0][0]["month"]]] == [(None, True)]


def test_an_office_that_is_not_expected_in_a_month_is_not_missing_there() -> None:
    months = _months(earned("A", "2026-02", 7), earned("B", "2026-01", 5), earned("A", "2026-01", 3))
    total = months.total(["A", "B"], [month("2026-02")])
    assert (total.known, total.wanted) == (1, 1)


def test_commission_per_active_agent_is_a_sum_by_a_sum() -> None:
    months = _months(earned("A", "2026-01", 90, agents=1), earned("A", "2026-02", 90, agents=5))
    assert months.total(["A"], last_months(month("2026-02"), 2)).per_agent == 30


def test_what_is_reached_counts_only_the_offices_with_a_budget() -> None:
    facts = Facts(
        office_months=(earned("A", "2026-02", 90), earned("B", "2026-02", 500)),
        budgets=(budgeted("A", "2026-02", 100, 90),),
    )
    reached = OfficeMonths(facts).progress(["A", "B"], [month("2026-02")])
    assert reached is not None
    assert (reached.share, reached.offices) == (Decimal("0.9"), 1)


def test_a_month_that_is_not_over_is_compared_with_no_year_before_and_no_budget() -> None:
    running, *others = _cards(OfficeMonths(chain("A")))
    assert {figure["on_year_before"] for figure in running["figures"]} == {None}
    assert (running["title"], running["progress"]) == ("This month so far", None)
    assert [card["title"] for card in others] == ["Last whole month", "Year to date", "Twelve months"]


def test_the_column_of_a_month_that_is_not_over_stands_alone() -> None:
    section = months_section(OfficeMonths(chain("A")), "A", ENGLISH)
    assert section is not None
    now, before = [column[0]["month"] for column in section["rows"][:2]]
    assert [(one.before is None, one.budget is None) for one in (now, before)] == [
        (True, True),
        (False, False),
    ]


def test_a_first_night_in_the_middle_of_a_month_has_one_card() -> None:
    months = _months(earned("A", "2026-03", 5, is_open=True))
    assert [card["title"] for card in _cards(months)] == ["This month so far"]


def test_an_office_without_the_running_month_has_no_card_of_it() -> None:
    months = _months(earned("A", "2026-02", 5), earned("A", "2026-03", None))
    assert _cards(months)[0]["title"] == "Last whole month"


def test_a_year_that_was_not_held_is_said_to_be_missing() -> None:
    last = _cards(_months(earned("A", "2026-02", 5)))[0]
    assert last["notes"] == ["the year before is not held, so there is nothing to compare with"]


def test_january_is_the_whole_year_to_date() -> None:
    assert _cards(_months(earned("A", "2026-01", 5)))[1]["period"] == "January 2026"


def test_a_period_begins_with_the_first_month_held_and_says_so() -> None:
    year = _cards(_months(earned("A", "2026-03", 5), earned("A", "2026-02", 5)))[-1]
    assert (year["title"], year["period"]) == ("Year to date", "February to March 2026")
    assert year["notes"][0] == "nothing before February 2026 is held"


def test_a_file_of_which_nothing_is_held_has_no_cards() -> None:
    assert _cards(_months(earned("A", "2026-02", None))) == []


def test_a_card_of_months_without_a_sale_shows_zero() -> None:
    [card, *_] = _cards(_months(earned("A", "2026-02", 0, homes=0, agents=0)))
    assert [figure["value"] for figure in card["figures"]] == ["0", "0", UNKNOWN, "0", UNKNOWN]


def test_an_office_that_stopped_says_so_in_the_table_of_offices() -> None:
    rows = [earned("A", one, 7) for one in ("2026-01", "2026-02")]
    stopped = [earned("B", "2026-02", 6, is_whole=False), earned("C", "2026-01", 5)]
    months = _months(*rows, *stopped)
    section = offices_section(months, ENGLISH, {})
    assert section is not None
    found = [(one["name"], one["note"]) for one in section["years"]]
    assert found == [
        ("Office A", ""),
        ("Office B", "read to 20 March 2026"),
        ("Office C", "read to 31 January 2026"),
    ]


def test_a_leaderboard_names_its_months_and_counts_who_is_not_on_it() -> None:
    earners = [earner("A", period, earner_count=7) for period in ("quarter", "year")]
    boards = leaderboards(Facts(earners=earners), ENGLISH)["agents"]
    assert [(board["title"], board["period"], board["others"]) for board in boards] == [
        ("Year to date", "January to February 2026", 6),
        ("Quarter so far", "January to February 2026", 6),
    ]


def test_what_to_mind_of_a_budget_is_said_where_the_gap_is() -> None:
    facts = chain("A")
    noted = replace(facts, budgets=[replace(one, vat="unknown") for one in facts.budgets])
    pages = [page(one) for one in (facts, noted)]
    assert [one.count("if 25% VAT is in the commission, which the") for one in pages] == [0, 2]
    assert [one.count('class="vat"') > 0 for one in pages] == [False, True]
    assert [one.count("90% / 72%") for one in pages] == [0, 3]  # gap, office and its year's end


def test_downloads_have_both_readings_where_vat_is_left_open() -> None:
    facts = chain("A")
    noted = replace(facts, budgets=[replace(one, vat="unknown") for one in facts.budgets])
    files = map(unquote, re.findall(r'href="data:text/csv[^,]*,([^"]+)"', page(noted)))
    told = [
        {name: cell for name, cell in zip(head, line, strict=True) if "Of budget" in name or "VAT" in name}
        for head, *_, line in (list(csv.reader(file.splitlines())) for file in files)
    ]
    share = {"Of budget": "0.9", "Of budget, if 25% VAT is in the commission": "0.72"}
    gap = {"Gap, if 25% VAT is in the commission": "-560"}
    amount = {"Commission, reached, if 25% VAT is in it": "802.4"}
    assert [one for one in told if one] == [share | gap, amount, share]


@pytest.mark.parametrize(
    ("words", "part", "names"),
    [
        (ENGLISH, "state", {"NoAnswerOrBusy": "No answer or busy", "SentOn": "SentOn", "": "", None: None}),
        (SWEDISH, "state", {"NoAnswerOrBusy": "Inget svar eller upptaget", "SentOn": "SentOn"}),
        (ENGLISH, "kind", {"AcceptObjectFlow": "Accept object flow", "AB": "AB", "Tip": "Tip", None: None}),
    ],
)
def test_codes_of_the_service_are_written_as_words(
    words: Language, part: str, names: dict[str | None, str | None]
) -> None:
    lead = {"office_id": None, "way": "incoming lead", "part": part, "leads": 1}
    shown = leads_section(Facts(leads=[{**lead, "name": name} for name in names]), (), words, None)
    assert shown is not None
    assert [one["name"] for one in shown["tables"][part]] == list(names.values())


def test_an_agent_who_left_is_marked_among_the_agents() -> None:
    facts = replace(chain("A"), agents=(agent("A", "Ann", 5, last_seen=month("2026-01")),))
    shown = agents_section(facts, OfficeMonths(facts), ENGLISH)
    assert shown is not None
    assert shown["rows"][0]["note"] == "last seen January 2026"


def _two_years(office: str, *amounts: tuple[int, int]) -> list[OfficeEarnings]:
    """January and so on of both years, each as last year's and this one's."""
    return [
        earned(office, f"{year}-{place:02}", pair[year - 2025])
        for place, pair in enumerate(amounts, start=1)
        for year in (2025, 2026)
    ]


def test_an_office_that_began_during_last_year_is_compared_with_no_year_and_says_since_when() -> None:
    young = [replace(one, began_month=month("2025-02")) for one in _two_years("B", (0, 300), (9, 300))]
    months = _months(*_two_years("A", (100, 100), (100, 98)), *young)
    section = offices_section(months, ENGLISH, {})
    assert section is not None
    found = {one["name"]: (one["on_year_before"], one["note"]) for one in section["years"]}
    assert found == {"Office A": (Decimal("0.99"), ""), "Office B": (None, "active since February 2025")}
    assert not any("Office B" in one for one in section["sentences"][1:])
    year = next(card for card in _cards(months) if card["title"] == "Year to date")
    assert year["figures"][0]["on_year_before"] == Decimal("0.99")
    assert year["notes"] == ["compared over the 1 of 2 offices that were there and held in both years"]


def test_an_office_that_began_during_last_year_says_so_on_its_page() -> None:
    young = [replace(one, began_month=month("2025-02")) for one in _two_years("B", (0, 300), (9, 300))]
    year = next(card for card in _cards(_months(*young)) if card["title"] == "Year to date")
    assert year["notes"] == ["active since February 2025, so there is no whole year before to compare with"]


def test_offices_furthest_off_last_year_are_named_with_their_months() -> None:
    rows = [*_two_years("A", (500, 400), (100, 1)), *_two_years("B", (100, 100), (100, 150))]
    section = offices_section(_months(*rows), ENGLISH, {})
    assert section is not None
    assert [one.replace(SPACE, " ") for one in section["sentences"][1:]] == [
        (
            "Furthest below the same months last year (January to February 2026): "
            "Office A −199 (−33.2%), most in January (400 against 500) and February (1 against 100)."
        ),
        (
            "Furthest above the same months last year (January to February 2026): "
            "Office B +50 (+25.0%), most in February (150 against 100)."
        ),
    ]


def test_offices_that_made_the_difference_of_the_last_whole_month_add_up_with_the_others() -> None:
    pairs = {"A": (500, 400), "B": (300, 250), "C": (90, 60), "D": (80, 60), "E": (50, 40), "F": (10, 70)}
    rows = [row for office, pair in pairs.items() for row in _two_years(office, pair)]
    section = offices_section(_months(*rows), ENGLISH, {})
    assert section is not None
    assert section["sentences"][0] == (
        "January 2026: 880 in commission against 1,030 in the same month last year, −150 (−14.6%): "
        "Office A −100 (400 against 500), Office B −50 (250 against 300), Office C −30 (60 against 90), "
        "Office F +60 (70 against 10) and 2 more offices (−30)."
    )


def test_an_office_within_a_hundredth_of_last_year_is_neither_above_nor_below() -> None:
    rows = [*_two_years("A", (1000, 991)), *_two_years("B", (1000, 1009)), *_two_years("C", (1000, 1010))]
    section = offices_section(_months(*rows), ENGLISH, {})
    assert section is not None
    [_, above] = section["sentences"]
    assert above.endswith("2026): Office C +10 (+1.0%), most in January (1,010 against 1,000).")


def test_a_chart_has_the_twelve_whole_months_of_the_card_and_the_one_that_runs() -> None:
    facts = chain("A", months=20)
    months = OfficeMonths(facts)
    section, cards_of_all = months_section(months, "A", ENGLISH), _cards(months)
    assert section is not None
    shown = [column["name"] for column in section["charts"][0]["columns"]]
    assert (len(shown), cards_of_all[-1]["period"]) == (13, f"{shown[0]} to {shown[-2]}")


def test_the_legend_says_of_pale_columns_only_what_there_is() -> None:
    opened, cut = earned("A", "2026-03", 9, is_open=True), earned("A", "2026-02", 9, is_whole=False)
    given = [[opened], [cut], [opened, cut], [earned("A", "2026-02", 9)]]
    sections = [months_section(_months(*rows), "A", ENGLISH) for rows in given]
    assert [one and one["pale"] for one in sections] == [
        "month not over",
        "known in part",
        "month not over, or known in part",
        "",
    ]


def test_an_office_alone_is_compared_with_its_own_last_year_and_not_called_furthest() -> None:
    section = months_section(_months(*_two_years("A", (500, 400), (100, 250))), "A", ENGLISH)
    assert section is not None
    assert [one.replace(SPACE, " ") for one in section["sentences"]] == [
        (
            "January to February 2026: 650 in commission against 600 in the same months last year, "
            "+50 (+8.3%)."
        ),
        "Furthest above in February (250 against 100).",
        "Furthest below in January (400 against 500).",
    ]


def test_agents_furthest_off_last_year_are_named_with_their_homes() -> None:
    before = {"commission_before": Decimal(1800), "sold_estate_parts_before": Decimal("19.7")}
    facts = replace(chain("A"), agents=({**agent("A", "Lena", 900), **before},))
    section = agents_section(facts, OfficeMonths(facts), ENGLISH)
    assert section is not None
    assert [one.replace(SPACE, " ") for one in section["sentences"]] == [
        "Furthest below the same months last year: Lena −900 (1 against 19.7 homes)."
    ]


def _compared(*agents: Row) -> Shown:
    facts = replace(chain("A"), agents=agents)
    section = agents_section(facts, OfficeMonths(facts), ENGLISH)
    assert section is not None
    return {**section, "sentences": [one.replace(SPACE, " ") for one in section["sentences"]]}


def test_who_is_new_since_last_year_is_named_with_the_month_and_not_as_ahead_of_nothing() -> None:
    nothing = {"commission_before": Decimal(0)}
    new = {**agent("A", "Lars", 900, new_since=month("2025-11")), **nothing}
    gone = {**agent("A", "Hugo", 700, None, month("2026-03"), has_left=True), **nothing}
    section = _compared(new, {**gone, "new_since": month("2025-12")}, {**agent("A", "Back", 60), **nothing})
    assert section["sentences"] == [
        "Furthest above the same months last year: Back +60 (1 against 0 homes).",
        (
            "New since those months last year: Lars 900 (since November 2025, one home); "
            "Hugo 700 (since December 2025, one home, has left)."
        ),
    ]
    assert [one["new"] for one in section["rows"]] == [
        "new since November 2025",
        "new since December 2025",
        "",
    ]


def test_who_began_during_last_year_is_neither_new_nor_compared_with_part_of_it() -> None:
    between = {**agent("A", "Eva", 900, new_since=month("2025-02")), "commission_before": Decimal(90)}
    section = _compared(between)
    assert (section["sentences"], section["rows"][0]["new"]) == ([], "active since February 2025")


def test_agents_who_made_the_difference_of_the_last_whole_month_add_up_with_what_is_nobodys() -> None:
    pairs = [("Ann", 400, 100, False), ("Bo", 300, 250, True), ("Cia", 0, 90, False), ("Di", 5, 5, False)]
    agents = [
        {**agent("A", name, 900, has_left=left), "in_month": Decimal(now), "in_month_before": Decimal(before)}
        for name, before, now, left in pairs
    ]
    facts = Facts(office_months=_two_years("A", (1, 1), (710, 440)), agents=agents)
    section = agents_section(facts, OfficeMonths(facts), ENGLISH)
    assert section is not None
    assert section["sentences"] == [
        (
            "February 2026: 440 in commission against 710 in the same month last year, −270 (−38.0%): "
            "Ann −300 (100 against 400), Bo −50 (250 against 300, has left), Cia +90 (90 against 0) "
            "and −10 of nobody known."
        )
    ]
    assert (section["month"], section["rows"][0]["in_month"]) == ("February 2026", 100)


def test_one_home_is_not_called_homes() -> None:
    before = {"commission_before": Decimal(1800), "sold_estate_parts_before": Decimal(1)}
    assert _compared({**agent("A", "Lena", 900), **before})["sentences"][0].endswith("(1 against one home).")


def test_a_leaderboard_says_who_has_left() -> None:
    gone = agent("A", "Hugo", 700, None, month("2026-03"), has_left=True)
    boards = leaderboards(
        Facts(earners=[earner("Hugo", "year"), earner("Ann", "year")], agents=[gone]), ENGLISH
    )
    found = [one["note"] for one in boards["agents"][0]["earners"]]
    assert found == ["has left, last seen March 2026", ""]


def test_a_forecast_says_what_its_share_is_if_vat_is_in_the_commission() -> None:
    given = replace(budgeted("A", "2026-02", 1000, 1250), vat="unknown")
    months = OfficeMonths(Facts(office_months=[earned("A", "2026-02", 1250)], budgets=[given]))
    note = next(card for card in _cards(months) if card["title"] == "Year to date")["notes"][0]
    assert note == "as it goes, the year ends at 15k, 125% of its budget, 100% if 25% VAT is in it"


def test_a_quarter_of_one_month_is_not_told_beside_the_month() -> None:
    earners = [{**earner("A", period), "month": month("2026-01")} for period in ("quarter", "month")]
    boards = leaderboards(Facts(earners=earners), ENGLISH)
    assert [board["title"] for board in boards["agents"]] == ["Month"]


def test_a_share_of_budget_says_what_it_is_if_vat_is_in_the_commission() -> None:
    given = replace(budgeted("A", "2026-02", 1000, 1210), vat="unknown")
    months = OfficeMonths(Facts(office_months=[earned("A", "2026-02", 1210)], budgets=[given]))
    said = _cards(months)[0]["of_budget"].replace(SPACE, " ")
    assert said == "121% of budget, 97% if 25% VAT is in it; budget SEK 1,000"
    assert _cards(months)[0]["less"] == Decimal("0.968")


def test_what_is_earned_beside_sales_is_a_figure_of_its_own() -> None:
    row = replace(earned("A", "2026-02", 1210), sold_commission=Decimal(1000))
    [card, *_] = _cards(_months(row))
    assert [one["value"] for one in card["figures"] if "valuations" in one["name"]] == ["210"]
