"""Do nested documents become the tables that the catalogue names? Rows, columns, parents and what is left."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from pipelines.catalogue.model import Report, declared_columns
from pipelines.catalogue.reports import REPORTS
from tests.unit.normalize.answers import (
    JANUARY,
    estate,
    estates,
    event,
    flattened,
    lead,
    reasons,
    rows,
    types,
)

every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)
NESTED = estates(
    estate("OBJ1", agents=[{"id": "HAN1", "changes": [{"commission": 5}]}, {"id": "HAN2"}]),
    estate("OBJ2", agents=[], changes=[{"finalPrice": 2_000_000}]),
    estate("OBJ3", agents=[{"id": "HAN1", "commission": {"value": 1.25}}]),
)


@every_report
@pytest.mark.parametrize("nothing", [None, [], {}], ids=["null", "list", "object"])
def test_an_empty_answer_has_every_table_with_its_columns_and_no_row(report: Report, nothing: object) -> None:
    flat = flattened(report.name, nothing, months=(JANUARY,))
    assert [one.name for one in flat.tables] == [one.name for one in report.tables]
    assert all(one.frame.is_empty() for one in flat.tables)
    assert [one.columns for one in flat.tables] == [declared_columns(one) for one in report.tables]
    assert flat.findings.recognised


@every_report
def test_no_page_at_all_is_an_empty_answer(report: Report) -> None:
    flat = flattened(report.name, months=(JANUARY,))
    assert sum(one.frame.height for one in flat.tables) == 0
    assert flat.findings.recognised


def test_levels_of_a_tree_are_carried_down_to_its_rows() -> None:
    flat = flattened("sales", estates(estate("OBJ1")))
    columns = ("_row", "_month", "office_customer_id", "office_name", "year", "month", "id")
    assert rows(flat, "sales_estates", *columns) == [(0, date(2026, 1, 1), "M1", "One", "2026", "1", "OBJ1")]


def test_children_know_their_parent_and_the_ids_above_them() -> None:
    flat = flattened("sales", NESTED)
    assert rows(flat, "sales_agents", "_row", "_parent_row", "estate_id", "id") == [
        (0, 0, "OBJ1", "HAN1"),
        (1, 0, "OBJ1", "HAN2"),
        (2, 2, "OBJ3", "HAN1"),
    ]
    assert rows(flat, "sales_estate_changes", "_parent_row", "estate_id", "final_price") == [
        (1, "OBJ2", Decimal(2_000_000))
    ]
    assert rows(flat, "sales_agent_changes", "_parent_row", "_month", "estate_id", "agent_id") == [
        (0, date(2026, 1, 1), "OBJ1", "HAN1")
    ]


def test_documented_columns_have_their_types_and_nested_objects_their_names() -> None:
    flat = flattened("sales", NESTED)
    assert rows(flat, "sales_agents", "commission_value") == [(None,), (None,), (Decimal("1.25"),)]


def test_equal_rows_are_both_kept_where_no_id_is_documented() -> None:
    flat = flattened("running_commissions", [event(), event()])
    assert rows(flat, "running_commissions", "_row", "amount", "obtained_at") == [
        (0, Decimal("100.5"), datetime(2026, 1, 31, 23, 59, 59, 650_000)),
        (1, Decimal("100.5"), datetime(2026, 1, 31, 23, 59, 59, 650_000)),
    ]


def test_lists_under_several_keys_are_one_table_that_keeps_the_key() -> None:
    sold = {"contractDay": "2026-01-02"}
    houses, castles = [{"id": "OBJ1", **sold}], [{"id": "OBJ2", **sold, "towers": [{"height": 30}]}]
    flat = flattened(
        "sold_estates", [{"customerId": "M1", "houses": houses, "plots": [], "castles": castles}]
    )
    assert rows(flat, "sold_estates", "office_customer_id", "kind", "id") == [
        ("M1", "houses", "OBJ1"),
        ("M1", "castles", "OBJ2"),
    ]
    assert rows(flat, "sold_estates__towers", "_parent_row", "height") == [(1, 30)]


def test_undocumented_fields_become_columns_and_lists_of_objects_tables() -> None:
    flat = flattened("sales", estates(estate("OBJ1", heat={"pump": True}, bids=[{"sum": 1}, {"sum": 2.5}])))
    assert types(flat, "sales_estates") == {"heat_pump": "BOOLEAN"}
    assert rows(flat, "sales_estates__bids", "_parent_row", "_month", "sum") == [
        (0, date(2026, 1, 1), 1.0),
        (0, date(2026, 1, 1), 2.5),
    ]


def test_lists_that_are_no_rows_stay_json() -> None:
    flat = flattened("live_activity", [{"tags": ["a", 1], "grid": [[1], [2]], "mixed": [{"a": 1}, 5]}])
    assert rows(flat, "live_activity", "tags", "grid", "mixed") == [
        ('["a", 1]', "[[1], [2]]", '[{"a": 1}, 5]')
    ]
    assert set(types(flat, "live_activity").values()) == {"JSON"}


def test_a_null_between_undocumented_objects_is_a_row_without_values() -> None:
    flat = flattened("live_activity", [{"calls": [None, {"n": 1}]}])
    assert rows(flat, "live_activity__calls", "_row", "_parent_row", "n") == [(0, 0, None), (1, 0, 1)]
    assert flat.rejected == ()


def test_scalars_objects_and_lists_may_share_a_name_and_all_are_kept() -> None:
    flat = flattened("live_activity", [{"x": 1}, {"x": {"y": "a"}}, {"x": [{"z": 2}]}, {"x": [3]}])
    assert rows(flat, "live_activity", "x", "x_y") == [("1", None), (None, "a"), (None, None), ("[3]", None)]
    assert rows(flat, "live_activity__x", "_parent_row", "z") == [(2, 2)]


def test_what_stands_on_a_level_is_kept_too() -> None:
    answer = estates(estate("OBJ1"), city="Ystad", phones=["1"], staff=[{"n": 1}])
    flat = flattened("sales", answer)
    assert rows(flat, "sales_estates", "office_city", "office_phones") == [("Ystad", '["1"]')]
    assert rows(flat, "sales__office_sale_reports_staff", "office_customer_id", "n") == [("M1", 1)]


def test_what_stands_beside_the_lists_is_a_row_of_the_envelope() -> None:
    flat = flattened("sales", {**estates(estate("OBJ1")), "madeAt": "now", "notes": [{"text": "x"}]})
    assert rows(flat, "sales__envelope", "_month", "made_at") == [(date(2026, 1, 1), "now")]
    assert rows(flat, "sales__notes", "text") == [("x",)]


def test_an_undocumented_object_is_one_row_and_its_lists_are_tables() -> None:
    flat = flattened("live_activity", {"total": 3, "users": [{"id": 1}]}, months=(JANUARY,))
    assert rows(flat, "live_activity", "_month", "total") == [(date(2026, 1, 1), 3)]
    assert rows(flat, "live_activity__users", "_parent_row", "id") == [(0, 1)]


def test_a_documented_list_of_undocumented_rows_may_hold_objects_or_not() -> None:
    flat = flattened(
        "users", [{"id": "H1", "spokenLanguages": [{"code": "sv"}]}, {"id": "H2", "spokenLanguages": ["sv"]}]
    )
    assert rows(flat, "users__spoken_languages", "_parent_row", "user_id", "code") == [(0, "H1", "sv")]
    assert rows(flat, "users", "spoken_languages") == [(None,), ('["sv"]',)]


def test_what_was_asked_for_is_in_every_row() -> None:
    flat = flattened(
        "user_budget_estate", [{"sold": 3}], [{"sold": 4}], months=(JANUARY,), asked=["H1", "H2"]
    )
    assert rows(flat, "user_budget_estate", "asked_user_id", "sold") == [("H1", 3), ("H2", 4)]


def test_what_was_asked_for_reaches_nested_rows() -> None:
    answer = {"estates": [estate("OBJ1", agents=[{"id": "H1", "x": [{"y": 1}]}])]}
    flat = flattened("sales_for_estate", answer, asked=["OBJ1"])
    for name in ("estates", "agents", "agents__x"):
        assert rows(flat, f"sales_for_estate_{name}", "asked_estate_id") == [("OBJ1",)]


def test_names_that_collide_are_told_apart_the_documented_one_first() -> None:
    flat = flattened("users", [{"ID": 7, "id": "H1", "Id": 8, "_row": 1, "": 2, "a b": 3, "a_b": 4}])
    assert rows(flat, "users", "id", "id_2", "id_3") == [("H1", 7, 8)]
    assert types(flat, "users").keys() == {"id_2", "id_3", "row", "unnamed", "a_b", "a_b_2"}


def test_a_name_of_ours_is_left_to_us() -> None:
    flat = flattened("trademarks", [{"validFromUtc": 1, "valid_to_utc": 2}])
    assert types(flat, "trademarks").keys() == {"valid_from_utc_2", "valid_to_utc_2"}


def test_control_characters_and_length_do_no_harm_to_names() -> None:
    flat = flattened("trademarks", [{'x"; drop\x00\n table': 1, "y" * 500: 2}])
    assert types(flat, "trademarks").keys() == {"x_drop_table", "y" * 120}


def test_more_columns_than_anyone_wants_are_kept_in_one() -> None:
    flat = flattened("users", [{**{f"k{n}": n for n in range(2_000)}, "id": "H1"}])
    columns = types(flat, "users")
    assert len(columns) < 700
    assert columns["more_fields"] == "JSON"
    assert rows(flat, "users", "id") == [("H1",)]


def test_objects_nested_too_deeply_for_columns_stay_json() -> None:
    deep: object = 1
    for _ in range(300):
        deep = {"a": deep}
    flat = flattened("live_activity", deep)
    ((name, type_),) = types(flat, "live_activity").items()
    assert (name, type_) == ("a_a_a_a_a_a_a_a", "JSON")


def test_lists_nested_too_deeply_for_tables_stay_json() -> None:
    deep: object = 1
    for _ in range(60):
        deep = [{"a": deep}]
    flat = flattened("live_activity", deep)
    assert len(flat.tables) < 12


def test_a_column_that_is_always_null_is_no_column_yet() -> None:
    assert types(flattened("trademarks", [{"id": 1, "colour": None}]), "trademarks") == {"id": "BIGINT"}


def test_a_documented_field_that_no_row_has_is_noted() -> None:
    flat = flattened("running_commissions", [{"amount": 1, "obtainedAt": "2026-01-01"}])
    assert flat.findings.notes == (
        "running_commissions: no row has userId, customerId, estateId, exchangeRate",
    )


def test_a_field_of_an_object_that_is_null_everywhere_is_not_called_missing() -> None:
    notes = flattened("tips_and_leads", {"tips": [lead("x", tip={"id": "T1"}, contact=None)]}).findings.notes
    assert not any("contact." in note for note in notes)


def test_ids_that_pages_repeat_are_counted_and_kept_once() -> None:
    pages = {"incomingLeads": [lead("L1"), lead("L2")]}, {"incomingLeads": [lead("L2"), lead("L3")]}
    flat = flattened("tips_and_leads", *pages)
    assert rows(flat, "incoming_leads", "_row", "lead_id") == [(0, "L1"), (1, "L2"), (2, "L3")]
    assert flat.findings.repeated_ids == 1


def test_children_of_a_repeated_row_are_not_repeated_either() -> None:
    repeated = {"incomingLeads": [lead("L1", calls=[{"n": 1}])]}
    flat = flattened("tips_and_leads", repeated, repeated)
    assert rows(flat, "incoming_leads__calls", "_parent_row", "n") == [(0, 1)]


def test_an_id_repeated_without_pages_is_two_rows() -> None:
    flat = flattened("sales", estates(estate("OBJ1"), estate("OBJ1")))
    assert rows(flat, "sales_estates", "id") == [("OBJ1",), ("OBJ1",)]
    assert reasons(flat) == []


@pytest.mark.parametrize(
    ("office", "noted"),
    [
        ({"customerId": "M1", "years": []}, False),
        ({"customerId": "M1", "city": None, "years": []}, False),
        ({"customerId": "M1", "city": "Hjo", "years": []}, True),
    ],
)
def test_unknown_values_of_an_office_without_rows_are_not_left_out_silently(
    office: dict[str, object], noted: bool
) -> None:
    notes = flattened("sales", {"officeSaleReports": [office]}).findings.notes
    told = "without a row below them there is no place for some values of officeSaleReports[].city"
    assert any(note.startswith(told) for note in notes) == noted
