"""Rebuilding: every table is restored row by row from the loads in landing, which retention keeps."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.unit.warehouse.given import (
    FEBRUARY,
    JANUARY,
    NOON,
    Given,
    Rejected,
    column_load,
    hours,
    sales,
    users,
)
from warehouse.ledger.stored_answers import loads_to_replay
from warehouse.ledger.window_result import WindowResult
from warehouse.load.landing import Landing, LandingFile
from warehouse.persons.rebuild import record_lost_loads
from warehouse.publishing.retention import clear_landing, compact

EVERYTHING = ("sales", "sales_agents", "users_history", "users__offices_history")


def contents(given: Given) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    return {name: given.rows(f"FROM bi.{name} ORDER BY ALL") for name in EVERYTHING}


def story() -> list[WindowResult]:
    """Months requested again, columns that widen, users that change and disappear."""
    return [
        sales("s1", (JANUARY, "1", "1"), (FEBRUARY, "2", "2"), months=(JANUARY, FEBRUARY)),
        column_load("s2", "BIGINT", 5, customer="M2"),
        sales("s3", (FEBRUARY, "3", "3"), months=(FEBRUARY,), fetched=hours(1)),
        column_load("s4", "VARCHAR", "n/a", customer="M3"),
        users("u1", {"1": "Ann", "2": "Bo"}, offices=[(0, "North"), (1, "South")]),
        users("u2", {"2": "Bo", "1": "Ann"}, offices=[(0, "South"), (1, "North")], fetched=hours(2)),
        users("u3", {"1": "Anna"}, offices=[(0, "North")], fetched=hours(3)),
    ]


def told(tmp_path: Path) -> Given:
    """A store after all loads of the story."""
    given = Given(tmp_path)
    for one in story():
        given.load([one])
    return given


def test_a_replay_needs_the_current_loads_and_every_snapshot_oldest_first(tmp_path: Path) -> None:
    def needed(*chosen: list[str]) -> list[str]:
        return [one.load_id for one in given.read(loads_to_replay, *chosen)]

    given = told(tmp_path)
    assert needed() == ["s1", "s2", "s3", "s4", "u1", "u2", "u3"]
    assert needed(["users"]) == ["u1", "u2", "u3"]


def test_emptied_tables_come_back_the_same(tmp_path: Path) -> None:
    given = told(tmp_path)
    before = contents(given), given.rows("FROM meta.columns ORDER BY ALL")
    for name in EVERYTHING:
        given.change(f"DELETE FROM bi.{name}")
    by_id = {one.load_id: one for one in story()}
    needed = [by_id[one.load_id] for one in given.read(loads_to_replay)]
    given.load([one for one in needed if not one.history])
    given.load([one for one in needed if one.history], from_scratch=True)
    assert (contents(given), given.rows("FROM meta.columns ORDER BY ALL")) == before


def test_loads_that_the_ledger_has_are_not_recorded_again(given: Given, tmp_path: Path) -> None:
    landing = Landing(tmp_path / "landing")
    given.load([sales("s1")])
    land(landing, sales("s1"))
    land(landing, sales("s2"), error="Unavailable")
    found = [file for file in landing.walk(["sales"]) if isinstance(file, LandingFile)]
    with given.store.writing() as connection:
        assert record_lost_loads(connection, found) == 0
    assert given.rows("SELECT load_id, status FROM meta.loads ORDER BY ALL") == [
        ("s1", "loaded"),
        ("s2", "failed"),
    ]


def test_a_load_that_was_lost_is_older_than_those_fetched_after_it(given: Given, tmp_path: Path) -> None:
    landing = Landing(tmp_path / "landing")
    given.load([sales("new", fetched=hours(1))])
    land(landing, sales("lost"))
    with given.store.writing() as connection:
        files = [file for file in landing.walk(["sales"]) if isinstance(file, LandingFile)]
        assert record_lost_loads(connection, files) == 1
    assert given.rows("SELECT load_id, status FROM meta.loads ORDER BY load_number") == [
        ("lost", "superseded"),
        ("new", "loaded"),
    ]


def test_old_landing_files_that_no_current_load_needs_are_cleared(given: Given, tmp_path: Path) -> None:
    landing = Landing(tmp_path / "landing")
    old = [sales("s1", (JANUARY, "1", "1")), users("u1", {"1": "Ann"})]
    same = [sales("s2", fetched=hours(1)), users("u2", {"1": "Ann"}, fetched=hours(1))]
    newest = [users("u3", {"1": "Ann"}, fetched=hours(2))]
    for one in (*old, *same, *newest):
        given.load([replace(one, landing=land(landing, one))])
    assert clear_landing(tmp_path, days=30, now=NOON + timedelta(days=20)) == []
    assert len(clear_landing(tmp_path, days=30, now=NOON + timedelta(days=40))) == 2
    assert [one.load_id for one in given.read(loads_to_replay)] == ["u1", "s2", "u3"]
    assert [Path(path).name for path in landing.paths()] == ["s2.tar.zst", "u1.tar.zst", "u3.tar.zst"]


def test_old_landing_files_that_are_not_in_the_ledger_are_cleared_too(tmp_path: Path) -> None:
    Given(tmp_path)
    landing = Landing(tmp_path / "landing")
    for name, age in (("old", 40), ("new", 1)):
        path = landing.root / land(landing, sales(name))
        os.utime(path, ((NOON - timedelta(days=age)).timestamp(),) * 2)
    assert len(clear_landing(tmp_path, days=30, now=NOON)) == 1
    assert [Path(path).name for path in landing.paths()] == ["new.tar.zst"]


def test_a_rewritten_working_file_has_the_same_rows_without_traces_of_deleted_ones(tmp_path: Path) -> None:
    given = told(tmp_path)
    given.load([column_load("big", "VARCHAR", *(str(n) * 9 for n in range(60_000)), customer="M4")])
    given.load([sales("gone", customer="M4", rejected=[Rejected("{}", JANUARY)])])
    assert given.rows("SELECT has_traces FROM meta.storage") == [(False,)]
    given.change("UPDATE meta.storage SET has_traces = true")
    before = contents(given), given.ledger()
    size_before = given.store.path.stat().st_size
    compact(tmp_path)
    assert given.store.path.stat().st_size < size_before
    assert (contents(given), given.ledger()) == before
    assert given.rows("SELECT name FROM bi.users_as_of(TIMESTAMP '2030-01-01')") == [("Anna",)]
    assert given.rows("SELECT has_traces FROM meta.storage") == [(False,)]


def land(landing: Landing, one: WindowResult, error: str = "") -> str:
    """Write the landing file of a load, as the sync does."""
    header = {"run_id": "run", "months": [*map(str, one.months)], "history": one.history, "asked": None}
    writer = landing.open(one.report, one.customer, one.window_start, one.window_end, one.load_id, header)
    writer.add({"path": "/"}, b"[]")
    trailer = {"used": [0], "error": error, "note": "", "requests": 1, "seconds": 0.5}
    return writer.close({**trailer, "fetched_at_utc": one.fetched.isoformat()}).path
