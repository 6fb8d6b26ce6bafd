"""Tests of the tables that nested documents become: rows, columns, parents and what is left over."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from pipelines.catalogue.model import declared_columns
from pipelines.catalogue.reports import REPORTS
from tests.unit.normalize.answers import (
    JANUARY,
    estate,
    estates,
    event,
    lead,
    live,
    normalized,
    reasons,
    rows,
    types,
)

NESTED = estates(
    estate("OBJ1", agents=[{"id": "HAN1", "changes": [{"commission": 5}]}, {"id": "HAN2"}]),
    estate("OBJ2", agents=[], changes=[{"finalPrice": 2_000_000}]),
    estate("OBJ3", agents=[{"id": "HAN1", "commission": {"value": 1.25}}]),
)


@pytest.mark.parametrize("pages", [[], [None], [[]], [{}]], ids=["no page", "null", "list", "object"])
def test_an_empty_answer_has_every_table_with_its_columns_but_no_rows(pages: list[object]) -> None:
    for report in REPORTS.values():
        result = normalized(report.name, *pages, months=(JANUARY,))
        columns = [(table.name, table.columns) for table in result.tables]
        assert columns == [(table.name, declared_columns(table)) for table in report.tables]
        assert all(table.frame.is_empty() for table in result.tables), report.name
        assert (result.rejected, result.missing) == ((), ()), report.name


def test_columns_of_outer_levels_are_repeated_in_each_row() -> None:
    result = normalized("sales", estates(estate("OBJ1")))
    columns = ("_row", "_month", "office_customer_id", "office_name", "year", "month", "id")
    assert rows(result, "sales_estates", *columns) == [
        (0, date(2026, 1, 1), "M1", "One", "2026", "1", "OBJ1")
    ]


def test_nested_rows_have_the_row_of_their_parent_and_the_ids_above() -> None:
    result = normalized("sales", NESTED)
    assert rows(result, "sales_agents", "_row", "_parent_row", "estate_id", "id", "commission_value") == [
        (0, 0, "OBJ1", "HAN1", None),
        (1, 0, "OBJ1", "HAN2", None),
        (2, 2, "OBJ3", "HAN1", Decimal("1.25")),
    ]
    assert rows(result, "sales_estate_changes", "_parent_row", "estate_id", "final_price") == [
        (1, "OBJ2", Decimal(2_000_000))
    ]
    assert rows(result, "sales_agent_changes", "_parent_row", "_month", "estate_id", "agent_id") == [
        (0, date(2026, 1, 1), "OBJ1", "HAN1")
    ]


def test_equal_rows_are_both_loaded_if_no_id_is_documented() -> None:
    result = normalized("running_commissions", [event(), event()])
    assert rows(result, "running_commissions", "_row", "amount", "obtained_at") == [
        (0, Decimal("100.5"), datetime(2026, 1, 31, 23, 59, 59, 650_000)),
        (1, Decimal("100.5"), datetime(2026, 1, 31, 23, 59, 59, 650_000)),
    ]


def test_nested_rows_have_the_requested_id() -> None:
    answer = {"estates": [estate("OBJ1", agents=[{"id": "H1", "changes": [], "x": [{"y": 1}]}])]}
    result = normalized("sales_for_estate", answer, requested_ids=["OBJ1"])
    for name in ("estates", "agents", "agents__x"):
        assert rows(result, f"sales_for_estate_{name}", "asked_estate_id") == [("OBJ1",)]


def test_lists_of_values_stay_json() -> None:
    result = normalized("live_activity", live({"tags": ["a", 1], "grid": [[1]], "mixed": [{"a": 1}, 5]}))
    assert rows(result, "live_activity", "tags", "grid", "mixed") == [('["a", 1]', "[[1]]", '[{"a": 1}, 5]')]
    assert set(types(result, "live_activity").values()) == {"JSON"}


def test_scalars_objects_and_lists_may_share_a_name_and_all_are_loaded() -> None:
    answer = live({"x": 1}, {"x": {"y": "a"}}, {"x": [{"z": 2}]}, {"x": [3]})
    result = normalized("live_activity", answer)
    assert rows(result, "live_activity", "x", "x_y") == [
        ("1", None),
        (None, "a"),
        (None, None),
        ("[3]", None),
    ]
    assert rows(result, "live_activity__x", "_parent_row", "z") == [(2, 2)]


def test_undeclared_fields_of_objects_around_the_rows_are_not_loaded() -> None:
    answer = {**estates(estate("OBJ1"), city="Ystad", staff=[{"n": 1}]), "madeAt": "now"}
    result, bare = normalized("sales", answer), normalized("sales", estates(estate("OBJ1")))
    assert [table.frame.columns for table in result.tables] == [table.frame.columns for table in bare.tables]


COLLIDING = {"ID": 7, "id": "H1", "Id": 8, "_row": 1, "": 2, "a b": 3, "a_b": 4}


@pytest.mark.parametrize(
    ("report", "row", "names"),
    [
        ("users", COLLIDING, {"id_2", "id_3", "row", "unnamed", "a_b", "a_b_2"}),
        ("users", {"validFromUtc": 1, "valid_to_utc": 2}, {"valid_from_utc_2", "valid_to_utc_2"}),
        ("users", {'x"; drop\x00\n table': 1, "y" * 500: 2}, {"x_drop_table", "y" * 120}),
    ],
    ids=["that collide", "of ours", "with control characters or too long"],
)
def test_each_field_gets_a_separate_column(report: str, row: dict[str, Any], names: set[str]) -> None:
    assert types(normalized(report, [{"id": "H1", **row}]), report).keys() == names


def test_fields_beyond_the_limit_of_columns_are_json_in_one_column() -> None:
    result = normalized("users", [{**{f"k{n}": n for n in range(2_000)}, "id": "H1"}])
    columns = types(result, "users")
    assert len(columns) < 300
    assert columns["more_fields"] == "JSON"
    assert rows(result, "users", "id") == [("H1",)]


def test_an_empty_object_beyond_the_limit_of_columns_is_no_column() -> None:
    row = {"full": {f"k{n}": n for n in range(249)}, "more": {"k": 1}, "empty": {}}
    assert "empty" not in types(normalized("users", [{"id": "H1", "spokenLanguages": [], **row}]), "users")


def test_objects_nested_too_deeply_for_columns_stay_json() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    result = normalized("live_activity", live(deep))
    assert types(result, "live_activity") == {"a_a_a_a_a_a_a_a": "JSON"}


def test_lists_nested_too_deeply_for_tables_stay_json() -> None:
    deep: Any = {"b": 7}
    for _ in range(60):
        deep = {"a": [deep]}
    result = normalized("live_activity", live(deep))
    assert len(result.tables) < 12
    assert "7" in str(result.tables[-1].frame.rows())


def test_an_object_that_has_only_a_list_is_a_row() -> None:
    result = normalized("live_activity", live({"a": [{"b": [{"c": 7}, None]}]}))
    assert rows(result, "live_activity__a", "_row", "_parent_row") == [(0, 0)]
    assert rows(result, "live_activity__a__b", "_parent_row", "c") == [(0, 7)]


def test_an_undeclared_field_that_is_always_null_is_not_a_column() -> None:
    answer = [{"name": "Blue", "founded": 1990, "colour": None}]
    assert types(normalized("trademarks", answer), "trademarks") == {"founded": "BIGINT"}


@pytest.mark.parametrize(
    ("user", "missing"), [({}, ("live_commissions.commission",)), ({"commission": None}, ())]
)
def test_a_needed_column_that_no_row_has_is_missing_and_one_that_is_null_is_not(
    user: dict[str, Any], missing: tuple[str, ...]
) -> None:
    result = normalized("live_commissions", live({"soldEstateParts": 1}, user), months=(JANUARY,))
    assert (result.missing, reasons(result)) == (missing, [])


def test_rows_repeated_on_pages_are_loaded_once_with_their_nested_rows() -> None:
    second = lead("L2", calls=[{"n": 1}])
    pages = {"incomingLeads": [lead("L1"), second]}, {"incomingLeads": [second, lead("L3")]}
    result = normalized("tips_and_leads", *pages)
    assert rows(result, "incoming_leads", "_row", "lead_id") == [(0, "L1"), (1, "L2"), (2, "L3")]
    assert rows(result, "incoming_leads__calls", "_parent_row", "n") == [(1, 1)]


def test_leads_have_the_choice_of_their_request_and_the_last_choice_counts() -> None:
    active = {"incomingLeads": [lead("L1"), lead("L2")]}
    removed = {"incomingLeads": [lead("L2", state="Done"), lead("L3")]}
    result = normalized("tips_and_leads", active, removed, choices=("Active", "Removed"))
    assert rows(result, "incoming_leads", "lead_id", "is_removed") == [
        ("L1", False),
        ("L2", True),
        ("L3", True),
    ]


def test_whether_a_lead_is_removed_is_unknown_if_the_service_ignores_the_choice() -> None:
    active = {"incomingLeads": [lead("L1"), lead("L2")], "tips": []}
    ignored = {"incomingLeads": [lead("L1"), lead("L2", contact={"id": "C1"}), lead("L3")], "tips": []}
    result = normalized("tips_and_leads", active, ignored, choices=("Active", "Removed"))
    assert rows(result, "incoming_leads", "lead_id", "contact_id", "is_removed") == [
        ("L1", None, None),
        ("L2", "C1", None),
        ("L3", None, True),
    ]


def test_whether_a_lead_is_removed_is_unknown_if_one_answer_has_both_kinds() -> None:
    both = {"totalRowCount": 1, "incomingLeads": [lead("L1")]}
    result = normalized("tips_and_leads", both, choices=("ActiveAndRemoved",))
    assert rows(result, "incoming_leads", "lead_id", "is_removed") == [("L1", None)]
    assert {table.name for table in result.tables} == {"incoming_leads", "outgoing_leads", "tips"}


def test_an_id_repeated_without_pages_is_two_rows() -> None:
    result = normalized("sales", estates(estate("OBJ1"), estate("OBJ1")))
    assert rows(result, "sales_estates", "id") == [("OBJ1",), ("OBJ1",)]
    assert reasons(result) == []
