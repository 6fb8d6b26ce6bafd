"""Tables that keep up with what comes: columns appear, widen in place, and never lose a digit."""

from __future__ import annotations

from datetime import datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.unit.warehouse.given import (
    ID,
    JANUARY,
    OF_SALES,
    PRICE,
    SALES,
    Column,
    Given,
    Table,
    column_load,
    load,
    sales,
    table,
    undocumented,
)  # fmt: skip
from warehouse.database import Store
from warehouse.schema import EXACT, DeclaredTable
from warehouse.schema_evolution import declare_tables, joined

HUGE = EXACT + 1


def x_of(given: Given) -> tuple[str, list[Any]]:
    """The type of column x, and its values in the order of customers."""
    [(type_,)] = given.rows("SELECT type FROM meta.columns WHERE column_name = 'x'")
    return type_, [value for (value,) in given.rows("SELECT x FROM bi.sales ORDER BY _customer, _row")]


def test_documented_columns_stand_from_the_first_day_in_their_order(tmp_path: Path) -> None:
    assert Given(tmp_path).rows("DESCRIBE bi.sales")[:2] == [
        ("_customer", "VARCHAR", "YES", None, None, None),
        ("_month", "DATE", "YES", None, None, None),
    ]
    assert [row[:2] for row in Given(tmp_path).rows("DESCRIBE bi.sales")[5:]] == [
        ("id", "VARCHAR"),
        ("price", "DECIMAL(18,4)"),
    ]


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
def test_types_meet_in_the_narrowest_one_that_holds_both(types: list[str], expected: str) -> None:
    assert {joined(list(order), digits_at_risk=False) for order in permutations(types)} == {expected}


def test_whole_numbers_beyond_double_meet_fractions_as_text(tmp_path: Path) -> None:
    for position, order in enumerate(permutations([("BIGINT", HUGE), ("DOUBLE", 0.5)])):
        given = Given(tmp_path / str(position))
        for number, (type_, value) in enumerate(order):
            given.load([column_load(f"l{number}", type_, value, customer=f"{value}")])
        assert x_of(given) == ("VARCHAR", ["0.5", str(HUGE)])


def test_a_number_becomes_the_same_text_whichever_way_it_came(tmp_path: Path) -> None:
    texts = []
    for position, types in enumerate((("BIGINT",), ("BIGINT", "DOUBLE"), ("DOUBLE", "BIGINT"))):
        given = Given(tmp_path / str(position))
        for type_ in types:
            given.load([column_load(type_, type_, 12, -3, 0, customer="M1")])
        given.load([column_load("text", "VARCHAR", "n/a", customer="M2")])
        texts.append(x_of(given))
    assert texts == [("VARCHAR", ["12", "-3", "0", "n/a"])] * 3


def test_a_narrower_answer_is_kept_in_the_type_of_the_column(tmp_path: Path) -> None:
    given = Given(tmp_path)
    loads = [("a", "VARCHAR", "text"), ("b", "BIGINT", 5), ("c", "DOUBLE", 2.0), ("d", "BOOLEAN", True)]
    for customer, type_, value in loads:
        given.load([column_load(customer, type_, value, customer=customer)])
    assert x_of(given) == ("VARCHAR", ["text", "5", "2", "true"])


def test_a_time_becomes_text_as_json_writes_it(tmp_path: Path) -> None:
    given = Given(tmp_path)
    moment = pl.Series([datetime(2024, 1, 2, 3, 4, 5)])
    frame = pl.DataFrame({"_row": [0], "_month": [JANUARY], "id": ["1"], "x": moment})
    times = Table("sales", (*OF_SALES, undocumented("x", "TIMESTAMP")), frame)
    given.load([load("a", [times]), column_load("b", "VARCHAR", "?", customer="M2")])
    assert x_of(given) == ("VARCHAR", ["2024-01-02T03:04:05", "?"])


