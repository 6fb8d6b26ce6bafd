"""Sections of a page: the figures, tables and notes that they make of rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TypeVar
from zoneinfo import ZoneInfo

import pytest

from pipelines.page.earnings import drivers_section, months_section, offices_section, opening
from pipelines.page.facts import Facts, Row, page_facts
from pipelines.page.leads import leads_section
from pipelines.page.people import agents_section, leaders_section, people_section
from pipelines.page.sales import cancelled_section, changes_section, funnel_section, owed_section
from pipelines.page.tables import PageTable, Section, Writer
from pipelines.page.verdict import verdict
from tests.unit.page import given
from tests.unit.page.given import LAST, agent, chain, changed, doubt, facts, month, owed, period, replace, row

ENGLISH = Writer(given.ENGLISH)
STOCKHOLM = ZoneInfo("Europe/Stockholm")
NONE_COMPARED = "No office was open in the whole of both periods, so there is no like-for-like growth."
Part = TypeVar("Part")


def of_chain(facts: Facts) -> Facts:
    return page_facts(facts, facts.scopes[0])


def shown(part: Part | None) -> Part:
    assert part is not None
    return part


def texts(part: PageTable | Section | None) -> list[list[str]]:
    """The text and note of each cell of a table, or of the open table of a section."""
    table = shown(part.table if isinstance(part, Section) else part)
    return [
        [" ".join(filter(None, (one.text, one.note))).replace("\N{NO-BREAK SPACE}", " ") for one in row]
        for row in table.rows
    ]


def test_the_year_is_a_line_of_figures() -> None:
    figures = opening(of_chain(chain("A")), ENGLISH).figures
    assert [(name, cell.text) for name, cell in figures] == [
        ("Commission, January to February 2026", "950"),
        ("share of budget", "95%"),
        ("vs last year", "+10.0%"),
        ("Full-year forecast, share of budget", "75%"),
    ]


def test_a_year_that_has_ended_is_a_full_year_without_a_forecast() -> None:
    ended = replace(period(), first_month=month("2025-01"), last_month=month("2025-12"), forecast_share=None)
    year = opening(replace(of_chain(chain("A")), periods=[replace(ended, year_forecast=None)]), ENGLISH)
    assert [name for name, _ in year.figures][1:] == ["share of budget", "vs last year"]
    assert texts(year.periods)[0][0] == "Full year 2025 January to December 2025"
    assert (year.cards[0].title, "may end" in str(year.notes)) == ("Homes, January to December 2025", False)


def test_an_office_without_a_budget_for_a_month_says_so_and_has_a_forecast() -> None:
    gap = {"unbudgeted_months": [LAST], "year_budget": None, "budget_months": 11}
    figures = opening(facts(periods=(replace(period(), **gap),)), ENGLISH).figures
    assert [name for name, _ in figures][1::2] == [
        "share of budget (1 of 2 months)", "Full-year forecast, share of budget (11 of 12 months)",
    ]  # fmt: skip


def test_growth_is_shown_like_for_like_and_in_total_and_offices_with_a_budget_are_counted() -> None:
    figures = opening(facts(periods=(replace(period(), offices=2, open_offices=2),)), ENGLISH).figures
    assert [(name, cell.text) for name, cell in figures[1:4]] == [
        ("share of budget (1 of 2 offices)", "100%"),
        ("vs last year, like for like (1 of 2 offices)", "+10.0%"),
        ("vs last year, total", "+20.0%"),
    ]


def test_the_year_is_drawn_with_its_budget_last_year_and_the_forecast() -> None:
    facts = of_chain(chain("A"))
    vars(facts.months[10]).update(commission=Decimal(0), commission_before=Decimal(0), goal=None)
    coming = [replace(facts.months[-1], month=month(f"2026-{n:02}"), is_coming=True) for n in range(4, 13)]
    facts = replace(facts, months=[*facts.months, *coming])
    years = [replace(period(), offices=count, open_offices=count, began_month=LAST) for count in (2, 1)]
    drawings = [shown(opening(replace(facts, periods=[year]), ENGLISH).chart) for year in years]
    legends = [[label for _, label in drawing.legend] for drawing in drawings]
    assert legends[0] == ["last year", "budget (1 of 2 offices)", "actual"]
    assert legends[1] == ["last year", "budget", "forecast", "actual"]
    assert drawings[1].title.endswith("; no budget for March to December 2026")
    amounts = "Jan: last year 0, budget 0, actual 0. Feb: last year 992, budget 992, forecast 1.0k, actual"
    assert amounts in drawings[1].description


def test_a_period_is_a_row_with_its_changes_and_its_share_of_the_budget() -> None:
    table = shown(opening(facts(periods=(period(),)), ENGLISH).periods)
    changes = [
        (head.name, cell.text, cell.change and cell.change.text)
        for head, cell in zip(table.headings, table.rows[0], strict=True)
    ]
    assert changes[1:7] == [
        ("Commission", "1,000", "+10.0%"),
        ("% of budget", "100%", None),
        ("Variance to budget", "0", None),
        ("Homes sold", "2.5", "+20.0%"),
        ("Average price", "4.0M", "−10.0%"),
        ("Commission rate", "2.50%", "+0.05\N{NO-BREAK SPACE}pp"),
    ]


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ({"missing_months": 1}, "One month of one office has not been loaded and is left out."),
        ({"period_start": month("2025-12")}, "No data before January 2026."),
        ({"average_price_change": None}, "Averages of fewer than 25 homes are not compared with last year."),
        ({"compared_offices": 0, "commission_before": None}, "The previous year has not been loaded."),
        ({"compared_offices": 0}, NONE_COMPARED),
        ({"compared_offices": 0, "closed_after_month": month("2025-12")}, "closed after December 2025"),
        (
            {"compared_offices": 0, "began_month": month("2025-06")},
            "The office has existed since June 2025, so there is no full year to compare with.",
        ),
        (
            {"offices": 3, "compared_offices": 2},
            "Changes are like for like: 2 of 3 offices, open throughout both periods.",
        ),
    ],
)
def test_a_period_has_a_note_on_missing_figures(columns: dict[str, object], note: str) -> None:
    assert opening(facts(periods=(replace(period(), **columns),)), ENGLISH).notes == [f"Year to date: {note}"]


def test_a_note_states_the_range_of_a_forecast() -> None:
    assert "may end between 8.0k and 9.9k" in str(opening(of_chain(chain("A")), ENGLISH).notes)


def test_a_recent_month_has_a_note_on_how_much_earlier_months_changed_later() -> None:
    [note] = [note for note in opening(of_chain(chain("A")), ENGLISH).notes if "Recent" in note]
    assert note.startswith("Last whole month: Recent months still change: 3 earlier months of the chain")
    assert note.endswith(" changed by −2.5% (median; −4.0% to +1.0%) since they were this recent.")


def test_the_current_month_is_compared_with_the_same_days_of_last_year() -> None:
    facts = of_chain(chain("A"))
    days = [date(2026, 3, 17), date(2026, 3, 2)]
    vars(facts.same_days[0]).update(offices_behind=["B", "C"], their_days=days, missing_offices="D")
    notes = opening(facts, ENGLISH).notes
    assert [note.partition(": ")[2] for note in notes[:3]] == [
        (
            "Commission from sales signed 1–20 March 2026, as entered so far: 90, −10.0% vs the same days "
            "last year. Other figures are compared once the month has ended."
        ),
        "Offices whose sales are known only up to an earlier day of the month: B 17, C 2.",
        "Not in the comparison of sales, because one or both years are incomplete: D.",
    ]


def test_the_offices_table_begins_with_the_office_furthest_behind_budget() -> None:
    facts = of_chain(chain("A", "B"))
    periods = [one if one.office_id else replace(one, offices=2, open_offices=2) for one in facts.periods]
    behind = [replace(one, actual=Decimal(700)) if one.office_id == "B" else one for one in periods]
    section = shown(offices_section(replace(facts, periods=behind), ENGLISH, {"A": "offices/A.html"}))
    table = shown(section.table)
    assert [[row[0], *row[2:4]] for row in texts(table)] == [["B", "70%", "−300"], ["A", "90%", "−100"]]
    assert [cell.text for cell in (table.total[0], *table.total[2:4])] == ["All", "95%", "−50"]
    assert (table.total[6].text, table.total[6].note) == ("–", "9.0k (1 of 2 offices)")
    assert [(cell.width, cell.budget, cell.before) for cell in (row[1] for row in table.rows)] == [
        ("90", "100", "81.8")
    ] * 2
    assert [row[0].link for row in table.rows] == ["", "offices/A.html"]


def test_an_agent_without_a_known_office_is_named_once() -> None:
    unknown = [replace(agent("A", "Al"), office_id=None)] * 2
    section = shown(offices_section(replace(of_chain(chain("A")), agents=unknown), ENGLISH, {}))
    assert section.notes[1:] == ["Office unknown: Al."]


def test_the_last_whole_month_of_offices_follows_the_current_one_and_has_a_budget() -> None:
    facts = of_chain(chain("A", "B"))
    facts = replace(facts, same_days=[replace(facts.same_days[0], office_id="A")])
    running, table = map(shown, shown(offices_section(facts, ENGLISH, {})).collapsed)
    names = [(table.name, table.is_open) for table in (running, table)]
    assert names == [("Offices, March 2026, so far", False), ("Offices, February 2026", True)]
    assert [row[1:3] for row in texts(running)] == [["900", "−10.0%"], ["900", "–"]]
    assert "Active agents" in [heading.name for heading in table.headings]
    assert [row[:5] for row in texts(table)] == [
        [name, "900", "90%", "−100", "+10.0%"] for name in ("A", "B")
    ]


def test_an_agent_who_has_left_moved_or_is_new_has_a_note() -> None:
    agents = [
        replace(agent("A", "Al"), status="left", status_month=month("2026-01")),
        replace(agent("A", "Bo", budget=None), status="new", status_month=month("2025-06")),
        replace(agent("A", "Ed"), status="here", status_month=month("2026-01")),
        replace(agent("A", "Cy", budget=None), is_complete=False, status="left"),
        replace(agent("A", "Di"), status="moved to", status_office="B", status_month=month("2026-02")),
    ]
    assert [row[0] for row in texts(agents_section(facts(agents=agents), ENGLISH))] == [
        "Al has left, last active January 2026", "Bo new since June 2025", "Ed here since January 2026",
        "Cy incomplete data, has left", "Di moved to B in February 2026",
    ]  # fmt: skip


def test_an_agent_has_both_years_a_share_of_the_budget_and_the_newest_months() -> None:
    moved = replace(agent("A", "Di"), commission_change=None, status="left", budget_months=1)
    newest = given.row("agents", "A", given.NEWEST, "Di", Decimal(50), is_complete=True, period="month")
    section = shown(agents_section(facts(agents=[moved, newest], months=given.chain("A").months), ENGLISH))
    [row], [month_table] = texts(section), section.collapsed
    assert (shown(month_table).name, texts(month_table)) == ("Agents, March 2026, so far", [["Di", "50"]])
    assert row[1:6] == ["800", "800", "1,000", "80% budget for 1 of 2 months", "−200"]
    began = agents_section(facts(agents=[moved], periods=[replace(period(), began_month=LAST)]), ENGLISH)
    assert texts(began)[0][4] == "80%"


def test_a_changed_month_is_one_row_with_its_reasons() -> None:
    months = [
        changed("A", home="Main Street 1"),
        changed("A", other_month=month("2026-02")),
        changed("A", "valuations", -5, agent="Al"),
        changed("A", "open", 7, awaited_reports=["sales"]),
        changed("A", "nobody", 1),
        replace(changed("B"), kind=None, amount=None),
    ]
    section = shown(changes_section(replace(of_chain(chain("A")), changes=months), ENGLISH, STOCKHOLM))
    assert "in total, one closed month, January 2026, changed at 2 offices (−120)" in section.figures
    reasons = (
        "Main Street 1 (2601-001): sale cancelled −60; Home 2601-001: moved to February 2026 −60; "
        "Al: valuations −5; not known yet; waiting for sales +7; no agent's commission +1"
    )
    amounts = ["100", "40", "−60"]
    assert [row[2:6] for row in texts(section.collapsed[1])] == [[*amounts, reasons], [*amounts, ""]]


def test_changes_are_a_line_of_figures() -> None:
    section = shown(changes_section(of_chain(chain("A")), ENGLISH, STOCKHOLM))
    assert section.heading == "What has changed since 13 March 2026"
    assert section.figures == [
        "one new sale (+100)", "one cancelled sale (−60)", "one sale with changed commission (+5)",
        "one closed month, January 2026, changed (−60)", "one agent's commission in closed months changed",
        "budgets entered",
    ]  # fmt: skip
    [budget] = texts(section.collapsed[3])
    period = "February to March 2026 (April 2026 loaded for the first time, not counted)"
    assert budget == [period, "A", "100", "+100", "Al +90"]


def test_receivables_are_summed_by_age_without_offices_that_record_no_payments() -> None:
    receivables = [owed("A"), owed("B"), owed("C", is_noted=False)]
    section = shown(owed_section(facts(receivables=receivables), ENGLISH))
    assert section.figures == [
        "total 600", "not yet due 200",
        "overdue 1–30 days 400", "overdue 31–60 days 0", "overdue over 60 days 0",
        "without one office that has never recorded a payment",
    ]  # fmt: skip
    assert [row[-1] for row in texts(section.collapsed[0])] == ["9", "9"]
    assert section.notes[1] == "C has never recorded a payment and is left out."
    page = shown(owed_section(facts(receivables=receivables[2:]), Writer(given.ENGLISH, is_one_office=True)))
    assert page.notes == ["This office records no payments, so what is unpaid cannot be shown."]


def test_commission_is_stacked_by_month_of_possession() -> None:
    facts = of_chain(chain("A", "B"))
    facts.due_sales[0].access_on = date(2026, 1, 31)
    basis = [replace(given.BASIS, commission_vat="included")]
    section = shown(owed_section(replace(facts, basis=basis), ENGLISH))
    assert section.charts[0].title == "Commission by month of possession (with VAT)"
    assert texts(section.collapsed[-1]) == [
        ["older, overdue only", "–", "0", "0", "200"],
        ["February 2026", "100", "100", "100", "40"], ["March 2026", "100", "100", "100", "40"],
    ]  # fmt: skip
    assert [label for _, label in section.charts[0].legend] == [
        "Received so far", "Expected", "Overdue 1–30 days", "Overdue over 30 days",
    ]  # fmt: skip


def test_the_funnel_has_valuations_sales_and_the_sources_of_homes() -> None:
    section = shown(funnel_section(of_chain(chain("A")), ENGLISH))
    assert section.figures[0].startswith("40 valuations and 20 homes sold in twelve months")
    assert section.notes == ["Sales were 50% of valuations in the same twelve months."]
    assert texts(section.collapsed[0]) == [["Web", "30", "90", "3.00%"]]


@pytest.mark.parametrize("amounts", [(24, 8), (40, 41)])
def test_there_is_no_percentage_if_valuations_are_few_or_fewer_than_sales(amounts: tuple[int, int]) -> None:
    funnel = [row("funnel", "chain", "", *given.amounts(*amounts))]
    assert shown(funnel_section(facts(funnel=funnel), ENGLISH)).notes == []


def boards(earners: Sequence[Row]) -> list[PageTable]:
    return [board for board in shown(leaders_section(facts(earners=earners), ENGLISH)).collapsed if board]


def test_a_leaderboard_names_its_months_and_marks_leavers_and_changes_of_rank() -> None:
    earners = [replace(earner, has_left=True) for earner in chain("A").earners]
    ended = replace(earners[0], period="twelve months", month=month("2025-12"))
    assert [board.name for board in boards([*earners, ended])] == [
        "Year to date, January to February 2026", "Month, February 2026", "Quarter, January to February 2026",
    ]  # fmt: skip
    assert texts(boards(earners)[0]) == [["1 ▲2", "Agent of A has left", "A", "10", "1"]]
    unranked = [replace(earner, rank_change=None, is_new=earner.period == "month") for earner in earners]
    assert [texts(board)[0][0] for board in boards(unranked)[:2]] == ["1", "1 new"]


def test_a_leaderboard_shows_ten_places_and_its_download_has_all() -> None:
    [first] = [earner for earner in chain("A").earners if earner.period == "year"]
    [board] = boards([replace(first, name=f"Agent {place}", place=place) for place in range(1, 46)])
    assert (len(board.rows), board.more, board.download.href.count("Agent")) == (10, 35, 45)


@pytest.mark.parametrize(
    ("part", "name", "text"),
    [
        ("kind", "AskedForPrice", "Asked for price"),
        ("kind", "Visning", "Visning"),
        ("kind", None, "not stated"),
        ("state", "NoAnswerOrBusy", "No answer or busy"),
    ],
)
def test_codes_of_the_service_are_written_as_words(part: str, name: str | None, text: str) -> None:
    lead = row("leads", "chain", "", part, "incoming lead", name, 1, 0, 0, 1, 0, None)
    section = shown(leads_section(facts(leads=(lead,)), ENGLISH))
    [table] = [table for table in section.collapsed if table]
    assert texts(table)[0][0] == text


def test_doubts_are_a_table_and_the_worst_one_sets_the_severity() -> None:
    again = replace(doubt("failed again"), read_at_utc=given.PUBLISHED)
    result = verdict(facts(doubts=(doubt(), again, doubt("late", None, "budgets"))), ENGLISH, STOCKHOLM)
    assert (result.severity, result.text) == ("error", "3 notes on the figures: sales, commission budgets")
    assert texts(result.doubts) == [
        ["sales", "could not be loaded", "A", "February 2026"],
        ["sales", "could not be read again; the figures are from 20 March 2026", "A", "February 2026"],
        ["commission budgets", "late", "all offices", "February 2026"],
    ]
    assert verdict(facts(missing=("leads",)), ENGLISH, STOCKHOLM).severity == "warning"
    agreements = [row("agreements", name, "commission", 9) for name in ("sales list", "shares of agents")]
    well = verdict(replace(of_chain(chain("A")), agreements=agreements), ENGLISH, STOCKHOLM)
    assert well.text.endswith("up to date, and the offices' commission report agreed with: sales report.")


def test_homes_price_and_fee_are_shown_with_their_effects_on_commission() -> None:
    section = shown(drivers_section(of_chain(chain("A")), ENGLISH))
    assert texts(section.collapsed[0])[0] == ["Year to date", "100", "+20", "−5", "−5", "+3", "110", "+13"]


def test_months_before_the_office_began_have_no_amount_and_offices_with_a_budget_are_counted() -> None:
    year = replace(period(), open_offices=3, began_month=LAST)
    section = shown(months_section(replace(of_chain(chain("A")), periods=[year]), ENGLISH, STOCKHOLM))
    assert section.notes == ["Budget this year (1 of 3 offices)."]
    assert [cells[1] for cells in texts(section.collapsed[0])[:3]] == ["1,003", "1,002", "–"]


def test_headcount_is_a_line_and_tables() -> None:
    section = shown(people_section(of_chain(chain("A")), ENGLISH))
    assert section.figures == [
        "7 active agents in February 2026", "12 joined and 24 left in the last twelve months",
    ]  # fmt: skip
    assert texts(section.collapsed[1]) == [["Agent of A", "A", "50", "40", "−10", "−20.0%"]]
    assert section.collapsed[2] is None


def test_cancelled_sales_are_counted_with_their_commission() -> None:
    section = shown(cancelled_section(of_chain(chain("A")), ENGLISH))
    assert section.figures == ["One sale, 60 in commission"]
    assert section.notes[0].endswith("Tracked since 1 February 2026.")
    assert texts(section.collapsed[0])[0][0] == "Lane of A not yet deducted from the totals"


def test_leads_are_drawn_by_week_and_untouched_ones_counted_by_office_and_age() -> None:
    section = shown(leads_section(of_chain(chain("A")), ENGLISH))
    assert [drawing.description for drawing in section.charts] == ["Leads received by week. 2 Mar: 10."]
    assert shown(section.table).name == "All leads and tips still new, by age on 20 March 2026"
    assert texts(section) == [["A closed after February 2026", "5", "0", "2", "0", "0", "3", "1", "1"]]
    assert section.notes[0].startswith("Leads of some older months were last read on 1 February 2026;")
