"""Rows in quarantine, while their answer is current."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.unit.warehouse.given import FEBRUARY, JANUARY, MARCH, Given, Rejected, hours, sales, users
from warehouse.ledger.stored_answers import loads_to_replay
from warehouse.load.quarantine import fingerprint


def waiting(given: Given) -> list[tuple[str, date | None, str]]:
    """The rows in quarantine, each by what came: these tests call them 1, 2 and 3."""
    names = {fingerprint(raw): raw for raw in "123"}
    rows = given.rows("SELECT fingerprint, month, load_id FROM meta.quarantine_rows ORDER BY load_id, place")
    return [(names[print_], month, load_id) for print_, month, load_id in rows]


def test_a_rejected_row_has_its_reason_and_its_position(given: Given) -> None:
    given.load([sales("a", rejected=[Rejected("1", JANUARY, place="[7]")])])
    names = "load_id, report, customer, month, table_name, column_name, place, reason"
    row = ("a", "sales", "M1", JANUARY, "sales", "price", "[7]", "price is no number")
    assert given.rows(f"SELECT {names} FROM meta.quarantine_rows") == [row]


def test_the_working_file_never_contains_a_rejected_row(given: Given, tmp_path: Path) -> None:
    given.load([sales("a", rejected=[Rejected("Someone Nobody Should See", JANUARY)])])
    held = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert [b"Someone Nobody" in content for content in held] == [False] * len(held)


def test_replacing_a_month_replaces_its_quarantine(given: Given) -> None:
    rejected = [Rejected("1", JANUARY), Rejected("2", FEBRUARY)]
    given.load([sales("a", months=(JANUARY, FEBRUARY), rejected=rejected)])
    given.load([sales("b", rejected=[Rejected("3", JANUARY)])])
    assert waiting(given) == [("2", FEBRUARY, "a"), ("3", JANUARY, "b")]


def test_a_row_of_unknown_month_stays_while_any_month_of_its_answer_is_current(given: Given) -> None:
    given.load([sales("a", months=(JANUARY, FEBRUARY), rejected=[Rejected("1"), Rejected("2", MARCH)])])
    given.load([sales("b")])
    assert waiting(given) == [("1", None, "a"), ("2", None, "a")]
    given.load([sales("c", months=(FEBRUARY,))])
    assert waiting(given) == []


def test_a_row_of_unknown_month_in_several_loads_counts_in_the_newest(given: Given) -> None:
    old = sales("a", months=(JANUARY, FEBRUARY), rejected=[Rejected("1"), Rejected("1")])
    given.load([old, sales("b", months=(FEBRUARY, MARCH), rejected=[Rejected("1"), Rejected("1")])])
    given.load([old])
    assert waiting(given) == [("1", None, "b"), ("1", None, "b")]


def test_a_superseded_answer_adds_nothing_to_the_quarantine(given: Given) -> None:
    old = sales("old", months=(JANUARY, FEBRUARY), rejected=[Rejected("1", JANUARY)])
    for answer in (old, sales("new"), old):
        given.load([answer])
    assert waiting(given) == []


def test_a_newer_snapshot_replaces_the_quarantine_of_the_previous_snapshot(given: Given) -> None:
    given.load([users("a", {}, rejected=[Rejected("1", table="users")])])
    given.load([users("b", {}, fetched=hours(1), rejected=[Rejected("2", table="users")])])
    assert waiting(given) == [("2", None, "b")]


def test_a_replay_may_repeat_only_loads_with_rows_in_quarantine(given: Given) -> None:
    given.load([sales("a", rejected=[Rejected("1", JANUARY)]), sales("b", months=(FEBRUARY,))])
    assert [one.load_id for one in given.read(loads_to_replay, only_quarantined=True)] == ["a"]
    given.load([sales("a", (JANUARY, "1", "1"))])
    assert waiting(given) == []
