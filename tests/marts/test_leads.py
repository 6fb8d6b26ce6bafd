"""Marts of leads and their funnel against a few written rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from duckdb import DuckDBPyConnection

from tests.marts.given import Row, built, held, rows, sold, warehouse

COUNTED = "FROM marts.lead_funnel WHERE lead_count > 0"


def lead(number: int, created: str, **more: object) -> Row:
    moment = datetime.fromisoformat(created)
    usual = {"receiver_company_customer_number": "M1", "lead_type": "Tips"}
    return {**usual, "lead_id": f"L{number}", "created_at": moment, **more}


def with_leads(*leads: Row, months: Sequence[str] = ("2026-01",)) -> DuckDBPyConnection:
    """A group that sold E1 of its office M1 in the middle of January, and got these leads in that month."""
    given = warehouse()
    agents = [{"id": "U1", "name": "Åsa", "primary_office_customer_id": "M1"}]
    sold(given, "G1", "2026-01", "M1", "E1", agents=agents)
    held(given, "tips_and_leads", "G1", months)
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


def test_the_funnel_says_how_many_leads_became_sales_and_in_how_many_days() -> None:
    of_home = [lead(day, f"2026-01-{day:02}", estate_id="E1") for day in (5, 10)]
    given = with_leads(*of_home, lead(3, "2026-01-10"))
    counted = built(
        given, f"SELECT lead_count, estate_lead_count, sold_count, days_to_contract_total {COUNTED}"
    )
    assert counted == [(3, 2, 2, 15)]


def test_a_tip_answered_by_two_offices_counts_once_for_the_office_of_its_sender() -> None:
    given = warehouse()
    for office in ("M1", "M2"):
        sold(given, office, "2026-01", office, f"E{office}")
        held(given, "tips_and_leads", office, ["2026-01"])
        companies = {"sender_company_customer_number": "M2", "receiver_company_customer_number": "M1"}
        rows(given, "tips", office, "2026-01", [{"tip_id": "T1", **companies}])
    assert built(given, "SELECT office_id, _customer FROM marts.leads") == [("M2", "M2")]


def test_a_lead_of_a_company_that_is_no_office_of_ours_has_no_office() -> None:
    given = with_leads(lead(1, "2026-01-05", receiver_company_customer_number="S9"))
    assert built(given, "SELECT lead_id, office_id FROM marts.leads") == [("L1", None)]


def test_a_lead_to_an_office_belongs_to_no_user() -> None:
    receivers = enumerate(("U1", "FIR1"), start=1)
    given = with_leads(*(lead(number, "2026-01-05", receiver_id=id_) for number, id_ in receivers))
    found = built(given, "SELECT lead_id, user_name FROM marts.leads ORDER BY lead_id")
    assert found == [("L1", "Åsa"), ("L2", None)]


def test_a_held_month_without_a_lead_is_zero_and_one_that_is_not_held_is_absent() -> None:
    given = with_leads(lead(1, "2026-01-02", lead_state="New"), months=("2026-01", "2026-03"))
    counted = built(
        given, "SELECT month(month), way, lead_type, state, lead_count, sold_count FROM marts.lead_funnel"
    )
    nothing = [("outgoing lead", None, None, 0, 0), ("tip", None, None, 0, 0)]
    assert counted == [
        (1, "incoming lead", "Tips", "New", 1, 0), *((1, *one) for one in nothing),
        (3, "incoming lead", "Tips", "New", 0, 0), *((3, *one) for one in nothing),
    ]  # fmt: skip
