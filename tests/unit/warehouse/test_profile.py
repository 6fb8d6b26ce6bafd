"""The profile of what is held: what is filled, and rows by which amounts are known again."""

from __future__ import annotations

from datetime import date

from tests.unit.warehouse.given import FEBRUARY, JANUARY, MARCH, Given, column_load, hours, sales, users
from warehouse.ledger.ledger import Pair
from warehouse.load.profile import TABLE_ROWS, HeldTable, read_profiles

SALES, USERS = ("sales", "M1"), ("users", "M1")


def profiles(given: Given, pair: Pair, *months: date | None) -> dict[str, HeldTable]:
    found: dict[Pair, dict[str, HeldTable]] = given.read(read_profiles, {pair: months})
    return found[pair]


def test_documented_columns_are_counted_in_the_months_asked_for(given: Given) -> None:
    rows = [(JANUARY, "a", "0"), (JANUARY, "b", "2"), (FEBRUARY, "c", "3"), (MARCH, "d", "4")]
    given.load(
        [sales("1", *rows, months=(JANUARY, FEBRUARY, MARCH)), column_load("2", "BIGINT", 1, customer="M2")]
    )
    held = profiles(given, SALES, JANUARY, FEBRUARY)["sales"]
    assert (held.rows, held.filled, held.nonzero) == (3, {"id": 3, "price": 3}, {"price": 2})


def test_rows_with_an_amount_are_kept_by_their_key_and_no_more_than_so_many(given: Given) -> None:
    given.load([sales("1", (JANUARY, "a", "0"), (JANUARY, "b", "2.5"))])
    held = profiles(given, SALES, JANUARY)["sales"]
    assert (held.identity, held.sample.rows()) == (["id"], [("M1", JANUARY, "b", 2.5)])
    given.load([sales("2", *((FEBRUARY, f"{number}", "1") for number in range(6000)), months=(FEBRUARY,))])
    assert profiles(given, SALES, FEBRUARY)["sales"].sample.height == TABLE_ROWS


def test_of_a_history_only_what_is_so_now_is_counted(given: Given) -> None:
    given.load([users("1", {"u1": "Ann", "u2": "Bo"})])
    given.load([users("2", {"u1": "Ann"}, fetched=hours(1))])
    held = profiles(given, USERS, None)
    assert {name: (one.rows, one.filled) for name, one in held.items()} == {
        "users": (1, {"id": 1, "name": 1})
    }


def test_of_what_holds_no_rows_there_is_no_profile(given: Given) -> None:
    assert profiles(given, SALES, JANUARY) == {}
