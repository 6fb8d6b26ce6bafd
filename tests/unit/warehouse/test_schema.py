"""Tables follow the answers: columns appear, widen in place, and never lose a digit."""

from __future__ import annotations

from datetime import datetime
from itertools import permutations
from typing import Any

import polars as pl
import pytest

from tests.unit.warehouse.given import (
    ID,
    JANUARY,
    PRICE,
    SALES,
    Column,
    Given,
    Table,
    column_load,
    declared_table,
    load,
    sales,
    table,
    undocumented,
)
from tests.working_file import declare_tables
from warehouse.ledger.window_result import WindowResult
from warehouse.load.schema_evolution import MAX_EXACT, common_type
from warehouse.protocols import ColumnLike
from warehouse.store.schema import TableSchema

HUGE = MAX_EXACT + 1
TEXT, NEW_YEAR = ("VARCHAR", "n/a"), datetime(2024, 1, 1, 0, 0, 1)
SALE = {"_month": JANUARY, "id": "1"}
COMMENT = "SELECT comment FROM duckdb_{}s() WHERE concat_ws('.', {}) = '{}'"


def declared_sales(*columns: ColumnLike, history: bool = False, description: str = "") -> TableSchema:
    return declared_table("sales", "sales", columns, history, None, ("id",), description)


def documented(given: Given) -> dict[str, tuple[str, bool]]:
    """Type of each column of sales, and whether it is documented."""
    found = given.rows("SELECT column_name, type, documented FROM meta.columns WHERE table_name = 'sales'")
    return {name: (type_, is_documented) for name, type_, is_documented in found}


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["NULL", "BOOLEAN"], "BOOLEAN"),
        (["NULL", "BIGINT"], "BIGINT"),
        (["BIGINT", "DOUBLE"], "DOUBLE"),
        (["BOOLEAN", "BIGINT"], "VARCHAR"),
        (["TIMESTAMP", "VARCHAR"], "VARCHAR"),
        (["JSON", "BIGINT"], "VARCHAR"),
        (["BIGINT", "DOUBLE", "VARCHAR"], "VARCHAR"),
        (["NULL"], "NULL"),
    ],
)
def test_two_types_widen_to_the_narrowest_common_type(types: list[str], expected: str) -> None:
    assert {common_type(order) for order in permutations(types)} == {expected}


ARRIVALS: dict[str, tuple[list[tuple[str, Any]], str, list[Any]]] = {
    "nothing but null": ([("NULL", None)], "NULL", [None]),
    "null before a value": ([("NULL", None), ("BOOLEAN", False)], "BOOLEAN", [None, False]),
    "beyond double": ([("BIGINT", HUGE), ("DOUBLE", 0.5)], "VARCHAR", [str(HUGE), "0.5"]),
    "beyond double, reversed": ([("DOUBLE", 0.5), ("BIGINT", HUGE)], "VARCHAR", ["0.5", str(HUGE)]),
    "a whole number": ([("BIGINT", 0), TEXT], "VARCHAR", ["0", "n/a"]),
    "a fraction last": ([("BIGINT", 12), ("DOUBLE", -3.0), TEXT], "VARCHAR", ["12", "-3", "n/a"]),
    "a fraction first": ([("DOUBLE", -3.0), ("BIGINT", 12), TEXT], "VARCHAR", ["-3", "12", "n/a"]),
    "text first": ([TEXT, ("BIGINT", 5), ("DOUBLE", 2.0)], "VARCHAR", ["n/a", "5", "2"]),
    "true after text": ([TEXT, ("BOOLEAN", True)], "VARCHAR", ["n/a", "true"]),
    "a time": ([("TIMESTAMP", NEW_YEAR), TEXT], "VARCHAR", ["2024-01-01T00:00:01", "n/a"]),
}


@pytest.mark.parametrize(("arrivals", "type_", "values"), ARRIVALS.values(), ids=ARRIVALS)
def test_a_column_widens_and_every_value_stays(
    given: Given, arrivals: list[tuple[str, Any]], type_: str, values: list[Any]
) -> None:
    for number, (arriving, value) in enumerate(arrivals):
        given.load([column_load(f"l{number}", arriving, value, customer=f"M{number}")])
    assert given.rows("SELECT type FROM meta.columns WHERE column_name = 'x'") == [(type_,)]
    assert given.rows("SELECT x FROM bi.sales ORDER BY _customer") == [(value,) for value in values]


def test_whole_numbers_too_wide_for_bigint_become_text(given: Given) -> None:
    frame = pl.DataFrame({"_row": [0], "_month": [JANUARY], "x": pl.Series([2**80], dtype=pl.Int128)})
    given.load([load("a", [Table("sales", (undocumented("x", "BIGINT"),), frame)])])
    assert given.rows("SELECT x FROM bi.sales") == [(str(2**80),)]


