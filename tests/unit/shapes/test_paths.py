"""Paths: the words in which an operator says where rows and columns are."""

from __future__ import annotations

import pytest

from pipelines.shapes.paths import ColumnPath, PathError, member_path, rows_path


@pytest.mark.parametrize(
    ("rows", "column", "found"),
    [
        ("offices[].people[].months[]", ".period", ColumnPath(3, ("period",))),
        ("offices[].people[].months[]", "offices[].people[].id", ColumnPath(2, ("id",))),
        ("offices[].people[].months[]", "OFFICES[].customer_id", ColumnPath(1, ("customerid",))),
        ("offices[].people[]", "offices[].people[].address.city", ColumnPath(2, ("address", "city"))),
        ("data.items[]", "data.year", ColumnPath(0, ("data", "year"))),
        ("offices{}.users[]", "offices{}#", ColumnPath(1, is_key=True)),
        ("[].*[]", "[].*[]#", ColumnPath(2, is_key=True)),
        ("(sold|rented)[]", "(sold|rented)[].#", ColumnPath(1, is_key=True)),
        ("ids[]", ".", ColumnPath(1)),
        ("rows[].sale", "rows[].id", ColumnPath(1, ("id",))),
        ("rows[].sale", ".id", ColumnPath(2, ("id",))),
        ("@sales.agents[]", "@sales.id", ColumnPath(members=("id",), parent="sales")),
        ("", ".year", ColumnPath(0, ("year",))),
        ("[]", "-", None),
    ],
)
def test_a_column_is_found_on_the_path_to_its_rows(rows: str, column: str, found: ColumnPath | None) -> None:
    assert rows_path(rows).column(column) == found


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("x.a[0]", "a[0]"),
        ("a..b[]", ""),
        ("*", "*"),
        ("(a|b)", "(a|b)"),
        ("a[]#", "a[]#"),
        ("a{}#", "a{}#"),
        ("x._[]", "_[]"),
    ],
)
def test_a_path_that_cannot_be_read_is_an_error_that_quotes_it(path: str, part: str) -> None:
    with pytest.raises(PathError) as error:
        rows_path(path)
    assert str(error.value) == f"the path {path!r} cannot be read at {part!r}"


@pytest.mark.parametrize(
    "column", ["people[].id", "offices[].people[].x[]", "@other.id", "offices[]#", "months{}#.x"]
)
def test_a_column_off_the_path_to_its_rows_is_an_error(column: str) -> None:
    with pytest.raises(PathError):
        rows_path("offices[].months[]").column(column)


def test_a_root_has_only_members() -> None:
    assert member_path("data.Page_Items") == ("data", "pageitems")
    with pytest.raises(PathError):
        member_path("data[]")
