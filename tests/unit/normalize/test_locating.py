"""Are declared lists found when an answer wraps, renames or unwraps them? And nothing else for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.normalize.answers import estate, estates, event, flattened, lead, rows, table, types

SALES = estates(estate("OBJ1", agents=[{"id": "HAN1"}]))
OFFICES = SALES["officeSaleReports"]


def pascal(value: Any) -> Any:
    if isinstance(value, list):
        return [pascal(one) for one in value]
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: pascal(member) for key, member in value.items()}
    return value


@pytest.mark.parametrize(
    "answer",
    [
        {"data": SALES},
        {"result": {"report": SALES}, "ok": True},
        {"rows": OFFICES, "totalPageCount": 1},
        {"somethingElse": OFFICES},
        {"office_sale_reports": OFFICES},
        {"officeSaleReports": {"items": OFFICES}},
        OFFICES,
        [SALES],
        pascal(SALES),
    ],
    ids=["wrapped", "nested", "rows", "renamed", "snake", "enveloped", "unwrapped", "listed", "pascal"],
)
def test_a_tree_is_found_wherever_it_stands(answer: Any) -> None:
    flat = flattened("sales", answer)
    assert rows(flat, "sales_estates", "office_customer_id", "id") == [("M1", "OBJ1")]
    assert rows(flat, "sales_agents", "estate_id", "id") == [("OBJ1", "HAN1")]
    assert flat.findings.recognised


@pytest.mark.parametrize(
    "answer",
    [
        {"rows": [event()], "totalRowCount": 1},
        {"data": {"commissions": [event()]}},
        {"x": [{"a": 1}], "y": [event()]},
        [pascal(event())],
    ],
)
def test_a_list_of_documented_rows_is_known_by_its_keys(answer: Any) -> None:
    assert rows(flattened("running_commissions", answer), "running_commissions", "user_id") == [("HAN1",)]


@pytest.mark.parametrize(
    "answer",
    [
        {"incomingLeads": [lead("L1")], "outgoingLeads": [lead("L2")], "tips": []},
        {"rows": {"incomingLeads": [lead("L1")], "outgoingLeads": [lead("L2")]}},
        {"incomingLeads": {"rows": [lead("L1")]}, "outgoingLeads": {"rows": [lead("L2")]}},
        {"pages": [{"IncomingLeads": [lead("L1")], "OutgoingLeads": [lead("L2")]}]},
        [{"incomingLeads": [lead("L1")]}, {"outgoingLeads": [lead("L2")]}],
    ],
)
def test_leads_are_found_in_any_envelope(answer: Any) -> None:
    flat = flattened("tips_and_leads", answer)
    assert rows(flat, "incoming_leads", "lead_id") == [("L1",)]
    assert rows(flat, "outgoing_leads", "lead_id") == [("L2",)]


def test_where_a_list_was_found_is_noted() -> None:
    notes = flattened("sales", {"data": SALES}).findings.notes
    assert "sales_estates: the list officeSaleReports[] was found at data.officeSaleReports[]" in notes


def test_lists_that_look_alike_are_not_guessed_at() -> None:
    flat = flattened("running_commissions", {"paid": [event()], "unpaid": [event(), event()]})
    assert not flat.findings.recognised
    assert rows(flat, "running_commissions", "_row") == []
    assert [one.table for one in flat.rejected] == ["running_commissions"]


@pytest.mark.parametrize("answer", [{"report": "none"}, ["x"]])
def test_an_answer_that_is_something_else_is_not_taken_for_an_empty_one(answer: Any) -> None:
    flat = flattened("sales", answer)
    assert not flat.findings.recognised
    assert len(flat.rejected) == 1


@pytest.mark.parametrize("name", ["sales", "commission_office_by_month", "live_activity", "trademarks"])
@pytest.mark.parametrize("answer", [{"message": "An error has occurred."}, {"errors": [{"code": 1}]}])
def test_an_error_with_status_200_is_no_report_of_any_kind(name: str, answer: Any) -> None:
    flat = flattened(name, answer)
    assert not flat.findings.recognised
    assert all(table.frame.is_empty() for table in flat.tables)


def test_a_list_under_its_own_name_is_not_taken_for_one_it_resembles() -> None:
    lead = {
        "createdAt": "2026-01-05T10:00:00",
        "lead": {"id": "L1"},
        "sender": {},
        "receiver": {},
        "contact": {},
    }
    for answer in ({"data": {"incomingLeads": [lead]}}, {"IncomingLeads": [lead], "Tips": []}):
        flat = flattened("tips_and_leads", answer)
        assert rows(flat, "incoming_leads", "lead_id") == [("L1",)]


@pytest.mark.parametrize(
    "answer",
    [
        [{"id": "E1", "contractDay": "2026-01-05T00:00:00", "isNewHome": False, "status": {}, "address": {}}],
        {"byId": {"E1": {"id": "E1", "contractDay": "2026-01-05", "isNewHome": False, "status": {}}}},
    ],
)
def test_rows_that_stand_where_nobody_expects_them_are_not_taken_for_none(answer: Any) -> None:
    flat = flattened("sold_estates", answer)
    assert not flat.findings.recognised or rows(flat, "sold_estates", "id") == [("E1",)]


def test_a_single_list_in_an_envelope_is_taken_with_few_documented_keys() -> None:
    flat = flattened("commission_office", {"value": [{"office": {"customerId": "M1"}, "commission": 5}]})
    assert rows(flat, "commission_office", "office_customer_id", "commission") == [("M1", 5)]


def test_leads_of_one_id_that_tell_different_things_are_both_kept() -> None:
    leads = [
        {"createdAt": "2026-01-05T10:00:00", "lead": {"id": "L1"}, "receiver": {"id": one}}
        for one in ("A", "B", "A")
    ]
    flat = flattened("tips_and_leads", {"incomingLeads": leads, "outgoingLeads": [], "tips": []})
    assert rows(flat, "incoming_leads", "receiver_id") == [("A",), ("B",)]


def test_a_list_that_is_null_is_empty() -> None:
    flat = flattened("sales", {"officeSaleReports": None, "madeAt": "now"})
    assert flat.findings.recognised
    assert rows(flat, "sales__envelope", "made_at") == [("now",)]


def test_a_page_with_nothing_but_its_number_is_an_empty_page() -> None:
    flat = flattened("tips_and_leads", {"index": 3, "count": 3, "totalRowCount": 2500})
    assert flat.findings.recognised
    assert flat.rejected == ()


def test_undocumented_rows_are_known_by_the_usual_envelopes() -> None:
    flat = flattened("trademarks", {"items": [{"name": "A"}], "count": 1})
    assert rows(flat, "trademarks", "name") == [("A",)]
    assert rows(flat, "trademarks__envelope", "count") == [(1,)]


def test_an_undocumented_object_without_an_envelope_is_a_row_itself() -> None:
    flat = flattened("trademarks", {"name": "A", "logos": [{"url": "x"}]})
    assert rows(flat, "trademarks", "name") == [("A",)]
    assert rows(flat, "trademarks__logos", "_parent_row", "url") == [(0, "x")]
    assert flat.findings.recognised


def test_a_documented_name_in_another_case_fills_its_column() -> None:
    flat = flattened("commission_office", [{"Office": {"CustomerID": "M1"}, "COMMISSION": 5}])
    assert types(flat, "commission_office") == {}
    assert rows(flat, "commission_office", "office_customer_id", "commission") == [("M1", 5)]


def test_a_list_of_a_row_may_stand_in_an_object_of_it() -> None:
    flat = flattened("sales", estates(estate("OBJ1", people={"agents": [{"id": "HAN1"}]})))
    assert rows(flat, "sales_agents", "estate_id", "id") == [("OBJ1", "HAN1")]
    assert table(flat, "sales_estates").frame.height == 1
