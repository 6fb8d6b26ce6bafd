"""Snapshots as history: what stayed is untouched, what changed has an end and a beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.warehouse.given import (
    FEBRUARY,
    JANUARY,
    NAME,
    USERS,
    Given,
    hours,
    load,
    table,
    undocumented,
    users,
)  # fmt: skip
from warehouse.schema import DeclaredTable
from warehouse.window_result import WindowResult

HISTORY = "SELECT id, name, valid_from_utc, valid_to_utc FROM bi.users_history ORDER BY ALL"
CURRENT = "SELECT id, name FROM bi.users ORDER BY ALL"
PAIRS = """
SELECT one.name, office.office FROM bi.users AS one JOIN bi.users__offices AS office
ON office._parent_row = one._row ORDER BY ALL
"""


def at(number: float) -> Any:
    """A moment as it stands in the file."""
    return hours(number).replace(tzinfo=None)


def test_a_changed_row_ends_and_begins_when_the_new_snapshot_was_fetched(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann", "2": "Bo"})])
    given.load([users("b", {"1": "Ann", "2": "Bob"}, fetched=hours(1))])
    assert given.rows(HISTORY) == [
        ("1", "Ann", at(0), None),
        ("2", "Bo", at(0), at(1)),
        ("2", "Bob", at(1), None),
    ]


def test_the_same_snapshot_again_changes_nothing(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann"}, offices=[(0, "North")])])
    before = given.rows("FROM bi.users_history"), given.rows("FROM bi.users__offices_history")
    [loaded] = given.load([users("b", {"1": "Ann"}, offices=[(0, "North")], fetched=hours(1))])
    assert (loaded.opened, loaded.closed) == (0, 0)
    assert (given.rows("FROM bi.users_history"), given.rows("FROM bi.users__offices_history")) == before


def test_a_row_that_vanishes_is_closed_and_one_that_comes_back_is_opened(tmp_path: Path) -> None:
    given = Given(tmp_path)
    for number, names in enumerate(({"1": "Ann"}, {}, {"1": "Ann"})):
        given.load([users(f"l{number}", names, fetched=hours(number))])
    assert given.rows(HISTORY) == [("1", "Ann", at(0), at(1)), ("1", "Ann", at(2), None)]


def test_an_older_snapshot_changes_nothing(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("b", {"1": "Anna"}, fetched=hours(1))])
    [loaded] = given.load([users("a", {"1": "Ann", "2": "Bo"})])
    assert (loaded.rows, given.rows(HISTORY)) == (
        {"users": 0, "users__offices": 0},
        [("1", "Anna", at(1), None)],
    )


def test_children_stay_with_a_parent_whose_content_changes(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann", "2": "Bo"}, offices=[(0, "North"), (1, "South")])])
    moved = users("b", {"2": "Bob", "1": "Ann"}, offices=[(0, "South"), (1, "North")], fetched=hours(1))
    [loaded] = given.load([moved])
    assert (loaded.opened, loaded.closed) == (1, 1)
    assert given.rows(PAIRS) == [("Ann", "North"), ("Bob", "South")]


def test_a_child_that_moves_to_another_parent_is_another_row(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann", "2": "Bo"}, offices=[(0, "North")])])
    given.load([users("b", {"1": "Ann", "2": "Bo"}, offices=[(1, "North")], fetched=hours(1))])
    assert given.rows(PAIRS) == [("Bo", "North")]
    assert given.rows("SELECT count(*) FROM bi.users__offices_history") == [(2,)]


def test_equal_rows_without_an_id_are_counted(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann"}, offices=[(0, "North"), (0, "North"), (0, "North")])])
    [loaded] = given.load([users("b", {"1": "Ann"}, offices=[(0, "North")] * 2, fetched=hours(1))])
    assert (loaded.opened, loaded.closed) == (0, 1)
    assert given.rows(PAIRS) == [("Ann", "North")] * 2


def test_a_new_column_without_values_changes_no_row(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann"})])
    wider = table(USERS, [{"id": "1", "name": "Ann", "x": None}], undocumented("x", "NULL"))
    [loaded] = given.load([snapshot("b", wider, 1)])
    assert (loaded.opened, loaded.closed) == (0, 0)


def test_a_column_that_widens_changes_no_row_whose_value_stays(tmp_path: Path) -> None:
    given = Given(tmp_path)
    opened = []
    for number, (type_, values) in enumerate(
        [("BIGINT", (1, 2)), ("DOUBLE", (1.0, 2.5)), ("VARCHAR", ("1", "n/a"))]
    ):
        rows = [{"id": str(place), "x": value} for place, value in enumerate(values)]
        found = table(USERS, rows, undocumented("x", type_))
        opened += [one.opened for one in given.load([snapshot(f"l{number}", found, number)])]
    assert opened == [2, 1, 1]


def test_a_snapshot_of_months_speaks_of_its_own_months_only(tmp_path: Path) -> None:
    given = Given(tmp_path)
    both = [{"id": "1", "_month": JANUARY}, {"id": "2", "_month": FEBRUARY}]
    given.load([snapshot("a", table(USERS, both), 0, months=(JANUARY, FEBRUARY))])
    given.load([snapshot("b", table(USERS, []), 1, months=(FEBRUARY,))])
    assert given.rows("SELECT id, _month FROM bi.users") == [("1", JANUARY)]


def test_a_late_snapshot_counts_for_the_months_that_nothing_newer_speaks_of(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([snapshot("new", table(USERS, []), 1, months=(FEBRUARY,))])
    both = table(USERS, [{"id": "1", "_month": JANUARY}, {"id": "2", "_month": FEBRUARY}])
    [loaded] = given.load([snapshot("old", both, 0, months=(JANUARY, FEBRUARY))])
    assert loaded.superseded == (FEBRUARY,)
    assert given.rows("SELECT id FROM bi.users") == [("1",)]


def test_an_answer_for_some_ids_speaks_of_those_alone(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([asked("a", 0, {"7": "Ann", "8": "Bo"})])
    given.load([asked("b", 1, {"8": None})])
    assert given.rows("SELECT asked_user_id, name FROM bi.users") == [("7", "Ann")]


def test_a_row_of_an_id_that_was_not_asked_for_is_refused(tmp_path: Path) -> None:
    found = asked("a", 0, {"7": "Ann"}, ids=("8",))
    with pytest.raises(ValueError, match="for which of the asked ids"):
        Given(tmp_path).load([found])


def test_the_same_snapshot_mended_later_keeps_every_row_apart(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann", "3": "Cy"}, offices=[(0, "North"), (1, "South")])])
    mended = users("a", {"1": "Ann", "2": "Bo", "3": "Cy"}, offices=[(0, "North"), (1, "West"), (2, "South")])
    given.load([mended])
    assert given.rows(PAIRS) == [("Ann", "North"), ("Bo", "West"), ("Cy", "South")]
    assert given.rows("SELECT count(*) = count(DISTINCT _row) FROM bi.users") == [(True,)]


def snapshot(load_id: str, found: Any, number: float, **other: Any) -> WindowResult:
    """A snapshot of one table of users."""
    about: dict[str, Any] = {"report": "users", "history": True, "months": (), **other}
    return load(load_id, [found], fetched=hours(number), **about)


def asked(
    load_id: str, number: float, names: dict[str, str | None], ids: tuple[str, ...] | None = None
) -> WindowResult:
    """An answer about single users; a name of None is a user that is not there."""
    rows = [{"asked_user_id": id_, "name": name} for id_, name in names.items() if name]
    declared = DeclaredTable("users", "users", (NAME,), True, None, (), "")
    found = table(declared, rows, undocumented("asked_user_id", "VARCHAR"))
    return snapshot(load_id, found, number, asked=ids or tuple(names))


def test_snapshots_of_two_reports_in_one_group_stay_apart(tmp_path: Path) -> None:
    given = Given(tmp_path)
    brand = DeclaredTable("brands", "brands", (NAME,), True, None, (), "A brand.")
    other = load("b", [table(brand, [{"name": "Bright"}])], report="brands", history=True, months=())
    given.load([users("a", {"1": "Ann"}), users("c", {"1": "Bo"}, fetched=hours(1)), other])
    assert given.rows(CURRENT) == [("1", "Bo")]
    assert given.rows("SELECT name FROM bi.brands") == [("Bright",)]


def test_an_answer_about_nobody_leaves_tables_alone_that_do_not_say_whom_they_are_about(
    tmp_path: Path,
) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann"})])
    given.load([snapshot("b", table(USERS, []), 1, asked=("7",))])
    assert given.rows(CURRENT) == [("1", "Ann")]
