"""Marts of bidding, areas and demand against a few written rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import bidden, built, snapshot, sold, warehouse


def bid(number: int, amount: str, contact: str = "C1", **more: object) -> dict[str, object]:
    made = datetime(2026, 1, number, 12)
    return {"id": f"B{number}", "amount": amount, "contact_id": contact, "created_at": made, **more}


@pytest.fixture
def home() -> DuckDBPyConnection:
    """A home that was sold for 120, asked for at 100."""
    given = warehouse()
    sold(given, "M1", "2026-01", "M1", "E1", starting_price=100, final_price=120)
    return given


def test_a_bidding_counts_bids_that_stand_and_who_made_them(home: DuckDBPyConnection) -> None:
    bidden(
        home,
        "E1",
        bid(1, "95"),
        bid(3, "110", "C2"),
        bid(4, "150", "C3", is_canceled=True),
        bid(5, "120", ""),
    )
    shown = "bid_count, bidder_count, canceled_bid_count, first_bid, highest_bid, bidding_days"
    found = built(home, f"SELECT {shown}, first_bid_to_final_price FROM marts.bidding")
    assert found == [(3, 2, 1, Decimal(95), Decimal(120), 4, Decimal(25))]


def test_hidden_bids_are_unknown_until_they_are_asked_for_and_count_once(home: DuckDBPyConnection) -> None:
    hidden = "SELECT hidden_bid_count, hidden_bid_share, bid_count FROM marts.bidding"
    bidden(home, "E1", bid(1, "95"))
    assert built(home, hidden) == [(None, None, 1)]
    bidden(home, "E1", bid(1, "95"), bid(2, "99"), report="hidden_bids")
    assert built(home, hidden) == [(2, Decimal(1), 2)]


def test_a_home_that_was_asked_for_and_has_no_bid_is_there_and_one_that_was_not_asked_for_is_not(
    home: DuckDBPyConnection,
) -> None:
    sold(home, "M1", "2026-01", "M1", "E2")
    bidden(home, "E1")
    assert built(home, "SELECT estate_id, bid_count, first_bid FROM marts.bidding") == [("E1", 0, None)]


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("4 250 000 kr", 4250000),
        ("4.250.000", 4250000),
        ("4250000,50", Decimal("4250000.5")),
        ("4\u00a0250\u00a0000 SEK", 4250000),
        ("3 000 000:-", 3000000),
        ("4,25 mkr", None),
        ("", None),
    ],
)
def test_an_amount_is_read_as_people_write_it_or_not_at_all(
    home: DuckDBPyConnection, written: str, amount: object
) -> None:
    bidden(home, "E1", bid(1, written))
    assert built(home, "SELECT first_bid, unread_bid_count FROM marts.bidding") == [(amount, amount is None)]


SQUARE = [(18, 59), (19, 59), (19, 60), (18, 60)]
NOTCHED = [(18, 59), (19, 59), (18.5, 59.5), (19, 60), (18, 60)]


def outlined(corners: Sequence[tuple[float, float]]) -> str:
    return json.dumps([{"Longitud": east, "latitud": north} for east, north in corners])


def area(name: str, corners: Sequence[tuple[float, float]], **more: object) -> dict[str, object]:
    return {"asked_customer_id": "M1", "area_id": name, "polygon_wgs84": outlined(corners), **more}


def at(east: float, north: float) -> dict[str, Any]:
    return {"wgs84_coordinate_longitud": east, "wgs84_coordinate_latitud": north}


def test_a_home_counts_in_the_areas_of_its_office_that_it_lies_in() -> None:
    given = warehouse()
    sold(given, "M1", "2026-01", "M1", "E1", final_price=100, **at(18.9, 59.5))
    sold(given, "M1", "2026-01", "M1", "E2", final_price=300, **at(18.2, 59.5))
    sold(given, "M1", "2026-01", "M1", "E3", **at(17.9, 59.5))
    sold(given, "M1", "2026-01", "M1", "E4")
    sold(given, "M1", "2026-01", "M2", "E5", **at(18.2, 59.5))
    snapshot(given, "areas", [area("A", SQUARE), area("B", NOTCHED), area("C", SQUARE, archived=True)])
    shown = "area_id, month, sale_count, average_price, office_sale_count, office_located_sale_count"
    assert built(given, f"SELECT {shown} FROM marts.area_month") == [
        ("A", date(2026, 1, 1), 2, Decimal(200), 4, 3),
        ("B", date(2026, 1, 1), 1, Decimal(300), 4, 3),
    ]


def test_an_area_without_an_outline_has_no_homes() -> None:
    given = warehouse()
    sold(given, "M1", "2026-01", "M1", "E1", **at(18.5, 59.5))
    snapshot(given, "areas", [area("A", []), {**area("B", []), "polygon_wgs84": None}])
    assert built(given, "FROM marts.area_month") == []


def test_demand_counts_contacts_by_area_and_price_as_long_as_their_profiles_are_valid() -> None:
    given = warehouse()
    common = {"asked_customer_id": "M1", "_fetched_at_utc": datetime(2026, 6, 1)}
    profiles = [
        {"id": "1", "asked_contact_id": "C1", "area_ids": '["A", "B"]', "price_max_value": 2_500_000},
        {"id": "2", "asked_contact_id": "C1", "area_ids": '["A"]', "price_max_value": 3_000_000},
        {"id": "3", "asked_contact_id": "C2", "area_ids": "[]", "is_automatic_profile": True},
        {"id": "4", "asked_contact_id": "C3", "area_ids": '["A"]', "valid_to": datetime(2026, 5, 31)},
    ]
    snapshot(given, "search_profiles", [{**common, **one} for one in profiles])
    shown = "area_id, price_class, contact_count, profile_count, automatic_profile_count"
    assert built(given, f"SELECT {shown} FROM marts.demand ORDER BY ALL") == [
        ("A", 3, 1, 2, 0),
        ("B", 3, 1, 1, 0),
        (None, None, 1, 1, 1),
    ]
