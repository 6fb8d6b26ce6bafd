"""Loads in any order, compared with a few lines of plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duckdb import DuckDBPyConnection
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from tests.unit.warehouse.given import FEBRUARY, JANUARY, MARCH, Given, hours, sales, users
from warehouse.window_result import WindowResult

MONTHS = (JANUARY, FEBRUARY, MARCH)
CUSTOMERS = st.sampled_from(["M1", "M2"])
EXAMPLES = settings().max_examples // 16  # each is a working file of its own
FETCHED = st.integers(0, 5)


@dataclass
class Months:
    """Replacing months, said plainly: of every month the rows of the answer fetched last."""

    rows: dict[tuple[str, date], tuple[float, list[tuple[str, str]]]] = field(default_factory=dict)

    def load(self, customer: str, fetched: float, answer: dict[date, list[tuple[str, str]]]) -> None:
        for month, rows in answer.items():
            if fetched >= self.rows.get((customer, month), (-1, []))[0]:
                self.rows[customer, month] = fetched, rows

    def everything(self) -> Counter[tuple[Any, ...]]:
        found = ((who, when, *row) for (who, when), (_, rows) in self.rows.items() for row in rows)
        return Counter((who, when, id_, float(price)) for who, when, id_, price in found)


@dataclass
class Snapshots:
    """History, said plainly: every snapshot that was news, to be looked up by moment."""

    taken: dict[str, list[tuple[float, dict[str, str]]]] = field(default_factory=dict)

    def load(self, customer: str, fetched: float, snapshot: dict[str, str]) -> None:
        known = self.taken.setdefault(customer, [])
        if not known or fetched >= known[-1][0]:
            known.append((fetched, snapshot))

    def as_of(self, moment: float) -> Counter[tuple[str, str, str]]:
        found: Counter[tuple[str, str, str]] = Counter()
        for customer, known in self.taken.items():
            before = [snapshot for fetched, snapshot in known if fetched <= moment]
            found.update((customer, id_, name) for id_, name in (before[-1] if before else {}).items())
        return found


answers = st.dictionaries(
    st.sampled_from(MONTHS),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2.5"])), max_size=3),
    min_size=1,
    max_size=3,
)
snapshots = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["Ann", "Bo"]), max_size=3)


@settings(max_examples=EXAMPLES)
@given_any(st.lists(st.lists(st.tuples(CUSTOMERS, FETCHED, answers), min_size=1, max_size=4), max_size=4))
def test_months_hold_the_answers_fetched_last(groups: list[list[Any]]) -> None:
    with TemporaryDirectory() as folder:
        given, model = Given(Path(folder)), Months()
        for place, group in enumerate(groups):
            given.load([sale(f"{place}.{number}", *one) for number, one in enumerate(group)])
            for one in group:
                model.load(*one)
        found = given.rows("SELECT _customer, _month, id, price::DOUBLE FROM bi.sales")
        assert Counter(found) == model.everything()
        assert given.rows("SELECT count(*) = count(DISTINCT _row) FROM bi.sales") == [(True,)]


@settings(max_examples=EXAMPLES)
@given_any(st.lists(st.lists(st.tuples(CUSTOMERS, FETCHED, snapshots), min_size=1, max_size=4), max_size=4))
def test_history_answers_for_every_moment_with_the_snapshot_of_that_time(groups: list[list[Any]]) -> None:
    with TemporaryDirectory() as folder:
        given, model = Given(Path(folder)), Snapshots()
        for place, group in enumerate(groups):
            given.load([user(f"{place}.{number}", *one) for number, one in enumerate(group)])
            for one in sorted(group, key=lambda found: found[1]):
                model.load(*one)
        with given.store.reading() as connection:
            for moment in (-0.5, 0, 1, 2, 3.5, 5):
                assert Counter(as_of(connection, hours(moment))) == model.as_of(moment)
        assert given.rows("SELECT count(*) FROM bi.users_history WHERE valid_to_utc < valid_from_utc") == [
            (0,)
        ]


def sale(
    load_id: str, customer: str, fetched: float, answer: dict[date, list[tuple[str, str]]]
) -> WindowResult:
    rows = [(month, id_, price) for month, found in answer.items() for id_, price in found]
    return sales(load_id, *rows, customer=customer, fetched=hours(fetched), months=tuple(answer))


def user(load_id: str, customer: str, fetched: float, snapshot: dict[str, str]) -> WindowResult:
    return users(load_id, snapshot, customer=customer, fetched=hours(fetched))


def as_of(connection: DuckDBPyConnection, moment: datetime) -> list[tuple[Any, ...]]:
    query = "SELECT _customer, id, name FROM bi.users_as_of($1)"
    return connection.execute(query, [moment.replace(tzinfo=None)]).fetchall()
