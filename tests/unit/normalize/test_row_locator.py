"""Tests of finding declared lists where an answer wraps, renames or unwraps them, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.normalize.answers import estate, estates, event, lead, normalized, rows, table, types

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
def test_a_tree_is_found_wherever_it_is(answer: Any) -> None:
    result = normalized("sales", answer)
    assert rows(result, "sales_estates", "office_customer_id", "id") == [("M1", "OBJ1")]
    assert rows(result, "sales_agents", "estate_id", "id") == [("OBJ1", "HAN1")]
    assert result.recognised


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
    assert rows(normalized("running_commissions", answer), "running_commissions", "user_id") == [("HAN1",)]


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
    result = normalized("tips_and_leads", answer)
    assert rows(result, "incoming_leads", "lead_id") == [("L1",)]
    assert rows(result, "outgoing_leads", "lead_id") == [("L2",)]


def test_where_a_list_was_found_is_noted() -> None:
    notes = normalized("sales", {"data": SALES}).notes
    assert "sales_estates: the list officeSaleReports[] was found at data.officeSaleReports[]" in notes


def test_lists_that_look_alike_are_not_guessed_at() -> None:
    result = normalized("running_commissions", {"paid": [event()], "unpaid": [event(), event()]})
    assert not result.recognised
    assert rows(result, "running_commissions", "_row") == []
    assert [one.table for one in result.rejected] == ["running_commissions"]


@pytest.mark.parametrize("answer", [{"report": "none"}, ["x"]])
def test_an_answer_that_is_something_else_is_not_taken_for_an_empty_one(answer: Any) -> None:
    result = normalized("sales", answer)
    assert not result.recognised
    assert len(result.rejected) == 1


@pytest.mark.parametrize("name", ["sales", "commission_office_by_month", "live_activity", "trademarks"])
@pytest.mark.parametrize(
    "answer",
    [{"message": "An error has occurred."}, {"errors": [{"code": 1}]}, [{"error": "Timeout expired."}]],
)
def test_an_error_with_status_200_is_no_report_of_any_kind(name: str, answer: Any) -> None:
    result = normalized(name, answer)
    assert not result.recognised
    assert all(table.frame.is_empty() for table in result.tables)


@pytest.mark.parametrize(
    "answer", [[{"error": "late", "goal": 5}], [{"message": "a"}, {"message": "b"}], [{}]]
)
def test_rows_with_a_column_error_are_rows(answer: Any) -> None:
    result = normalized("commission_office_by_month", answer)
    assert (result.recognised, result.tables[0].frame.height) == (True, len(answer))


def test_a_list_under_its_own_name_is_not_taken_for_one_it_resembles() -> None:
    known = lead("L1", sender={}, receiver={}, contact={})
    for answer in ({"data": {"incomingLeads": [known]}}, {"IncomingLeads": [known], "Tips": []}):
        assert rows(normalized("tips_and_leads", answer), "incoming_leads", "lead_id") == [("L1",)]


@pytest.mark.parametrize(
    "answer",
    [
        [{"id": "E1", "contractDay": "2026-01-05T00:00:00", "isNewHome": False, "status": {}, "address": {}}],
        {"byId": {"E1": {"id": "E1", "contractDay": "2026-01-05", "isNewHome": False, "status": {}}}},
    ],
)
def test_rows_that_stand_where_nobody_expects_them_are_not_taken_for_none(answer: Any) -> None:
    result = normalized("sold_estates", answer)
    assert not result.recognised or rows(result, "sold_estates", "id") == [("E1",)]


@pytest.mark.parametrize(
    "answer",
    [
        {"value": [{"office": {"customerId": "M1"}, "commission": 5}]},
        [{"Office": {"CustomerID": "M1"}, "COMMISSION": 5}],
    ],
    ids=["the only list of an envelope", "names in another case"],
)
def test_few_documented_keys_are_enough_for(answer: Any) -> None:
    result = normalized("commission_office", answer)
    assert types(result, "commission_office") == {}
    assert rows(result, "commission_office", "office_customer_id", "commission") == [("M1", 5)]


def test_leads_of_one_id_that_tell_different_things_are_both_kept() -> None:
    leads = [lead("L1", receiver={"id": one}) for one in ("A", "B", "A")]
    result = normalized("tips_and_leads", {"incomingLeads": leads, "outgoingLeads": [], "tips": []})
    assert rows(result, "incoming_leads", "receiver_id") == [("A",), ("B",)]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("sales", {"officeSaleReports": None, "madeAt": "now"}),
        ("tips_and_leads", {"index": 3, "count": 3, "totalRowCount": 2500}),
    ],
    ids=["a list that is null", "nothing but a page number"],
)
def test_an_answer_without_rows_is_recognised_by(name: str, answer: Any) -> None:
    result = normalized(name, answer)
    assert (result.recognised, result.rejected) == (True, ())


def test_undocumented_rows_are_known_by_the_usual_envelopes() -> None:
    result = normalized("trademarks", {"items": [{"name": "A"}], "count": 1})
    assert rows(result, "trademarks", "name") == [("A",)]
    assert rows(result, "trademarks__envelope", "count") == [(1,)]


def test_a_list_of_a_row_may_stand_in_an_object_of_it() -> None:
    result = normalized("sales", estates(estate("OBJ1", people={"agents": [{"id": "HAN1"}]})))
    assert rows(result, "sales_agents", "estate_id", "id") == [("OBJ1", "HAN1")]
    assert table(result, "sales_estates").frame.height == 1