def test_names_that_differ_in_case_are_one_column(given: Given) -> None:
    given.load([column_load("a", "BIGINT", 1, name="x")])
    given.load([column_load("b", "BIGINT", 2, customer="M2", name="X")])
    assert given.rows("SELECT x FROM bi.sales ORDER BY 1") == [(1,), (2,)]


def test_every_change_of_type_is_written_down(given: Given) -> None:
    for name, type_, value in (("a", "BIGINT", 1), ("b", "DOUBLE", 0.5), ("c", "VARCHAR", "?")):
        given.load([column_load(name, type_, value, customer=name)])
    changes = "SELECT from_type, to_type, load_id FROM meta.column_changes ORDER BY changed_at_utc"
    assert given.rows(changes) == [("BIGINT", "DOUBLE", "b"), ("DOUBLE", "VARCHAR", "c")]


def test_columns_are_in_order_of_first_appearance_with_their_first_load(given: Given) -> None:
    names = [f"x{number}" for number in range(300)]
    for load_id, some in (("a", names[:200]), ("b", names)):
        row = {**SALE, **dict.fromkeys(some, load_id)}
        found = table(SALES, [row], *(undocumented(name, "VARCHAR") for name in some))
        given.load([load(load_id, [found], customer=load_id)])
    seen = "SELECT column_name, documented, first_load_id FROM meta.columns WHERE table_name = 'sales'"
    new = [(name, False, "a" if name in names[:200] else "b") for name in names]
    assert given.rows(f"{seen} ORDER BY position") == [("id", True, "a"), ("price", True, "a"), *new]


def test_an_undeclared_table_gets_the_nearest_ancestor_as_its_parent(given: Given) -> None:
    tables = [table(SALES, [SALE])]
    for name in ("sales__pools", "sales__a__b", "other__c"):
        found = declared_table("sales", name, (), False, None, (), "")
        rows = [{"_month": JANUARY, "_parent_row": 0, "depth": 3}]
        tables.append(table(found, rows, undocumented("depth", "BIGINT")))
    given.load([load("a", tables)])
    assert given.rows("SELECT depth FROM bi.sales__pools") == [(3,)]
    parents = "SELECT table_name, parent_name FROM meta.tables WHERE contains(table_name, '__') ORDER BY 1"
    assert given.rows(parents) == [
        ("other__c", None),
        ("sales__a__b", "sales"),
        ("sales__pools", "sales"),
        ("users__offices", "users"),
    ]


def test_a_table_has_comments_that_follow_its_documentation(given: Given) -> None:
    of_price = COMMENT.format("column", "table_name, column_name", "sales.price")
    assert given.rows(of_price) == [("price in SEK",)]
    assert given.rows(COMMENT.format("view", "view_name", "users")) == [("A user.",)]
    declare_tables(given.store, [declared_sales(ID, PRICE, description="A sold estate.")])
    assert given.rows(COMMENT.format("table", "table_name", "sales")) == [("A sold estate.",)]


def test_columns_follow_their_documentation_if_no_value_is_lost(given: Given) -> None:
    given.load([column_load("a", "DOUBLE", 2.5), column_load("b", "VARCHAR", "x", customer="M2", name="y")])
    declare_tables(given.store, [declared_sales(ID, Column("x", "DECIMAL(18,4)"), Column("y", "BIGINT"))])
    assert documented(given) == {
        "id": ("VARCHAR", True),
        "price": ("DECIMAL(18,4)", False),
        "x": ("DECIMAL(18,4)", True),
        "y": ("VARCHAR", True),
    }


def test_any_name_can_be_a_column_an_id_or_a_value(given: Given) -> None:
    odd = 'x"; DROP TABLE bi.sales; --'
    given.load([column_load("a'b", "VARCHAR", odd, customer="M'1", name=odd)])
    assert given.rows("SELECT COLUMNS('^x') FROM bi.sales") == [(odd,)]


def test_a_table_cannot_turn_into_a_history(given: Given) -> None:
    with pytest.raises(ValueError, match="give it a new name"):
        declare_tables(given.store, [declared_sales(ID, history=True)])


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (load("a", [table(SALES, [{**SALE, "_parent_row": 0}])]), "no column for it"),
        (sales("a", (JANUARY, "1", "1"), report="leads"), "of another report .sales"),
    ],
)
def test_rows_that_do_not_fit_a_table_are_rejected(given: Given, refused: WindowResult, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        given.load([refused])
