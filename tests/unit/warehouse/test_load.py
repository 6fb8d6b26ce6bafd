"""Loads of months: a new answer takes the place of the old one, and of nothing else."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.unit.warehouse.given import (
    AGENTS,
    FEBRUARY,
    JANUARY,
    MARCH,
    SALES,
    Given,
    column_load,
    hours,
    load,
    sales,
    table,
    undocumented,
    users,
)  # fmt: skip

IDS = "SELECT _customer, _month, id FROM bi.sales ORDER BY ALL"


def test_a_second_answer_replaces_the_month(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "10"), (JANUARY, "2", "20"))])
    given.load([sales("b", (JANUARY, "2", "25"))])
    assert given.rows("SELECT id, price, _load_id FROM bi.sales") == [("2", Decimal(25), "b")]


def test_other_months_and_customers_are_left_alone(tmp_path: Path) -> None:
    given = Given(tmp_path)
    both = (JANUARY, FEBRUARY)
    given.load([sales("a", (JANUARY, "1", "1"), (FEBRUARY, "2", "2"), months=both)])
    given.load([sales("b", (JANUARY, "3", "3"), customer="M2")])
    given.load([sales("c", (FEBRUARY, "4", "4"), months=(FEBRUARY,))])
    assert given.rows(IDS) == [("M1", JANUARY, "1"), ("M1", FEBRUARY, "4"), ("M2", JANUARY, "3")]


def test_a_snapshot_and_a_month_that_is_held_share_a_group(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "10"))])
    given.load([users("u", {"1": "Ann"}), sales("b", (JANUARY, "2", "25"))])
    assert given.rows(IDS) == [("M1", JANUARY, "2")]
    assert given.rows("SELECT id FROM bi.users") == [("1",)]


def test_an_empty_answer_empties_the_month(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "1"))])
    [loaded] = given.load([sales("b")])
    assert (given.rows(IDS), loaded.rows, loaded.rows_before) == ([], {"sales": 0}, 1)
    assert given.rows("SELECT load_id, rows FROM meta.months") == [("b", 0)]


def test_equal_rows_are_all_kept(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "5"), (JANUARY, "1", "5"))])
    assert given.rows("SELECT count(*), count(DISTINCT _row) FROM bi.sales") == [(2, 2)]


def test_every_row_says_whose_it_is_and_when_it_was_fetched(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "5"))])
    assert given.rows("SELECT _customer, _month, _load_id, _fetched_at_utc, _row FROM bi.sales") == [
        ("M1", JANUARY, "a", hours(0).replace(tzinfo=None), 1 << 24)
    ]


def test_children_point_to_their_parents_in_the_whole_table(tmp_path: Path) -> None:
    given = Given(tmp_path)
    for name, customer in (("a", "M1"), ("b", "M2")):
        parents = table(SALES, [{"_month": JANUARY, "id": f"{name}{number}"} for number in range(2)])
        children = table(AGENTS, [{"_month": JANUARY, "_parent_row": 1, "id": "agent"}])
        given.load([load(name, [parents, children], customer=customer)])
    join = (
        "SELECT sale.id FROM bi.sales_agents AS agent JOIN bi.sales AS sale ON agent._parent_row = sale._row"
    )
    assert given.rows(f"{join} ORDER BY ALL") == [("a1",), ("b1",)]


def test_a_table_that_the_new_answer_lacks_is_emptied_too(tmp_path: Path) -> None:
    given = Given(tmp_path)
    found = table(SALES, [{"_month": JANUARY, "id": "1"}])
    extra = table(AGENTS, [{"_month": JANUARY, "_parent_row": 0, "id": "seen once"}])
    given.load([load("a", [found, extra])])
    given.load([load("b", [found])])
    assert given.rows("SELECT count(*) FROM bi.sales_agents") == [(0,)]


def test_an_older_answer_never_replaces_a_newer_one(tmp_path: Path) -> None:
    given = Given(tmp_path)
    both = (JANUARY, FEBRUARY)
    given.load([sales("new", (JANUARY, "1", "1"), fetched=hours(2))])
    late = sales("old", (JANUARY, "2", "2"), (FEBRUARY, "3", "3"), fetched=hours(1), months=both)
    assert [(one.rows, one.rows_before, one.superseded) for one in given.load([late])] == [
        ({"sales": 1}, 0, (JANUARY,))
    ]
    assert given.rows(IDS) == [("M1", JANUARY, "1"), ("M1", FEBRUARY, "3")]


def test_a_load_with_nothing_new_is_written_down_as_superseded(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("new", fetched=hours(2)), sales("old", (JANUARY, "2", "2"), fetched=hours(1))])
    assert given.rows("SELECT load_id, status FROM meta.loads ORDER BY ALL") == [
        ("new", "loaded"),
        ("old", "superseded"),
    ]


def test_loading_the_same_load_again_changes_nothing(tmp_path: Path) -> None:
    given = Given(tmp_path)
    both = [sales("a", (JANUARY, "1", "1")), column_load("b", "BIGINT", 1, 2, customer="M2")]
    given.load(both)
    before = given.rows("FROM bi.sales ORDER BY ALL")
    given.load(list(reversed(both)))
    assert given.rows("FROM bi.sales ORDER BY ALL") == before


def test_a_row_of_a_month_that_was_not_asked_for_is_refused_and_nothing_is_loaded(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with pytest.raises(ValueError, match="brings 1 rows of sales with the month 2024-03-01"):
        given.load([sales("good", (JANUARY, "1", "1")), sales("bad", (MARCH, "1", "1"), customer="M2")])
    assert (given.rows(IDS), given.rows("FROM meta.loads")) == ([], [])


def test_one_load_twice_in_a_group_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is 2 times"):
        Given(tmp_path).load([sales("a"), sales("a")])


def test_a_report_without_months_is_replaced_whole(tmp_path: Path) -> None:
    given = Given(tmp_path)
    for name in ("a", "b"):
        given.load([load(name, [table(SALES, [{"id": name}])], months=())])
    assert given.rows("SELECT id, _month FROM bi.sales") == [("b", None)]


def test_rows_of_one_table_may_come_in_many_shapes_at_once(tmp_path: Path) -> None:
    given = Given(tmp_path)
    plain = sales("a", (JANUARY, "1", "1"))
    given.load([plain, *(column_load(kind, kind, None, customer=kind) for kind in ("NULL", "BIGINT"))])
    wide = table(SALES, [{"_month": JANUARY, "id": "9", "y": 2.5}], undocumented("y", "DOUBLE"))
    given.load([load("c", [wide], customer="M9"), column_load("d", "VARCHAR", "text", customer="M8")])
    assert given.rows(
        "SELECT _customer, x, y FROM bi.sales WHERE x IS NOT NULL OR y IS NOT NULL ORDER BY 1"
    ) == [
        ("M8", "text", None),
        ("M9", None, 2.5),
    ]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"fetched": hours(0).replace(tzinfo=None)}, "without a time zone"),
        ({"months": (JANUARY, JANUARY)}, "names a month twice"),
    ],
)
def test_a_load_that_does_not_make_sense_is_refused(
    tmp_path: Path, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Given(tmp_path).load([sales("a", **wrong)])
