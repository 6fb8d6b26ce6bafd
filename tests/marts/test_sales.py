"""Marts of sales, shares, offices, users and overlapping customers against a few written rows."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.marts.given import Given, built, earned, held, loaded, rows, sold, warehouse
from warehouse.marts.queries import SQL

TWO_AGENTS = [
    {"id": "U1", "name": "Åsa", "primary_office_customer_id": "M1", "responsible": True,
     "commission_value": 60, "commission_percentage_of_total": 60},
    {"id": "U2", "name": "Bo", "primary_office_customer_id": "M2", "responsible": False,
     "commission_value": 40, "commission_percentage_of_total": 40},
]  # fmt: skip


def test_a_sale_names_its_agents_the_responsible_one_first(given: Given) -> None:
    sold(given, "G1", "2026-01", "M1", "E1", agents=[TWO_AGENTS[1], TWO_AGENTS[0]])
    found = built(given, "SELECT agents, responsible_user_id, agent_count, agent_share FROM marts.sales")
    assert found == [("Åsa, Bo", "U1", 2, Decimal(1))]


def test_a_sale_knows_its_days_from_listing_where_the_sold_estates_know_when_it_was_advertised() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1")
    sold(given, "G1", "2026-01", "M1", "E2")
    listed = {"id": "E1", "advertised_at": datetime(2026, 1, 5, 23, 30)}
    rows(given, "sold_estates", "G1", "2026-01", [listed])
    found = built(given, "SELECT estate_id, listed_on, days_from_listing_to_contract FROM marts.sales")
    assert found == [("E1", date(2026, 1, 5), 10), ("E2", None, None)]


def test_a_sale_counts_the_changes_of_price_or_commission_after_it_was_sold(given: Given) -> None:
    price = {"final_price": 2000}
    changes = [
        {"changed_at": datetime(2026, 1, 1), "commission": 0},
        {"changed_at": datetime(2026, 1, 15), "commission": 100, **price},
        {"changed_at": datetime(2026, 2, 1), "commission": 100, **price, "status_text": "Tillträdd"},
        {"changed_at": datetime(2026, 3, 1), "commission": 90, **price},
    ]
    sold(given, "G1", "2026-01", "M1", "E1", changes=changes)
    found = built(given, "SELECT restatement_count, first_commission, last_restated_at FROM marts.sales")
    assert found == [(1, Decimal(100), datetime(2026, 3, 1))]


def test_a_sale_that_moved_to_another_month_counts_in_the_younger_answer(given: Given) -> None:
    sold(given, "G1", "2026-01", "M1", "E1", at_utc=datetime(2026, 2, 1))
    sold(given, "G1", "2026-02", "M1", "E1", at_utc=datetime(2026, 3, 1))
    assert built(given, "SELECT estate_id, strftime(month, '%m') FROM marts.sales") == [("E1", "02")]


@pytest.mark.parametrize("order", [("M1", "M2", "M3"), ("M3", "M2", "M1")])
def test_a_sale_of_several_offices_counts_at_the_same_one_in_any_order(order: tuple[str, ...]) -> None:
    given = warehouse()
    for asked in order:
        for estate, responsible in (("first", None), ("responsible", "M2"), ("changed", "M2")):
            day = 2 if (estate, asked) == ("changed", "M3") else 1
            agent = {"id": "U1", "primary_office_customer_id": responsible, "responsible": True}
            changed_at = datetime(2026, 2, day)
            sold(given, asked, "2026-01", asked, estate, changed_at=changed_at, agents=[agent])
    found = built(given, "SELECT estate_id, office_id FROM marts.sales ORDER BY ALL")
    assert found == [("changed", "M3"), ("first", "M1"), ("responsible", "M2")]


def test_a_row_is_a_sale_unless_its_assignment_is_called_a_valuation_or_a_writing(given: Given) -> None:
    sales = ("none", "Försäljning", "Sale after valuation", "Uthyrning")
    others = ("Värdering", "VALUATION", "Skrivning", "Kontraktsskrivning", "Writing")
    for kind in (*sales, *others):
        named = None if kind == "none" else kind
        sold(given, "G1", "2026-01", "M1", kind, assignment_text=named, final_price=1000)
    assert {kind for (kind,) in built(given, "SELECT estate_id FROM marts.sales")} == {*sales}


def test_a_home_that_was_valued_before_it_was_sold_is_sold_once(given: Given) -> None:
    sold(given, "G1", "2026-02", "M1", "E1")
    sold(given, "G1", "2026-01", "M1", "E1", assignment_text="Värdering")
    assert built(given, "SELECT month(month) FROM marts.sales") == [(2,)]
    assert built(given, (SQL / "checks/sales_stand_in_one_month.sql").read_text()) == []


def test_a_foreign_sale_keeps_its_currency_and_its_rate(given: Given) -> None:
    sold(
        given, "G1", "2026-01", "M1", "E1",
        currency_code="EUR", currency_exchange_rate=11.5, final_price_foreign=100, final_price=1150,
    )  # fmt: skip
    found = built(given, "SELECT currency_code, final_price, final_price_foreign FROM marts.sales")
    assert found == [("EUR", Decimal(1150), Decimal(100))]


def test_a_share_is_the_agents_part_of_commission_and_price_and_says_if_the_office_is_another() -> None:
    given = warehouse()
    sold(given, "G1", "2026-01", "M1", "E1", final_price=2000, agents=TWO_AGENTS)
    sold(given, "G1", "2026-01", "M1", "E2", agents=TWO_AGENTS[:1])
    shown = "user_id, commission, commission_share, final_price_part, is_cross_office"
    found = built(given, f"SELECT {shown} FROM marts.sale_shares WHERE estate_id = 'E1'")
    assert found == [
        ("U1", 60, Decimal("0.6"), 1200, False), ("U2", 40, Decimal("0.4"), 800, True),
    ]  # fmt: skip
    shared = built(given, "SELECT estate_id, is_shared_between_offices FROM marts.sales ORDER BY 1")
    assert shared == [("E1", True), ("E2", False)]


def test_offices_and_users_are_known_by_name(given: Given) -> None:
    loaded(given, "commission_office", "G1", "2026-01", [earned({"office_customer_id": "M2"}, 1)])
    sold(given, "G1", "2026-01", "M1", "E1", office_name="Ekbacken", agents=TWO_AGENTS)
    names = built(given, "SELECT office_id, office_name FROM marts.offices")
    assert names == [("M1", "Ekbacken"), ("M2", None)]
    assert built(given, "SELECT user_id, user_name FROM marts.users") == [("U1", "Åsa"), ("U2", "Bo")]


def test_a_user_whom_the_directory_does_not_name_is_named_by_another_report(given: Given) -> None:
    users = [{"user_id": user, "commission": 5} for user in ("U1", "U2", "U3", "U4", "U5")]
    loaded(given, "commission_user", "M1", "2026-01", users)
    sold(given, "M1", "2026-01", "M1", "E1", agents=[{"id": "U1", "name": "Sale"}])
    leads = [{"lead_id": user, "receiver_id": user, "receiver_name": "Lead"} for user in ("U1", "U2")]
    rows(given, "incoming_leads", "M1", "2026-01", leads)
    rows(given, "outgoing_leads", "M1", "2026-01", [{"user_id": "U3", "user_name": " Lead "}])
    budget = {"user_id": "U4", "user_name": "Budget"}
    rows(given, "budget_commission_history", "M1", "2026-01", [budget])
    found = built(given, "SELECT user_id, user_name, name_source, user_label FROM marts.users ORDER BY 1")
    assert found == [
        ("U1", "Sale", "sale", "Sale"),
        ("U2", "Lead", "lead", "Lead (U2)"),
        ("U3", "Lead", "lead", "Lead (U3)"),
        ("U4", "Budget", "budget", "Budget"),
        ("U5", None, None, "U5"),
    ]


def test_users_of_the_same_name_are_told_apart_by_their_office_or_else_their_id(given: Given) -> None:
    agents = [
        {"id": user, "name": name, "primary_office_name": office}
        for user, name, office in (
            ("U1", "Åsa Ek", "Ekbacken"), ("U2", "Åsa Ek", "Torget"), ("U3", "Bo Al", "Torget"),
            ("U4", "Bo Al", "Torget"), ("U5", "Bo Al", "Ekbacken"),
        )
    ]  # fmt: skip
    sold(given, "G1", "2026-01", "M1", "E1", agents=agents)
    assert built(given, "SELECT user_label FROM marts.users ORDER BY user_id") == [
        ("Åsa Ek (Ekbacken)",), ("Åsa Ek (Torget)",), ("Bo Al (U3)",), ("Bo Al (U4)",), ("Bo Al (Ekbacken)",)
    ]  # fmt: skip


def test_two_customers_that_answer_for_the_same_office_overlap(given: Given) -> None:
    offices = [earned({"office_customer_id": office}, 1) for office in ("M1", "M2", "M3")]
    loaded(given, "commission_office", "G1", "2026-01", offices[:2])
    loaded(given, "commission_office", "G2", "2026-01", offices[1:])
    loaded(given, "commission_office", "M1", "2026-01", offices[:1])
    held(given, "commission_user", "G1", ["2026-01"])
    pairs = "customer_id, yielding_customer_id, is_contained"
    found = built(given, f"SELECT {pairs} FROM marts.customer_overlaps")
    assert found == [("G1", "G2", False), ("G1", "M1", True)]


def test_a_user_with_equal_amounts_in_two_offices_is_named_as_perhaps_counted_twice(given: Given) -> None:
    for office in ("M1", "M2"):
        loaded(given, "commission_office", office, "2026-01", [earned({"office_customer_id": office}, 7)])
    for month, amounts in (("2026-01", (70, 70)), ("2026-02", (70, 5)), ("2026-03", (0, 0))):
        for office, amount in zip(("M1", "M2"), amounts, strict=True):
            user = earned({"user_id": "U1"}, amount, parts=amount and 1)
            loaded(given, "commission_user", office, month, [user])
    shown = "month(month), customers, commission, largest_commission, has_equal_amounts"
    found = built(given, f"SELECT {shown} FROM marts.users_added_up")
    assert found == [
        (1, "M1, M2", Decimal(140), Decimal(70), True),
        (2, "M1, M2", Decimal(75), Decimal(70), False),
        (3, "M1, M2", Decimal(0), Decimal(0), False),
    ]


@pytest.mark.parametrize(("day", "left_out"), [("2026-02-15", [("1", "M2", "M1")]), ("2026-01-15", [])])
def test_a_sale_of_another_day_and_price_under_the_estate_id_of_another_office_is_left_out(
    given: Given, day: str, left_out: list[tuple[str, ...]]
) -> None:
    sold(given, "M1", "2026-01", "M1", "1", final_price=1000)
    sold(given, "M2", "2026-02", "M2", "1", final_price=2000, contract_day=day)
    shown = "SELECT estate_id, office_id, counted_office_id FROM marts.ambiguous_estates"
    assert built(given, shown) == left_out
