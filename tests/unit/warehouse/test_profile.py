"""The profile of stored rows: how many have each declared column."""

from __future__ import annotations

from collections import Counter
from datetime import date

from tests.unit.warehouse.given import FEBRUARY, JANUARY, MARCH, Given, column_load, hours, sales, users
from warehouse.ledger.ledger import Pair
from warehouse.load.profile import Profiles, TableProfile, read_profiles

SALES, USERS = ("sales", "M1"), ("users", "M1")


def profiles(given: Given, pair: Pair, *months: date | None) -> Profiles:
    found: dict[Pair, Profiles] = given.read(read_profiles, {pair: months})
    return found[pair]


def test_documented_columns_are_counted_by_requested_month(given: Given) -> None:
    rows = [(JANUARY, "a", "0"), (JANUARY, "b", "2"), (FEBRUARY, "c", "3"), (MARCH, "d", "4")]
    given.load(
        [sales("1", *rows, months=(JANUARY, FEBRUARY, MARCH)), column_load("2", "BIGINT", 1, customer="M2")]
    )
    assert profiles(given, SALES, JANUARY, FEBRUARY) == {
        JANUARY: {"sales": TableProfile(2, Counter(id=2, price=2))},
        FEBRUARY: {"sales": TableProfile(1, Counter(id=1, price=1))},
    }


def test_only_the_current_rows_of_a_history_are_counted(given: Given) -> None:
    given.load([users("1", {"u1": "Ann", "u2": "Bo"})])
    given.load([users("2", {"u1": "Ann"}, fetched=hours(1), offices=[(0, "A")])])
    offices = TableProfile(1, Counter(office=1), is_nested=True)
    found = {"users": TableProfile(1, Counter(id=1, name=1)), "users__offices": offices}
    assert profiles(given, USERS, None) == {None: found}
