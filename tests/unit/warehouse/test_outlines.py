"""Does the outline say what the ledger says, and say it once for all customers alike?"""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from tests.unit.warehouse.given import FEBRUARY, JANUARY, NOON, Given, hours, sales, users
from warehouse.changes import ANSWERED, Changed, Probe
from warehouse.ledger import Cap
from warehouse.outlines import HeldBriefly, read_rows
from warehouse.store import Store

BOTH = (JANUARY, FEBRUARY)


def filled(data_dir: Path, *customers: str) -> Store:
    """January held and February open for each customer, fetched a minute after the other."""
    store = Given(data_dir).store
    for number, customer in enumerate(customers, 1):
        fetched = NOON + timedelta(minutes=number)
        more = {"customer": customer, "months": BOTH, "open_months": frozenset({FEBRUARY})}
        store.load([sales(customer, (JANUARY, "1", "1"), fetched=fetched, **more)])
    return store


def test_the_outline_tells_when_each_month_was_asked_to_the_quarter_of_an_hour(tmp_path: Path) -> None:
    assert filled(tmp_path, "M1").outline().held == {
        ("sales", "M1"): {JANUARY: HeldBriefly(NOON, "held"), FEBRUARY: HeldBriefly(NOON, "open")}
    }


def test_customers_of_whom_the_same_is_held_share_one_mapping(tmp_path: Path) -> None:
    held = filled(tmp_path, "M1", "M2", "M3").outline().held
    assert (len(held), len({id(months) for months in held.values()})) == (3, 1)


def test_a_report_without_months_stands_under_none(tmp_path: Path) -> None:
    store = Given(tmp_path).store
    store.load([users("a", {"1": "Ann"})])
    assert store.outline().held == {("users", "M1"): {None: HeldBriefly(NOON, "held")}}


def test_the_time_is_exact_where_a_change_was_noticed(tmp_path: Path) -> None:
    store = filled(tmp_path, "M1", "M2")
    probe = Probe("p", "run", "M2", "sales", JANUARY, FEBRUARY, 1, 1, 0.1, hours(1), ANSWERED, "", "", 1, "")
    store.remember_probe(probe, [Changed("sales", "M2", JANUARY, hours(1), hours(1), 1, "p")])
    held = store.outline().held
    asked = [held["sales", name][JANUARY].fetched_at_utc for name in ("M1", "M2")]
    assert asked == [NOON, NOON + timedelta(minutes=2)]


def test_all_else_is_what_the_ledger_says(tmp_path: Path) -> None:
    store = filled(tmp_path, "M1")
    store.deny("users", "M1", NOON)
    store.remember_cap("sales", "M1", Cap(days=14))
    ledger, outline = asdict(store.ledger()), asdict(store.outline())
    del ledger["months"], outline["held"]
    assert outline == ledger


def test_rows_are_counted_of_the_pairs_that_are_asked_about(tmp_path: Path) -> None:
    store = filled(tmp_path, "M1", "M2")
    store.load([users("a", {"1": "Ann"})])
    with store.reading() as connection:
        counted = read_rows(connection, [("sales", "M1"), ("users", "M1"), ("sales", "M9")])
    held = {key: one.rows for key, one in store.ledger().months.items()}
    assert {(*pair, month): rows for pair, months in counted.items() for month, rows in months.items()} == {
        key: rows for key, rows in held.items() if key[1] == "M1"
    }
