"""Rows are read strictly at the paths of the report's shape; other answers do not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipelines.catalogue.model import Column, Table, assumed, boolean
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.rows import OnlyPlainValues, ShapeMismatch
from tests.unit.normalize.answers import JANUARY, estate, estates, normalized, reasons, report_with, rows

SALE = {"id": "S1"}


def text(name: str, path: str) -> Column:
    return assumed(name, "VARCHAR", path, "a column of a test")


ID = text("id", ".id")


def found(shape: tuple[Any, ...], answer: Any, **changes: Any) -> list[tuple[Any, ...]]:
    """The rows that a shape finds in an answer. A shape is the path of its rows and then its columns."""
    path, *columns = shape
    result = normalized(report_with(path, *columns, **changes), answer)
    return rows(result, "rows", *(column.name for column in columns))


@pytest.mark.parametrize(
    ("shape", "answer"),
    [
        (("[]", ID), [SALE]),
        (("rows[]", ID), {"rows": [SALE]}),
        (("ROW_S[]", ID), {"rowS": [SALE]}),
        (("data.rows[]", ID), {"data": {"rows": [SALE]}}),
        (("[].rows[]", ID), [{"rows": [SALE]}, {"rows": []}, {"rows": None}]),
        (("", ID), SALE),
        (("rows[].sale", ID), {"rows": [{"number": 1, "sale": SALE}]}),
        (("rows[]", text("id", ".sale.id")), {"rows": [{"sale": SALE}]}),
        (("(houses|plots)[]", ID), {"plots": [SALE], "houses": []}),
        (("ids[]", text("id", ".")), {"ids": ["S1"]}),
        (("sales{}", text("id", "sales{}#")), {"sales": {"S1": {"price": 1}}}),
        (("sales{}", text("id", ".")), {"sales": {"first": "S1"}}),
        (("offices[].sales[]", text("id", "offices[].id")), {"offices": [{"id": "S1", "sales": [{"n": 1}]}]}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_rows_and_columns_are_at_their_paths(shape: tuple[Any, ...], answer: Any) -> None:
    assert found(shape, answer) == [("S1",)]


def test_a_column_may_be_a_member_of_the_document() -> None:
    report = report_with("rows[]", ID)
    report = replace(report, tables=(replace(report.tables[0], paths={"id": "head.id"}),))
    assert rows(normalized(report, {"head": {"id": "S1"}, "rows": [{"n": 1}]}), "rows", "id") == [("S1",)]


def test_a_root_comes_before_every_path() -> None:
    assert found(("[]", ID), {"data": {"items": [SALE]}}, root="data.items") == [("S1",)]


def test_the_name_of_a_list_is_a_column_as_the_answer_writes_it() -> None:
    answer = {"houses": [{"id": "A"}], "Plots": [{"id": "B"}], "name": "One", "phones": ["1"]}
    assert found(("*[]", text("kind", "*[]#"), ID), answer) == [("houses", "A"), ("Plots", "B")]
    assert found(("(Houses|plots)[]", text("kind", "(Houses|plots)[]#"), ID), answer) == [
        ("houses", "A"),
        ("Plots", "B"),
    ]


def test_rows_below_another_tables_rows_have_columns_of_that_table() -> None:
    parent = Table("parents", "[]", "parents", (ID,), key=("id",))
    columns = (text("of", "@parents.id"), text("id", "."))
    child = Table("children", "@parents.ids[]", "children", columns, parent="parents")
    report = replace(REPORTS["trademarks"], tables=(parent, child))
    result = normalized(report, [{"id": "A", "ids": ["1", "2"]}, {"id": "B"}])
    assert rows(result, "children", "_parent_row", "of", "id") == [(0, "A", "1"), (0, "A", "2")]


def test_a_table_that_the_service_does_not_have_has_no_rows_and_fits_any_answer() -> None:
    result = normalized(report_with("-", ID), {"anything": [{"x": 1}]})
    assert (rows(result, "rows", "id"), result.rejected, result.missing) == ([], (), ())


def test_a_column_that_the_service_does_not_have_is_null_and_not_missing() -> None:
    table = Table("rows", "[]", "rows", (ID, assumed("n", "BIGINT", ".n", "n", needed=True)))
    report = report_with("[]", ID)
    result = normalized(replace(report, tables=(replace(table, paths={"n": "-"}),)), [SALE])
    assert (rows(result, "rows", "id", "n"), result.missing) == ([("S1", None)], ())


def test_two_spellings_of_a_field_in_one_answer_are_one_column() -> None:
    answer = [{"id": "A", "newHöme": 1}, {"ID": "B", "new_ho\u0308me": 2}, {"id": None, "ID": "C", "Id": "D"}]
    found = rows(normalized(report_with("[]", ID), answer), "rows", "id", "new_höme", "id_2")
    assert found == [("A", 1, None), ("B", 2, None), ("C", None, "D")]


def test_two_fields_with_names_like_spellings_stay_apart_where_both_are_named() -> None:
    homes: Any = ({"newHome": 1, "new_home": 1}, {"newHome": None, "new_home": 3}, {"new_home": 4})
    answer = [{"id": name, **home} for name, home in zip("ABC", homes, strict=True)]
    found = rows(normalized(report_with("[]", ID), answer), "rows", "id", "new_home", "new_home_2")
    assert found == [("A", 1, 1), ("B", None, 3), ("C", 4, None)]


@pytest.mark.parametrize(
    "answer", [None, {}, [], {"rows": None}, {"rows": []}, {"rows": {}}, {"rows": [], "extra": [{"a": 1}]}]
)
def test_null_and_empty_values_have_no_rows(answer: Any) -> None:
    assert found(("rows[]", ID), answer) == []


@pytest.mark.parametrize(
    "office", [{"id": "A"}, {"id": "A", "city": "Hjo"}, {"id": "A", "x": [], "y": {}}, {}]
)
def test_an_absent_list_has_no_rows_if_nothing_undeclared_is_next_to_it(office: dict[str, Any]) -> None:
    shape = ("[].sales[]", text("office", "[].id"), ID)
    assert found(shape, [{"id": "B", "sales": [SALE]}, office]) == [("B", "S1")]


@pytest.mark.parametrize("undeclared", [{"items": [SALE]}, {"items": ["S1"]}, {"result": {"sales": [SALE]}}])
def test_an_absent_list_next_to_an_undeclared_list_or_object_does_not_fit_even_in_one_office_of_five(
    undeclared: dict[str, Any],
) -> None:
    offices = [{"id": str(number), "sales": [SALE]} for number in range(5)]
    offices[3] = {"id": "3", **undeclared}
    with pytest.raises(ShapeMismatch, match=r"expected \[\]\.sales\[\], found an object with id, "):
        found(("[].sales[]", text("office", "[].id"), ID), offices)


def test_an_absent_list_does_not_fit_if_an_enclosing_object_has_its_name() -> None:
    offices = [{"id": "A", "users": [{"id": "1", "months": [SALE]}]}, {"id": "B", "users": [{"id": "2"}]}]
    shape = ("[].users[].months[]", text("office", "[].id"), text("user", "[].users[].id"), ID)
    assert found(shape, offices) == [("A", "1", "S1")]
    offices[1]["months"] = [SALE]
    with pytest.raises(ShapeMismatch, match=r"expected \[\]\.users\[\]\.months\[\]"):
        found(shape, offices)


@pytest.mark.parametrize("wrong", [{"x": {"houses": [SALE]}}, {"message": "busy"}, {"houses": [1, 2]}])
def test_lists_of_any_name_have_objects_and_are_not_wrapped_in_an_object(wrong: dict[str, Any]) -> None:
    assert found(("[].*[]", text("kind", "[].*[]#"), ID), [{"houses": [SALE]}]) == [("houses", "S1")]
    with pytest.raises(ShapeMismatch):
        found(("[].*[]", text("kind", "[].*[]#"), ID), [{"houses": [SALE]}, wrong])


def test_flat_rows_do_not_fit_if_enclosing_objects_are_declared() -> None:
    flat = {"customerId": "M1", "userId": "HAN1", "year": 2026, "month": 1, "commission": 5}
    with pytest.raises(ShapeMismatch, match=r"expected \[\]\.users\[\], found an object with customerId, "):
        normalized("budget_commission", [flat])


def test_a_measure_that_matches_two_fields_is_missing_until_the_operator_chooses_one() -> None:
    months = [{"year": 2026, "month": 1, "commission": 5, "budgeted": 9}]
    answer = [{"customerId": "M1", "users": [{"userId": "HAN1", "months": months}]}]
    report = REPORTS["budget_commission"]
    result = normalized(report, answer)
    assert result.missing == ("budget_commission.commission_budget",)
    assert rows(result, report.name, "commission_budget", "commission", "budgeted") == [(None, 5, 9)]
    [declared] = report.tables
    chosen = replace(report, tables=(replace(declared, paths={"commission_budget": ".budgeted"}),))
    assert rows(normalized(chosen, answer), report.name, "commission_budget") == [(9,)]


def test_an_absent_list_next_to_another_declared_one_has_no_rows() -> None:
    assert rows(normalized("tips_and_leads", {"tips": []}), "incoming_leads", "lead_id") == []


@pytest.mark.parametrize("answer", [{"total": 5}, {"message": "busy"}, {"totalRowCount": 0}])
def test_a_document_has_at_least_one_of_its_declared_lists(answer: Any) -> None:
    with pytest.raises(ShapeMismatch):
        found(("rows[]", ID), answer)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("[]", {"rows": [SALE]}),
        ("[]", SALE),
        ("rows[]", [SALE]),
        ("rows[]", {"rows": SALE}),
        ("rows{}", {"rows": [SALE]}),
        ("rows[].sale", {"rows": [{"sale": [SALE]}]}),
        ("data.rows[]", {"data": [SALE]}),
        *(("rows[]", {"rows": value}) for value in ("", 0, False)),
    ],
)
def test_a_value_of_another_kind_in_place_of_a_list_does_not_fit(path: str, answer: Any) -> None:
    with pytest.raises(ShapeMismatch):
        found((path, ID), answer)


@pytest.mark.parametrize("answer", [{"items": [SALE]}, [SALE], {"data": {"rows": [SALE]}}])
def test_an_answer_without_its_root_does_not_fit(answer: Any) -> None:
    with pytest.raises(ShapeMismatch, match=r"expected an object with data\.items"):
        found(("[]", ID), answer, root="data.items")


def test_the_message_names_the_expected_path_and_the_found_fields_but_no_value() -> None:
    users = [{"userId": "U1", "period": "2026-01", "Anna Andersson 1": 5, "roles": [{"id": 1}] * 3}] * 2
    with pytest.raises(ShapeMismatch) as raised:
        normalized("budget_commission", {"data": {"items": users}})
    assert str(raised.value) == (
        "expected [], found an object with data; rows may be at data.items[] (2 objects with userId, "
        "period, Anna Andersson 1, roles), or data.items[].roles[] (6 objects with id)"
    )


ERRORS: tuple[Any, ...] = (
    {"errorCode": 17, "errorText": "busy"},
    {"message": "An error has occurred."},
    [{"message": "An error has occurred."}],
)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("answer", ERRORS, ids=["code", "message", "list"])
def test_an_error_message_with_status_200_fits_no_report(name: str, answer: Any) -> None:
    with pytest.raises(ShapeMismatch) as raised:
        normalized(name, answer, months=(JANUARY,))
    assert isinstance(raised.value, OnlyPlainValues) == isinstance(answer, dict)


def test_a_row_with_none_of_its_declared_columns_is_rejected() -> None:
    result = normalized(report_with("[]", ID), [SALE, {"number": 5}])
    assert (rows(result, "rows", "id"), reasons(result)) == (
        [("S1",)],
        [("rows", "it has none of the declared columns", None)],
    )


@pytest.mark.parametrize("answer", [[{"number": 5}], [{"number": 5}, {"number": 6}], [7], [None]])
def test_a_document_without_any_declared_column_does_not_fit(answer: Any) -> None:
    with pytest.raises(ShapeMismatch, match="expected rows of rows at "):
        normalized(report_with("[]", ID, boolean("isNew", "whether it is new")), answer)


def test_plain_values_in_an_undocumented_list_are_rows_of_one_value() -> None:
    result = normalized("users", [{"id": "HAN1", "spokenLanguages": ["sv", {"code": "en"}, None]}])
    assert rows(result, "users__spoken_languages", "user_id", "value", "code") == [
        ("HAN1", "sv", None),
        ("HAN1", None, "en"),
    ]
    assert reasons(result) == [("users__spoken_languages", "it is not an object", None)]


def test_a_renamed_list_of_agents_in_one_estate_does_not_fit() -> None:
    renamed = {"id": "OBJ2", "contractDay": "2026-01-15", "changes": [], "brokers": [{"id": "HAN1"}]}
    with pytest.raises(ShapeMismatch, match=r"estateSaleReports\[\]\.agents\[\]"):
        normalized("sales", estates(estate("OBJ1", agents=[{"id": "HAN1"}]), renamed))
