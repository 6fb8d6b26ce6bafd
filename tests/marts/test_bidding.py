"""The mart of bidding against a few written bids."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest

from tests.marts.given import Given, bidden, built, sold, warehouse


def bid(number: int, amount: str, contact: str = "C1", **more: object) -> dict[str, object]:
    made = datetime(2026, 1, number, 12)
    return {"id": f"B{number}", "amount": amount, "contact_id": contact, "created_at": made, **more}


@pytest.fixture
def home() -> Given:
    """A home that was sold for 120, asked for at 100."""
    given = warehouse()
    sold(given, "M1", "2026-01", "M1", "E1", starting_price=100, final_price=120)
    return given


def test_a_bidding_counts_bids_that_stand_and_who_made_them(home: Given) -> None:
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


def test_hidden_bids_are_unknown_until_requested_and_count_once(home: Given) -> None:
    hidden = "SELECT hidden_bid_count, hidden_bid_share, bid_count FROM marts.bidding"
    bidden(home, "E1", bid(1, "95"))
    assert built(home, hidden) == [(None, None, 1)]
    bidden(home, "E1", bid(1, "95"), bid(2, "99"), report="hidden_bids")
    assert built(home, hidden) == [(2, Decimal(1), 2)]


def test_a_home_without_bids_has_a_row_only_if_its_bids_were_requested(home: Given) -> None:
    sold(home, "M1", "2026-01", "M1", "E2")
    bidden(home, "E1")
    assert built(home, "SELECT estate_id, bid_count, first_bid FROM marts.bidding") == [("E1", 0, None)]


AMOUNTS = {
    "4 250 000 kr": 4250000,
    "4.250.000": 4250000,
    "4250000,50": Decimal("4250000.5"),
    "4\u00a0250\u00a0000 SEK": 4250000,
    "3 000 000:-": 3000000,
    "4,25 mkr": None,
    "": None,
}


def test_an_amount_is_read_as_people_write_it_or_not_at_all(home: Given) -> None:
    for number, written in enumerate(AMOUNTS, 2):
        sold(home, "M1", "2026-01", "M1", f"E{number}")
        bidden(home, f"E{number}", bid(number, written))
    found = built(home, "SELECT first_bid, unread_bid_count FROM marts.bidding ORDER BY estate_id")
    assert found == [(amount, int(amount is None)) for amount in AMOUNTS.values()]
