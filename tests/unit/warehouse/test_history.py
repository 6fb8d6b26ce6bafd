"""Snapshots as history: unchanged rows are untouched, changed rows end and begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.warehouse.given import (
    FEBRUARY,
    JANUARY,
    NAME,
    USERS,
    Column,
    Given,
    Table,
    declared_table,
    hours,
    load,
    table,
    undocumented,
    users,
)
from warehouse.ledger.window_result import WindowResult

CHANGES = "SELECT opened, closed FROM meta.loads ORDER BY load_number"
CURRENT = "SELECT id, name FROM bi.users ORDER BY ALL"
PAIRS = """
SELECT one.name, office.office FROM bi.users AS one JOIN bi.users__offices AS office
ON office._parent_row = one._row ORDER BY ALL
"""
ANN = {"1": "Ann"}
BOTH = {"1": "Ann", "2": "Bo"}


def snapshot(load_id: str, found: Table, number: float, **other: Any) -> WindowResult:
    """A snapshot of one table of users."""
    about: dict[str, Any] = {"report": "users", "history": True, "months": (), **other}
    return load(load_id, [found], fetched=hours(number), **about)


def asked(number: float, names: Mapping[str, str | None], ids: tuple[str, ...] | None = None) -> WindowResult:
    """An answer about single users; a name of None is a user that does not exist."""
    rows = [{"asked_user_id": id_, "name": name} for id_, name in names.items() if name]
    declared = declared_table("users", "users", (NAME,), True, None, (), "")
    found = table(declared, rows, Column("asked_user_id", "VARCHAR"))
    return snapshot(f"l{number}", found, number, asked=ids or tuple(names))


SNAPSHOTS: dict[str, tuple[Any, Any, tuple[int, int], list[tuple[str, str]]]] = {
    "nothing changed": ((ANN, [(0, "North")]), (ANN, [(0, "North")]), (0, 0), [("Ann", "North")]),
    "children stay with a parent whose content changes": (
        (BOTH, [(0, "North"), (1, "South")]),
        ({"2": "Bob", "1": "Ann"}, [(0, "South"), (1, "North")]),
        (1, 1),
        [("Ann", "North"), ("Bob", "South")],
    ),
    "a child of another parent": ((BOTH, [(0, "North")]), (BOTH, [(1, "North")]), (1, 1), [("Bo", "North")]),
    "equal rows": ((ANN, [(0, "North")] * 3), (ANN, [(0, "North")] * 2), (0, 1), [("Ann", "North")] * 2),
}


@pytest.mark.parametrize(("before", "after", "opened_and_closed", "pairs"), SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_rows_are_opened_and_closed_and_children_find_their_parents(
    given: Given, before: Any, after: Any, opened_and_closed: tuple[int, int], pairs: list[tuple[str, str]]
) -> None:
    (names, offices), (names_after, offices_after) = before, after
    given.load([users("a", names, offices=offices)])
    given.load([users("b", names_after, offices=offices_after, fetched=hours(1))])
    assert given.rows(CHANGES)[-1] == opened_and_closed
    assert given.rows(PAIRS) == pairs


def test_a_new_column_without_values_changes_no_row(given: Given) -> None:
    given.load([users("a", ANN)])
    wider = table(USERS, [{"id": "1", "name": "Ann", "x": None}], undocumented("x", "NULL"))
    given.load([snapshot("b", wider, 1)])
    assert given.rows(CHANGES) == [(1, 0), (0, 0)]


def test_a_column_that_widens_changes_no_row_whose_value_stays(given: Given) -> None:
    steps = [("BIGINT", (1, 2)), ("DOUBLE", (1.0, 2.5)), ("VARCHAR", ("1", "n/a"))]
    for number, (type_, values) in enumerate(steps):
        rows = [{"id": str(place), "x": value} for place, value in enumerate(values)]
        found = table(USERS, rows, undocumented("x", type_))
        given.load([snapshot(f"l{number}", found, number)])
    assert given.rows(CHANGES) == [(2, 0), (1, 1), (1, 1)]


def test_an_older_snapshot_counts_for_the_months_that_no_newer_snapshot_covers(given: Given) -> None:
    both = table(USERS, [{"id": "1", "_month": JANUARY}, {"id": "2", "_month": FEBRUARY}])
    old = snapshot("old", both, 0, months=(JANUARY, FEBRUARY))
    given.load([old])
    given.load([snapshot("new", table(USERS, []), 1, months=(FEBRUARY,))])
    [loaded] = given.load([old])
    assert loaded.warnings == ("2024-02 was not replaced: a newer load is stored",)
    assert given.rows("SELECT id FROM bi.users") == [("1",)]


def test_an_answer_for_some_ids_changes_only_the_rows_of_these_ids(given: Given) -> None:
    given.load([asked(0, {"7": "Ann", "8": "Bo"})])
    given.load([asked(1, {"8": None})])
    assert given.rows("SELECT asked_user_id, name FROM bi.users") == [("7", "Ann")]


def test_a_row_of_an_id_that_was_not_requested_is_rejected(given: Given) -> None:
    with pytest.raises(ValueError, match="none of the requested ids"):
        given.load([asked(0, {"7": "Ann"}, ids=("8",))])


def test_a_corrected_snapshot_keeps_equal_rows_separate(given: Given) -> None:
    given.load([users("a", {"1": "Ann", "3": "Cy"}, offices=[(0, "North"), (1, "South")])])
    mended = users("a", {**BOTH, "3": "Cy"}, offices=[(0, "North"), (1, "West"), (2, "South")])
    given.load([mended])
    assert given.rows(PAIRS) == [("Ann", "North"), ("Bo", "West"), ("Cy", "South")]
    assert given.rows("SELECT count(*) = count(DISTINCT _row) FROM bi.users") == [(True,)]


def test_snapshots_of_two_reports_in_one_group_stay_apart(given: Given) -> None:
    brand = declared_table("brands", "brands", (NAME,), True, None, (), "A brand.")
    other = load("b", [table(brand, [{"name": "Bright"}])], report="brands", history=True, months=())
    given.load([users("a", ANN), users("c", {"1": "Bo"}, fetched=hours(1)), other])
    assert given.rows(CURRENT) == [("1", "Bo")]
    assert given.rows("SELECT name FROM bi.brands") == [("Bright",)]


def test_an_answer_without_rows_does_not_change_tables_that_lack_the_id(given: Given) -> None:
    given.load([users("a", ANN)])
    given.load([snapshot("b", table(USERS, []), 1, asked=("7",))])
    assert given.rows(CURRENT) == [("1", "Ann")]


def test_the_latest_answer_that_differed_is_recorded_and_the_first_one_is_no_change(given: Given) -> None:
    changed = "SELECT changed_at_utc FROM meta.history_scopes"
    known = []
    for number, names in enumerate((ANN, ANN, BOTH, BOTH)):
        given.load([users(f"l{number}", names, fetched=hours(number))])
        known += [at for (at,) in given.rows(changed)]
    assert known == [None, None, *[hours(2).replace(tzinfo=None)] * 2]
