"""Do rows that broke their type stay to be seen, as long as their answer is in force?"""

from __future__ import annotations

from pathlib import Path

from tests.warehouse.given import FEBRUARY, JANUARY, MARCH, Given, Rejected, hours, sales, users

RAW = "SELECT raw, month, load_id FROM meta.quarantine_rows ORDER BY ALL"


def test_a_rejected_row_is_kept_as_it_came_with_place_and_reason(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([sales("a", rejected=[Rejected('{"price": "a lot"}', JANUARY, place="[7]")])])
    assert given.rows(
        "SELECT raw, place, reason, table_name, column_name, month FROM meta.quarantine_rows"
    ) == [('{"price": "a lot"}', "[7]", "price is no number", "sales", "price", JANUARY)]


def test_rows_in_quarantine_are_counted_by_reason(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([sales("a", rejected=[Rejected("1", JANUARY), Rejected("2", JANUARY)])])
    assert given.rows('SELECT report, customer, month, reason, "rows" FROM meta.quarantine') == [
        ("sales", "M1", JANUARY, "price is no number", 2)
    ]


def test_replacing_a_month_replaces_its_quarantine(tmp_path: Path) -> None:
    given = Given(tmp_path)
    rejected = [Rejected("1", JANUARY), Rejected("2", FEBRUARY)]
    given.store.load([sales("a", months=(JANUARY, FEBRUARY), rejected=rejected)])
    given.store.load([sales("b", rejected=[Rejected("3", JANUARY)])])
    assert given.rows(RAW) == [("2", FEBRUARY, "a"), ("3", JANUARY, "b")]


def test_a_row_of_unknown_month_stays_while_anything_of_its_answer_is_in_force(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([sales("a", months=(JANUARY, FEBRUARY), rejected=[Rejected("1"), Rejected("2", MARCH)])])
    given.store.load([sales("b")])
    assert given.rows(RAW) == [("1", None, "a"), ("2", None, "a")]
    given.store.load([sales("c", months=(FEBRUARY,))])
    assert given.rows(RAW) == []


def test_a_row_of_unknown_month_that_is_seen_again_is_counted_once(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([sales("a", months=(JANUARY, FEBRUARY), rejected=[Rejected("1"), Rejected("1")])])
    given.store.load([sales("b", months=(FEBRUARY, MARCH), rejected=[Rejected("1"), Rejected("1")])])
    assert given.rows(RAW) == [("1", None, "b"), ("1", None, "b")]


def test_a_superseded_answer_brings_nothing_into_quarantine(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([sales("new", fetched=hours(2))])
    given.store.load([sales("old", months=(JANUARY, FEBRUARY), rejected=[Rejected("1", JANUARY)])])
    assert given.rows(RAW) == []


def test_a_newer_snapshot_replaces_the_quarantine_of_the_one_before(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([users("a", {}, rejected=[Rejected("1", table="users")])])
    given.store.load([users("b", {}, fetched=hours(1), rejected=[Rejected("2", table="users")])])
    assert given.rows(RAW) == [("2", None, "b")]


def test_loads_with_rows_in_quarantine_can_be_found_to_be_repeated(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([sales("a", rejected=[Rejected("1", JANUARY)]), sales("b", months=(FEBRUARY,))])
    assert [one.load_id for one in given.store.effective_loads(only_quarantined=True)] == ["a"]
    given.store.load([sales("a", (JANUARY, "1", "1"))])
    assert given.rows(RAW) == []