def test_a_column_of_nothing_but_null_takes_the_first_type_that_comes(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([column_load("a", "NULL", None)])
    assert x_of(given) == ("NULL", [None])
    given.load([column_load("b", "BOOLEAN", None, False, customer="M2")])
    assert x_of(given) == ("BOOLEAN", [None, None, False])


def test_whole_numbers_too_wide_for_bigint_rest_as_text(tmp_path: Path) -> None:
    given = Given(tmp_path)
    frame = pl.DataFrame({"_row": [0], "_month": [JANUARY], "x": pl.Series([2**80], dtype=pl.Int128)})
    given.load([load("a", [Table("sales", (*OF_SALES, undocumented("x", "BIGINT")), frame)])])
    assert x_of(given) == ("VARCHAR", [str(2**80)])


def test_names_that_differ_in_case_are_one_column(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([column_load("a", "BIGINT", 1, name="x")])
    given.load([column_load("b", "BIGINT", 2, customer="M2", name="X")])
    assert x_of(given) == ("BIGINT", [1, 2])


def test_first_sight_and_every_change_of_type_are_written_down(tmp_path: Path) -> None:
    given = Given(tmp_path)
    for name, type_, value in (("a", "BIGINT", 1), ("b", "DOUBLE", 0.5), ("c", "VARCHAR", "?")):
        given.load([column_load(name, type_, value, customer=name)])
    assert given.rows(
        "SELECT from_type, to_type, load_id FROM meta.column_changes ORDER BY changed_at_utc"
    ) == [
        ("BIGINT", "DOUBLE", "b"),
        ("DOUBLE", "VARCHAR", "c"),
    ]
    seen = "SELECT column_name, documented, first_load_id FROM meta.columns WHERE table_name = 'sales'"
    assert given.rows(f"{seen} ORDER BY position") == [
        ("id", True, "a"),
        ("price", True, None),
        ("x", False, "a"),
    ]


def test_a_table_that_nobody_declared_appears_below_the_one_it_is_nested_in(tmp_path: Path) -> None:
    given = Given(tmp_path)
    rows = [{"_month": JANUARY, "_parent_row": 0, "depth": 3}]
    found = DeclaredTable("sales", "sales__pools", (), False, None, (), "")
    given.load([load("a", [table(SALES, [{"_month": JANUARY, "id": "1"}]),
                                 table(found, rows, undocumented("depth", "BIGINT"))])])  # fmt: skip
    assert given.rows("SELECT parent_name, report FROM meta.tables WHERE table_name = 'sales__pools'") == [
        ("sales", "sales")
    ]
    assert given.rows("SELECT depth FROM bi.sales__pools") == [(3,)]


def test_a_new_table_comes_with_its_meaning_as_comments(tmp_path: Path) -> None:
    given = Given(tmp_path)
    comment = "SELECT comment FROM duckdb_columns() WHERE table_name = '{}' AND column_name = 'price'"
    assert given.rows(comment.format("sales")) == [("price in SEK",)]
    assert given.rows("SELECT comment FROM duckdb_views() WHERE view_name = 'users'") == [("A user.",)]


def test_a_newly_documented_column_takes_its_type_where_no_value_is_lost(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([column_load("a", "DOUBLE", 2.5), column_load("b", "VARCHAR", "x", customer="M2", name="y")])
    documented = (ID, PRICE, Column("x", "DECIMAL(18,4)"), Column("y", "BIGINT"))
    declare_tables(
        given.store, [DeclaredTable("sales", "sales", documented, False, None, ("id",), "A sale.")]
    )
    found = given.rows(
        "SELECT column_name, type, documented FROM meta.columns WHERE column_name IN ('x', 'y')"
    )
    assert sorted(found) == [("x", "DECIMAL(18,4)", True), ("y", "VARCHAR", True)]


def test_declaring_again_opens_the_file_only_to_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    declare_tables(store, [SALES])
    working = tmp_path / "work" / "warehouse.duckdb"
    before = working.stat().st_mtime_ns
    declare_tables(store, [SALES])
    assert working.stat().st_mtime_ns == before


def test_a_column_of_which_nothing_is_said_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"_row": [0], "_month": [JANUARY], "who": ["?"]})
    with pytest.raises(ValueError, match="who"):
        Given(tmp_path).load([load("a", [Table("sales", OF_SALES, frame)])])


def test_a_name_is_only_ever_a_name(tmp_path: Path) -> None:
    given = Given(tmp_path)
    odd = 'x"; DROP TABLE bi.sales; --'
    given.load([column_load("a'b", "VARCHAR", odd, customer="M'1", name=odd)])
    assert given.rows("SELECT COLUMNS('^x') FROM bi.sales") == [(odd,)]


def test_a_table_of_one_report_takes_no_rows_of_another(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="belongs to sales"):
        Given(tmp_path).load([sales("a", (JANUARY, "1", "1"), report="leads")])


def test_rows_that_point_to_a_parent_need_a_table_that_has_one(tmp_path: Path) -> None:
    found = table(SALES, [{"_month": JANUARY, "_parent_row": 0, "id": "1"}])
    with pytest.raises(ValueError, match="made without one"):
        Given(tmp_path).load([load("a", [found])])


def test_a_table_in_a_nested_table_that_never_came_is_nested_in_the_one_above(tmp_path: Path) -> None:
    given = Given(tmp_path)
    deep = DeclaredTable("sales", "sales__a__b", (ID,), False, None, (), "")
    alone = DeclaredTable("sales", "other__c", (ID,), False, None, (), "")
    rows = [{"_month": JANUARY, "_parent_row": 0, "id": "1"}]
    given.load([load("a", [table(deep, rows), table(alone, rows)])])
    found = given.rows(
        "SELECT table_name, parent_name FROM meta.tables WHERE table_name LIKE '%\\_\\_%' ESCAPE '\\'"
    )
    assert sorted(found) == [("other__c", None), ("sales__a__b", "sales"), ("users__offices", "users")]


def test_a_column_that_is_no_longer_documented_stays(tmp_path: Path) -> None:
    given = Given(tmp_path)
    declare_tables(given.store, [DeclaredTable("sales", "sales", (ID,), False, None, ("id",), "A sale.")])
    found = given.rows(
        "SELECT column_name, documented FROM meta.columns WHERE table_name = 'sales' ORDER BY ALL"
    )
    assert found == [("id", True), ("price", False)]


def test_a_table_cannot_turn_into_a_history(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give it a new name"):
        declare_tables(Given(tmp_path).store, [DeclaredTable("sales", "sales", (ID,), True, None, (), "")])


def test_a_description_that_changes_changes_the_comment(tmp_path: Path) -> None:
    given = Given(tmp_path)
    declare_tables(
        given.store, [DeclaredTable("sales", "sales", OF_SALES, False, None, ("id",), "A sold estate.")]
    )
    assert given.rows("SELECT comment FROM duckdb_tables() WHERE table_name = 'sales'") == [
        ("A sold estate.",)
    ]


def test_a_documented_column_that_was_not_declared_comes_in_its_declared_type(tmp_path: Path) -> None:
    given = Given(tmp_path)
    found = table(SALES, [{"_month": JANUARY, "id": "1", "fee": 5}], Column("fee", "BIGINT"))
    given.load([load("a", [found])])
    assert given.rows("SELECT type, documented FROM meta.columns WHERE column_name = 'fee'") == [
        ("BIGINT", True)
    ]


def test_hundreds_of_new_columns_stand_in_order_each_with_the_load_that_had_it_first(tmp_path: Path) -> None:
    given, names = Given(tmp_path), [f"x{number}" for number in range(300)]
    for load_id, some in (("a", names[:200]), ("b", names)):
        row = {"_month": JANUARY, "id": "1", **dict.fromkeys(some, load_id)}
        found = table(SALES, [row], *(undocumented(name, "VARCHAR") for name in some))
        given.load([load(load_id, [found], customer=load_id)])
    seen = "SELECT column_name, first_load_id FROM meta.columns WHERE column_name LIKE 'x%' ORDER BY position"
    assert given.rows(seen) == [(name, "a" if name in names[:200] else "b") for name in names]
