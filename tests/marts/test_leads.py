"""Marts of leads and their funnel against a few written rows."""

from __future__ import annotations

from datetime import date, datetime

from tests.marts.given import Row, built, held, rows, sold, warehouse

HERE: Row = {"receiver_company_customer_number": "M1"}


def lead(number: int, created: str, **more: object) -> Row:
    return {
        **HERE,
        "lead_id": f"L{number}",
        "created_at": datetime.fromisoformat(created),
        "lead_type": "Tips",
        **more,
    }


def test_the_funnel_counts_leads_by_month_office_kind_and_state() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "G1", ["2026-01"])
    found = [lead(1, "2026-01-02", lead_state="New"), lead(2, "2026-01-03", lead_state="Done"),
             lead(3, "2026-01-04", lead_state="Done")]  # fmt: skip
    rows(given, "incoming_leads", "G1", "2026-01", found)
    counted = built(
        given,
        "SELECT office_id, way, lead_type, state, lead_count FROM marts.lead_funnel WHERE lead_count > 0",
    )
    assert counted == [("M1", "incoming lead", "Tips", "Done", 2), ("M1", "incoming lead", "Tips", "New", 1)]


def test_a_lead_is_matched_to_a_sale_that_came_after_it() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "G1", ["2026-01"])
    found = [lead(1, "2026-01-05T23:00", estate_id="E1"), lead(2, "2026-01-16", estate_id="E1"),
             lead(3, "2026-01-01", estate_id="E9")]  # fmt: skip
    rows(given, "incoming_leads", "G1", "2026-01", found)
    matched = built(given, "SELECT lead_id, sold_on, days_to_contract FROM marts.leads ORDER BY lead_id")
    assert matched == [("L1", date(2026, 1, 15), 10), ("L2", None, None), ("L3", None, None)]


def test_the_funnel_says_how_many_leads_became_sales_and_in_how_many_days() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "G1", ["2026-01"])
    found = [
        lead(1, "2026-01-05", estate_id="E1"),
        lead(2, "2026-01-10", estate_id="E1"),
        lead(3, "2026-01-10"),
    ]
    rows(given, "incoming_leads", "G1", "2026-01", found)
    counted = built(
        given,
        "SELECT lead_count, estate_lead_count, sold_count, days_to_contract_total FROM marts.lead_funnel "
        "WHERE lead_count > 0",
    )
    assert counted == [(3, 2, 2, 15)]


def test_a_tip_answered_by_two_offices_counts_once_for_the_office_of_its_sender() -> None:
    given = warehouse()
    for office in ("M1", "M2"):
        sold(given, office, "2026-01", office, f"E{office}")
        held(given, "tips_and_leads", office, ["2026-01"])
        tip = {
            "tip_id": "T1",
            "sender_company_customer_number": "M2",
            "receiver_company_customer_number": "M1",
        }
        rows(given, "tips", office, "2026-01", [tip])
    assert built(given, "SELECT office_id, _customer FROM marts.leads") == [("M2", "M2")]


def test_a_lead_of_a_company_that_is_no_office_of_ours_has_no_office() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "G1", ["2026-01"])
    rows(
        given,
        "incoming_leads",
        "G1",
        "2026-01",
        [lead(1, "2026-01-05", receiver_company_customer_number="S9")],
    )
    assert built(given, "SELECT lead_id, office_id FROM marts.leads") == [("L1", None)]


def test_a_lead_to_an_office_belongs_to_no_user() -> None:
    given = warehouse()
    agents = [{"id": "U1", "name": "Åsa", "primary_office_customer_id": "M1"}]
    sold(given, "G1", "2026-01", "M1", "E1", agents=agents)
    held(given, "tips_and_leads", "G1", ["2026-01"])
    found = [lead(1, "2026-01-05", receiver_id="U1"), lead(2, "2026-01-05", receiver_id="FIR1")]
    rows(given, "incoming_leads", "G1", "2026-01", found)
    assert built(given, "SELECT lead_id, user_name FROM marts.leads ORDER BY lead_id") == [
        ("L1", "Åsa"),
        ("L2", None),
    ]


def test_a_held_month_without_a_lead_is_zero_and_one_that_is_not_held_is_absent() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "G1", ["2026-01", "2026-03"])
    rows(given, "incoming_leads", "G1", "2026-01", [lead(1, "2026-01-02", lead_state="New")])
    counted = built(
        given, "SELECT month(month), way, lead_type, state, lead_count, sold_count FROM marts.lead_funnel"
    )
    nothing = [("outgoing lead", None, None, 0, 0), ("tip", None, None, 0, 0)]
    assert counted == [
        (1, "incoming lead", "Tips", "New", 1, 0), *((1, *one) for one in nothing),
        (3, "incoming lead", "Tips", "New", 0, 0), *((3, *one) for one in nothing),
    ]  # fmt: skip
