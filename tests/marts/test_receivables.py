"""What is signed, due and received, of single sales."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pipelines.upkeep.export import workbook_contents
from tests.marts.given import Given, asked_for, built, sold, warehouse
from warehouse.store.meta_schema import write_configured

Days = dict[str, Any]
APRIL = datetime(2026, 4, 10, 3)
STATES: dict[str, tuple[Days, tuple[object, ...]]] = {
    "before possession": ({"access_day": "2026-05-01"}, ("signed", 100, 0, None, None)),
    "after it": ({"access_day": "2026-04-01"}, ("due", 100, 100, 9, None)),
    "no possession": ({}, ("possession not known", 100, 0, None, None)),
    "received": (
        {"access_day": "2026-04-01", "commission_received_at": "2026-04-05"},
        ("received", 0, 0, None, 4),
    ),
    "received early": (
        {"access_day": "2026-05-01", "commission_received_at": "2026-04-05"},
        ("received", 0, 0, None, -26),
    ),
    "to be received": (
        {"access_day": "2026-04-01", "commission_received_at": "2026-05-05"},
        ("due", 100, 100, 9, None),
    ),
}
AGES: dict[str, tuple[Days, tuple[object, ...]]] = {
    "yesterday": ({"access_day": "2026-04-09"}, ("1-30 days", 3)),
    "today": ({"access_day": "2026-04-10"}, ("not yet due", 4)),
    "30 days": ({"access_day": "2026-03-11"}, ("1-30 days", 3)),
    "31 days": ({"access_day": "2026-03-10"}, ("31-60 days", 2)),
    "61 days": ({"access_day": "2026-02-08"}, ("over 60 days", 1)),
    "not known": ({}, ("possession not known", 5)),
    "received": ({"access_day": "2026-02-08", "commission_received_at": "2026-04-05"}, (None, None)),
}


def receivables(cases: Mapping[str, tuple[Days, tuple[object, ...]]], shown: str) -> dict[object, object]:
    """The shown columns of a sale for each case, by its name, as read on the tenth of April."""
    given = warehouse()
    for name, (days, _) in cases.items():
        sold(given, "G1", "2026-01", "M1", name, at_utc=APRIL, **days)
    return {
        name: tuple(row) for name, *row in built(given, f"SELECT estate_id, {shown} FROM marts.receivables")
    }


def test_a_commission_is_signed_then_due_then_received() -> None:
    amounts = "outstanding_commission, due_commission, days_due, days_from_possession_to_receipt"
    assert receivables(STATES, f"state, {amounts}") == {name: told for name, (_, told) in STATES.items()}


def test_what_is_outstanding_has_an_age() -> None:
    found = receivables(AGES, "age_band, age_band_number")
    assert found == {name: band for name, (_, band) in AGES.items()}


def test_an_office_that_notes_no_receipt_is_marked_and_not_in_the_workbook(given: Given) -> None:
    received_of: dict[str, Days] = {"M1": {"commission_received_at": "2026-02-01"}, "M2": {}}
    for office, received in received_of.items():
        for place in ("first", "second"):
            of_first = received if place == "first" else {}
            sold(given, office, "2026-01", office, f"{office} {place}", at_utc=APRIL, **of_first)
    shown = "office_id, is_receipt_noted, sum(outstanding_commission)"
    found = built(given, f"SELECT {shown} FROM marts.receivables GROUP BY ALL")
    assert sorted(found) == [("M1", True, Decimal(100)), ("M2", False, Decimal(200))]
    [sheet] = [sheet for sheet in workbook_contents()["sheets"] if sheet["table"] == "marts.receivables"]
    rows_of_sheet = given.sql(f"SELECT estate_id FROM marts.receivables WHERE {sheet['where']}").fetchall()
    assert rows_of_sheet == [("M1 second",)]


def test_nothing_falls_due_at_an_office_that_nobody_asks_any_more(given: Given) -> None:
    for office in ("M1", "M2"):
        sold(given, office, "2026-01", office, f"E {office}", at_utc=APRIL, access_day="2026-05-01")
    sold(given, "M1", "2026-02", "M1", "E later", at_utc=datetime(2026, 6, 10, 3), access_day="2026-07-01")
    asked_for(given, "M1", M2="off")
    shown = "office_id, state, counted_on, is_refreshed"
    found = sorted(built(given, f"SELECT {shown} FROM marts.receivables WHERE month = '2026-01-01'"))
    june, april = date(2026, 6, 10), APRIL.date()
    assert found == [("M1", "due", june, True), ("M2", "signed", april, False)]


def test_what_is_due_is_counted_to_the_day_where_the_chain_is(given: Given) -> None:
    write_configured(given, "clock", [{"timezone": "Europe/Stockholm"}])
    sold(given, "M1", "2026-01", "M1", "E1", at_utc=datetime(2026, 4, 10, 23), access_day="2026-04-10")
    found = built(given, "SELECT counted_on, state, days_due FROM marts.receivables")
    assert found == [(date(2026, 4, 11), "due", 1)]
