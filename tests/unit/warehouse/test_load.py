"""Loads of months: a new answer replaces the old one, and nothing else."""

from __future__ import annotations

from tests.unit.warehouse.given import (
    AGENTS,
    FEBRUARY,
    JANUARY,
    SALES,
    Given,
    column_load,
    hours,
    load,
    sales,
    table,
    undocumented,
)

IDS = "SELECT _customer, _month, id FROM bi.sales ORDER BY ALL"


def test_every_row_has_its_customer_and_fetch_time(given: Given) -> None:
    given.load([sales("a", (JANUARY, "1", "5"))])
    assert given.rows("SELECT _customer, _month, _load_id, _fetched_at_utc, _row FROM bi.sales") == [
        ("M1", JANUARY, "a", hours(0).replace(tzinfo=None), 1 << 24)
    ]


def test_children_refer_to_their_parents_across_loads(given: Given) -> None:
    for name, customer in (("a", "M1"), ("b", "M2")):
        parents = table(SALES, [{"_month": JANUARY, "id": f"{name}{number}"} for number in range(2)])
        children = table(AGENTS, [{"_month": JANUARY, "_parent_row": 1, "id": "agent"}])
        given.load([load(name, [parents, children], customer=customer)])
    joined = "FROM bi.sales_agents AS agent JOIN bi.sales AS sale ON agent._parent_row = sale._row"
    assert given.rows(f"SELECT sale.id {joined} ORDER BY ALL") == [("a1",), ("b1",)]


def test_a_table_that_the_new_answer_lacks_is_emptied_too(given: Given) -> None:
    found = table(SALES, [{"_month": JANUARY, "id": "1"}])
    extra = table(AGENTS, [{"_month": JANUARY, "_parent_row": 0, "id": "seen once"}])
    given.load([load("a", [found, extra])])
    given.load([load("b", [found])])
    assert given.rows("SELECT count(*) FROM bi.sales_agents") == [(0,)]


def test_an_older_load_counts_only_for_months_that_no_newer_load_has_filled(given: Given) -> None:
    both = sales("old", (JANUARY, "2", "2"), (FEBRUARY, "3", "3"), months=(JANUARY, FEBRUARY))
    given.load([both])
    given.load([sales("new", (JANUARY, "1", "1"))])
    [result] = given.load([both])
    assert (result.loaded_rows, result.warnings) == (1, ("2024-01 was not replaced: a newer load is stored",))
    assert given.rows(IDS) == [("M1", JANUARY, "1"), ("M1", FEBRUARY, "3")]


def test_the_later_of_two_loads_of_a_group_counts(given: Given) -> None:
    given.load([sales("first", (JANUARY, "1", "1")), sales("second", (JANUARY, "2", "2"))])
    assert given.rows("SELECT load_id, status FROM meta.loads ORDER BY ALL") == [
        ("first", "superseded"),
        ("second", "loaded"),
    ]


def test_a_load_is_newer_by_its_number_and_not_by_the_clock(given: Given) -> None:
    given.load([sales("clock ahead", (JANUARY, "1", "1"), fetched=hours(9999))])
    given.load([sales("clock right", (JANUARY, "2", "2"))])
    assert given.rows(IDS) == [("M1", JANUARY, "2")]


def test_loading_the_same_load_again_changes_nothing(given: Given) -> None:
    both = [sales("a", (JANUARY, "1", "1")), column_load("b", "BIGINT", 1, 2, customer="M2")]
    given.load(both)
    before = given.rows("FROM bi.sales ORDER BY ALL")
    given.load(list(reversed(both)))
    assert given.rows("FROM bi.sales ORDER BY ALL") == before


def test_a_report_without_months_is_replaced_completely(given: Given) -> None:
    for name in ("a", "b"):
        given.load([load(name, [table(SALES, [{"id": name}])], months=())])
    assert given.rows("SELECT id, _month FROM bi.sales") == [("b", None)]


def test_rows_of_one_table_may_come_in_many_shapes_at_once(given: Given) -> None:
    plain = sales("a", (JANUARY, "1", "1"))
    given.load([plain, *(column_load(kind, kind, None, customer=kind) for kind in ("NULL", "BIGINT"))])
    wide = table(SALES, [{"_month": JANUARY, "id": "9", "y": 2.5}], undocumented("y", "DOUBLE"))
    given.load([load("c", [wide], customer="M9"), column_load("d", "VARCHAR", "text", customer="M8")])
    known = "SELECT _customer, x, y FROM bi.sales WHERE x IS NOT NULL OR y IS NOT NULL ORDER BY 1"
    assert given.rows(known) == [("M8", "text", None), ("M9", None, 2.5)]
