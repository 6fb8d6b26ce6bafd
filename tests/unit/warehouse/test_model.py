"""Loads in any order, compared with a few lines of plain Python."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, settings
from hypothesis import given as given_any
from hypothesis import strategies as st

from tests.unit.warehouse.given import FEBRUARY, JANUARY, MARCH, Given, hours, sales, users
from warehouse.ledger.window_result import WindowResult

EXAMPLES = settings().max_examples // 33  # each is a working file of its own
MONTHS = (JANUARY, FEBRUARY, MARCH)
CUSTOMERS = st.sampled_from(["M1", "M2"])
FETCHED = st.integers(0, 5)
ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2.5"])), max_size=3)
ANSWERS = st.dictionaries(st.sampled_from(MONTHS), ROWS, min_size=1, max_size=3)
SNAPSHOTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["Ann", "Bo"]), max_size=3)


def groups_of(answers: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    """Groups of loads, each of a customer, fetched this many hours after noon."""
    return st.lists(st.lists(st.tuples(CUSTOMERS, FETCHED, answers), min_size=1, max_size=4), max_size=4)


def in_order(groups: list[list[Any]]) -> list[list[Any]]:
    """The same loads under a clock that never goes back."""
    latest = 0
    ordered: list[list[Any]] = []
    for group in groups:
        ordered.append([])
        for customer, fetched, answer in group:
            latest = max(latest, fetched)
            ordered[-1].append((customer, latest, answer))
    return ordered


def newest_months(groups: list[list[Any]]) -> Counter[tuple[Any, ...]]:
    """The rule for months in plain Python: each month has the rows of the answer loaded last."""
    held: dict[tuple[str, date], list[tuple[str, str]]] = {}
    for customer, _, answer in (load for group in groups for load in group):
        held |= {(customer, month): rows for month, rows in answer.items()}
    found = ((who, when, *row) for (who, when), rows in held.items() for row in rows)
    return Counter((who, when, id_, float(price)) for who, when, id_, price in found)


def snapshots_as_of(groups: list[list[Any]], moment: float) -> Counter[tuple[str, str, str]]:
    """The rule for history in plain Python: the last snapshot until then."""
    latest = {
        customer: snapshot for group in groups for customer, fetched, snapshot in group if fetched <= moment
    }
    return Counter(
        (customer, id_, name) for customer, snapshot in latest.items() for id_, name in snapshot.items()
    )


@settings(max_examples=EXAMPLES)
@given_any(groups_of(ANSWERS))
@example([[("M1", 0, {JANUARY: [("a", "1"), ("b", "1")]})], [("M1", 0, {JANUARY: [("b", "2.5")]})]])  # again
@example(
    [[("M1", 1, {JANUARY: [("a", "1")]})], [("M1", 0, {JANUARY: [("b", "1")], MARCH: []})]]
)  # an earlier clock
@example(
    [[("M1", 0, dict.fromkeys(MONTHS, [("a", "1")] * 2))], [("M1", 1, {MARCH: []}), ("M2", 1, {MARCH: []})]]
)
def test_months_have_the_answers_loaded_last(groups: list[list[Any]]) -> None:
    with TemporaryDirectory() as folder:
        given = Given(Path(folder))
        for place, group in enumerate(groups):
            given.load([sale(f"{place}.{number}", *one) for number, one in enumerate(group)])
        found = given.rows("SELECT _customer, _month, id, price::DOUBLE FROM bi.sales")
        assert Counter(found) == newest_months(groups)
        assert given.rows("SELECT count(*) = count(DISTINCT _row) FROM bi.sales") == [(True,)]


@settings(max_examples=EXAMPLES)
@given_any(groups_of(SNAPSHOTS))
@example([[("M1", 0, {"a": "Ann", "b": "Bo"})], [("M1", 1, {"a": "Ann", "b": "Bob"})]])  # one changes
@example([[("M1", 0, {"a": "Ann"})], [("M1", 1, {})], [("M1", 2, {"a": "Ann"})]])  # goes and comes back
def test_history_returns_the_snapshot_of_any_moment(groups: list[list[Any]]) -> None:
    groups = in_order(groups)
    with TemporaryDirectory() as folder:
        given = Given(Path(folder))
        for place, group in enumerate(groups):
            given.load([user(f"{place}.{number}", *one) for number, one in enumerate(group)])
        with given.store.reading() as file:
            for moment in (-0.5, 0, 1, 2, 3.5, 5):
                as_of = f"SELECT _customer, id, name FROM bi.users_as_of(TIMESTAMP '{hours(moment):%F %T}')"
                assert Counter(file.execute(as_of).fetchall()) == snapshots_as_of(groups, moment)
            backwards = "FROM bi.users_history WHERE valid_to_utc < valid_from_utc"
            assert file.execute(backwards).fetchall() == []


def sale(
    load_id: str, customer: str, fetched: float, answer: dict[date, list[tuple[str, str]]]
) -> WindowResult:
    rows = [(month, id_, price) for month, found in answer.items() for id_, price in found]
    return sales(load_id, *rows, customer=customer, fetched=hours(fetched), months=tuple(answer))


def user(load_id: str, customer: str, fetched: float, snapshot: dict[str, str]) -> WindowResult:
    return users(load_id, snapshot, customer=customer, fetched=hours(fetched))
