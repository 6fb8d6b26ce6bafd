"""Marts of leads and their funnel against a few written rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from tests.marts.given import Given, Row, arrived, build_for, built, held, loaded, rows, sold, warehouse
from warehouse.marts.lineage import trace
from warehouse.marts.queries import SQL

LEADS_OF_PAGE, UNTOUCHED = ((SQL / f"page/{name}.sql").read_text("utf-8") for name in ("leads", "untouched"))
COUNTED = "FROM marts.lead_funnel WHERE lead_count > 0"


def lead(number: int, created: str, **more: object) -> Row:
    moment = datetime.fromisoformat(created)
    usual = {"receiver_company_customer_number": "M1", "lead_type": "Tips"}
    return {**usual, "lead_id": f"L{number}", "created_at": moment, **more}


def with_leads(*leads: Row, months: Sequence[str] = ("2026-01",)) -> Given:
    """A group that sold E1 of its office M1 in the middle of January, and got these leads in that month."""
    given = warehouse()
    agents = [{"id": "U1", "name": "Åsa", "primary_office_customer_id": "M1"}]
    sold(given, "G1", "2026-01", "M1", "E1", agents=agents)
    held(given, "tips_and_leads", "G1", months)
    arrived(given, "incoming_leads", is_removed="BOOLEAN")
    rows(given, "incoming_leads", "G1", "2026-01", leads)
    return given


def test_the_funnel_counts_leads_by_month_office_kind_and_state() -> None:
    states = enumerate(("New", "Done", "Done"), start=1)
    given = with_leads(*(lead(number, "2026-01-02", lead_state=state) for number, state in states))
    counted = built(given, f"SELECT office_id, way, lead_type, state, lead_count {COUNTED}")
    assert counted == [("M1", "incoming lead", "Tips", "Done", 2), ("M1", "incoming lead", "Tips", "New", 1)]


def test_a_lead_is_matched_to_a_sale_that_came_after_it() -> None:
    before, after = lead(1, "2026-01-05T23:00", estate_id="E1"), lead(2, "2026-01-16", estate_id="E1")
    given = with_leads(before, after, lead(3, "2026-01-01", estate_id="E9"))
    matched = built(given, "SELECT lead_id, sold_on, days_to_contract FROM marts.leads ORDER BY lead_id")
    assert matched == [("L1", date(2026, 1, 15), 10), ("L2", None, None), ("L3", None, None)]


FUNNEL = (
    "SELECT lead_side, sum(lead_count), sum(removed_lead_count), sum(no_home_lead_count), "
    "sum(estate_lead_count), sum(home_count), sum(sold_count), sum(sold_home_lead_count), "
    "sum(days_to_contract_total) "
    "FROM marts.lead_funnel WHERE way = 'incoming lead' GROUP BY ALL"
)
SELLER, BUYER = {"lead_type": "Fri värdering"}, {"lead_type": "Spekulantanmälan"}


def funnel(*leads: Row) -> list[tuple[object, ...]]:
    """Results of leads of January: the home E1 was sold on the 15th, E2 was not."""
    return built(with_leads(*leads), FUNNEL)


def test_a_home_that_two_leads_of_sellers_name_is_sold_once_counted_from_the_first() -> None:
    first, second = (lead(number, f"2026-01-{number:02}", estate_id="E1", **SELLER) for number in (5, 10))
    unsold, homeless = lead(11, "2026-01-02", estate_id="E2", **SELLER), lead(12, "2026-01-02", **SELLER)
    assert funnel(second, first, unsold, homeless) == [("seller", 4, 0, 1, 3, 2, 1, 2, 10)]


def test_a_home_that_sellers_and_buyers_name_counts_once_on_each_side_and_once_over_both() -> None:
    """All, offices and states of a page count it and its days once; a week without a lead has a zero."""
    found = (lead(1, "2026-01-05", estate_id="E1", **BUYER), lead(2, "2026-01-01", estate_id="E1", **SELLER))
    given = with_leads(*found, lead(3, "2026-01-14", estate_id="E1", **BUYER), lead(4, "2026-01-02"))
    counted = "sum(home_count), sum(sold_count), sum(distinct_home_count), sum(distinct_sold_count)"
    assert built(given, f"SELECT {counted} FROM marts.lead_funnel") == [(2, 2, 1, 1)]
    build_for(given, LEADS_OF_PAGE)
    page = given.sql(LEADS_OF_PAGE).filter("kind = 'chain'").order("part, name")
    shown = page.filter("homes > 0 AND part IN ('all', 'office', 'side')")
    assert shown.select("part, name, homes, sold, days").fetchall() == [
        ("all", "", 1, 1, 14.0),
        ("office", "M1", 1, 1, 14.0),
        ("side", "buyer", 1, 1, 10.0),
        ("side", "seller", 1, 1, 14.0),
    ]
    weeks = page.filter("part = 'week' AND name > '2025-12-20'").select("leads")
    assert weeks.fetchall() == [(0,), (2,), (1,), (1,), (0,)]


def test_a_lead_about_a_home_that_had_been_sold_before_is_left_out_of_the_homes() -> None:
    assert funnel(lead(1, "2026-01-16", estate_id="E1", **SELLER)) == [("seller", 1, 0, 0, 0, 0, 0, 0, 0)]


def test_a_removed_lead_is_in_no_count_but_its_own() -> None:
    removed = lead(1, "2026-01-02", estate_id="E1", is_removed=True, **SELLER)
    live = lead(2, "2026-01-05", estate_id="E1", is_removed=False, **SELLER)
    assert funnel(removed, live) == [("seller", 1, 1, 0, 1, 1, 1, 1, 10)]


SIDES = {
    "Värderingsförfrågan": "seller",
    "FREE VALUATION": "seller",
    "Vill sälja": "seller",
    "Visningsanmälan": "buyer",
    "Bevakning": "buyer",
    "Kontakta mig": None,
    None: None,
}


def test_the_words_of_its_kind_decide_the_side_of_a_lead() -> None:
    leads = [{**lead(number, "2026-01-02"), "lead_type": kind} for number, kind in enumerate(SIDES)]
    found = built(with_leads(*leads), "SELECT DISTINCT lead_type, lead_side FROM marts.leads")
    assert {*found} == {*SIDES.items()}


def test_a_tip_counts_once_for_the_office_of_its_sender_whichever_office_lists_it(given: Given) -> None:
    """T3 is in the answer of a group, and no longer in the newer answers of its offices M1 and M2."""
    tip = {"sender_id": "UM2", "sender_company_id": "M2", "receiver_company_id": "M1"}
    answers = ("G1", "M1", ("T1", "T3")), ("G1", "M2", ()), ("M1", "M1", ("T1", "T2")), ("M2", "M2", ("T1",))
    for customer, office, tips in answers:
        sold(given, customer, "2026-01", office, f"E{office}", agents=[{"id": f"U{office}"}])
        held(given, "tips_and_leads", customer, ["2026-01"])
        rows(given, "tips", customer, "2026-01", [{"tip_id": name, **tip} for name in tips])
    loaded(given, "commission_user", "M1", "2026-01", [])
    found = built(given, "SELECT lead_id, office_id, _customer FROM marts.leads ORDER BY ALL")
    assert found == [("T1", "M2", "M2"), ("T2", "M2", "M1")]
    assert built(given, "SELECT commission FROM marts.user_month ORDER BY user_id") == [(0,), (None,)]
    build_for(given, "FROM marts.office_month, marts.office_sources")
    loads = trace(given, date(2026, 1, 1), "tip_count", office="M2").loads
    assert [load.customer for load in loads] == ["M1", "M2"]
    totals = "SELECT office_id, row_count FROM marts.month_total_versions WHERE report = 'tips_and_leads'"
    assert built(given, f"{totals} ORDER BY 1") == [("M1", 0), ("M2", 2)]


def tips_of_m1(given: Given, **tips: Row) -> None:
    """Tips that the agent of M1 sent the agent of M2, each by the office that received it."""
    for office in ("M1", "M2"):
        agents = [{"id": f"U{office}", "name": f"Al {office}"}]
        sold(given, "G1", "2026-01", office, f"E{office}", agents=agents)
    held(given, "tips_and_leads", "G1", ["2026-01"])
    sent = {"sender_company_customer_number": "M1", "sender_id": "UM1", "created_at": datetime(2026, 1, 2)}
    for office, more in tips.items():
        received = {"tip_id": office, "receiver_company_customer_number": office, "receiver_id": "UM2"}
        rows(given, "tips", "G1", "2026-01", [{**sent, **received, **more}])


TIPS = (SQL / "analysis" / "24_tips_by_office.sql").read_text("utf-8")


def test_a_tip_belongs_to_the_sending_office_and_names_the_receiving_one(given: Given) -> None:
    late = {"estate_id": "EM1", "created_at": datetime(2026, 1, 20)}
    tips_of_m1(given, M2={"estate_id": "EM2"}, M1={"estate_id": "EM2"}, S9=late)
    shown = "lead_id, office_id, user_name, receiver_office_id, receiver_user_name"
    assert built(given, f"SELECT {shown} FROM marts.leads ORDER BY lead_id") == [
        ("M1", "M1", "Al M1", "M1", "Al M2"),
        ("M2", "M1", "Al M1", "M2", "Al M2"),
        ("S9", "M1", "Al M1", None, "Al M2"),
    ]
    assert given.execute(TIPS).fetchall() == [(None, 3, 1, 1, 1, 3, 1, 1, 100, "M1")]


def test_a_tip_counts_on_the_page_of_the_receiving_office_and_is_untouched_there(given: Given) -> None:
    tips_of_m1(given, M2={"tip_state": "New"}, S9={"tip_state": "New"})
    shown = "SELECT lead_id, office_id, user_name FROM marts.untouched_leads ORDER BY lead_id"
    assert built(given, shown) == [("M2", "M2", "Al M2"), ("S9", "M1", "Al M1")]
    build_for(given, LEADS_OF_PAGE)
    tips = given.sql(LEADS_OF_PAGE).filter("kind = 'office' AND way = 'tip'")
    assert tips.select("scope, leads").fetchall() == [("M1", 1), ("M2", 1)]


def test_months_with_recent_leads_are_not_mature(given: Given) -> None:
    sold(given, "M1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "M1", ["2025-06", "2026-01"])
    found = built(given, "SELECT DISTINCT year(month), is_mature FROM marts.lead_funnel ORDER BY 1")
    assert found == [(2025, True), (2026, False)]


def test_untouched_leads_are_listed_by_age_those_of_sellers_first() -> None:
    """Leads of January, read on the first of June. An office with dead leads alone comes last on the page."""
    new = {"lead_state": "New"}
    dead = {**new, **SELLER, "receiver_company_customer_number": "M8"}
    given = with_leads(
        lead(1, "2026-01-02", **new), lead(2, "2026-05-30T23:00", **new, **SELLER),
        lead(3, "2026-05-20", **new, **SELLER), lead(4, "2026-05-25", **new),
        lead(5, "2026-01-02", lead_state="Done"), lead(6, "2026-01-02", **new, is_removed=True),
        *(lead(number, "2026-03-15", **dead) for number in (7, 8, 9)),
    )  # fmt: skip
    ages = "SELECT lead_id, is_valuation_request, age_days, age_band FROM marts.untouched_leads"
    assert built(given, f"{ages} WHERE office_id = 'M1'") == [
        ("L3", True, 12, "8-30 days"), ("L2", True, 2, "0-2 days"),
        ("L1", False, 150, "over 90 days"), ("L4", False, 7, "3-7 days"),
    ]  # fmt: skip
    by_age = "valuations, to_2, to_7, to_30, to_90, longer, tips"
    build_for(given, UNTOUCHED)
    assert given.sql(UNTOUCHED).select(by_age).fetchall() == [(1, 1, 1, 1, 0, 1, 0), (0, 0, 0, 0, 3, 0, 0)]


def test_the_office_of_a_groups_lead_is_known_by_any_of_its_ids_or_name_or_user() -> None:
    companies: dict[str, Row] = {
        "customer id": {"receiver_company_customer_number": "M1"},
        "own id": {"receiver_company_id": "FIR1"},
        "own id in a budget": {"receiver_company_id": "FIR907"},
        "number": {"receiver_company_customer_number": "1"},
        "name": {"receiver_company_name": "HEMMET NORR"},
        "user": {"receiver_id": "U1"},
    }
    created = {"created_at": datetime(2026, 1, 2)}
    given = with_leads(*({"lead_id": name, **created, **known} for name, known in companies.items()))
    given.execute("UPDATE bi.sales_estates SET office_name = 'Hemmet Norr'")
    budget = {"office_id": "M1", "office_named": "FIR907"}
    rows(given, "office_budget_commission_history", "G1", "2026-01", [budget])
    found = built(given, "SELECT lead_id, office_id FROM marts.leads")
    assert {*found} == {(known, "M1") for known in companies}
