"""Marts of the life of a sale: intake, valuation, price, days on the market, money, and who earns it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest

from tests.marts.given import Given, Row, asked_for, built, earned, held, loaded, month, rows, sold, warehouse


@pytest.mark.parametrize("sale_count", [24, 25])
def test_prices_and_days_on_the_market_are_stated_from_25_sales_on(given: Given, sale_count: int) -> None:
    asked_for(given, "M1")
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 1)])
    for number in range(sale_count):
        name, price = f"E{number}", 90 + number
        sold(given, "M1", "2026-01", "M1", name, type_text="Villa", starting_price=100, final_price=price)
        listed = {"id": name, "advertised_at": datetime(2025, 12, 4 + number)}
        rows(given, "sold_estates", "M1", "2026-01", [listed])
    sold(given, "M1", "2026-01", "M1", "NEW", is_new_home=True, starting_price=100, final_price=900)
    shown = "sale_count, price_change_share, above_asking_share, days_on_market, sold_within_30_days_share"
    found = built(given, f"SELECT DISTINCT level, estate_type, {shown} FROM marts.market ORDER BY ALL")
    numbers = (25, Decimal("0.02"), Decimal("0.56"), Decimal(30), Decimal("0.52"))
    levels = [(level, kind) for level in ("brand", "chain", "office", "region") for kind in ("Villa", None)]
    assert found == [(*level, *numbers) for level in levels if sale_count == 25]


def test_an_intake_source_has_its_homes_commission_and_prices(given: Given) -> None:
    for estate, source in (("E1", "Visning"), ("E2", "Visning"), ("E3", None)):
        sold(given, "M1", "2026-01", "M1", estate, intake_source_text=source, final_price=1000)
    found = built(given, "SELECT intake_source, home_count, commission, final_price FROM marts.intake_month")
    assert found == [("Visning", 2, 200, 2000), (None, 1, 100, 1000)]


def test_a_sender_of_leads_has_its_leads_homes_and_sales(given: Given) -> None:
    sold(given, "M1", "2026-01", "M1", "E1")
    held(given, "tips_and_leads", "M1", ["2026-01"])
    asked = {"sender_name": "Hemnet", "created_at": datetime(2026, 1, 1), "lead_state": "New"}
    leads = [{**asked, "lead_id": "L1", "estate_id": "E1"}, {**asked, "lead_id": "L2", "lead_state": "Done"}]
    rows(given, "incoming_leads", "M1", "2026-01", leads)
    shown = "office_id, sender_name, lead_count, new_lead_count, home_count, sold_count"
    assert built(given, f"SELECT {shown} FROM marts.lead_sources") == [("M1", "Hemnet", 2, 1, 1, 1)]


@pytest.mark.parametrize("unsold_count", [1, None])
def test_a_funnel_has_valuations_registered_and_unsold_homes_and_sales(unsold_count: int | None) -> None:
    given = warehouse()
    asked_for(given, "M1")
    total = earned({"office_customer_id": "M1"}, 100, valuation_parts=3)
    loaded(given, "commission_office", "M1", "2026-01", [total])
    sold(given, "M1", "2026-01", "M1", "E1")
    load_id = held(given, "estates_by_creation", "M1", ["2026-01"])
    contract = None if unsold_count else month("2026-01")
    homes: list[Row] = [{"id": "E1"}, {"id": "E2", "contract_day": contract}]
    entered = [{**home, "office_customer_id": "M1"} for home in homes]
    rows(given, "estates_by_creation_estates", "M1", "2026-01", entered, load_id=load_id)
    shown = "earner_id, valuation_parts::INT, registered_count, unsold_count, sold_estate_parts::INT"
    assert built(given, f"SELECT {shown} FROM marts.funnel_month") == [("M1", 3, 2, unsold_count, 1)]


def test_commission_is_in_the_month_of_possession(given: Given) -> None:
    february, received_at = month("2026-02"), datetime(2026, 2, 3)
    sold(given, "M1", "2026-01", "M1", "E1", access_day=february, commission_received_at=received_at)
    sold(given, "M1", "2026-01", "M1", "E2", access_day=month("2026-03"))
    sold(given, "M1", "2026-01", "M1", "E3", access_day=month("2026-07"))
    shown = "strftime(access_month, '%m'), state, home_count, commission, late_commission"
    assert built(given, f"SELECT {shown} FROM marts.money_calendar") == [
        ("02", "received", 1, 100, 0),
        ("03", "due", 1, 100, 100),
        ("07", "signed", 1, 100, 0),
    ]


def test_a_user_who_earned_in_both_years_stayed(given: Given) -> None:
    asked_for(given, "M1")
    for year, amounts in ((2026, {"U1": 10, "U2": 20}), (2027, {"U1": 30, "U3": 40})):
        for number in range(1, 13):
            of_month = f"{year}-{number:02d}"
            loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 1)])
            found = [earned({"user_id": user}, amount) for user, amount in amounts.items()]
            loaded(given, "commission_user", "M1", of_month, found if number == 12 else [])
    shown = "earner_count, earlier_count, stayed_count, commission, joined_commission, left_commission"
    query = f"SELECT level, {shown}, top_ten_share FROM marts.retention_month WHERE level = 'chain'"
    assert built(given, query) == [("chain", 2, 2, 1, 70, 40, 20, None)]


def test_a_joiner_is_followed_from_the_first_month_of_work(given: Given) -> None:
    asked_for(given, "M1")
    for of_month, amounts in (("2026-01", {"U1": 5}), ("2026-02", {"U2": 10}), ("2026-03", {"U2": 30})):
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 1)])
        found = [earned({"user_id": user}, amount) for user, amount in amounts.items()]
        loaded(given, "commission_user", "M1", of_month, found)
    shown = "strftime(joined_month, '%m'), months_since, joined_count, active_count, commission"
    assert built(given, f"SELECT {shown} FROM marts.joiner_ramp") == [
        ("02", 0, 1, 1, 10),
        ("02", 1, 1, 1, 30),
    ]
