"""Proposals: which shape an answer may have, and what is left to the operator."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.shapes.proposal import Proposal, TableProposal, propose

KNOWN = {"office_id": {"M1", "M2"}, "user_id": {"HAN1", "HAN2", "HAN3"}}


def proposed(report: str, *documents: Any) -> Proposal:
    return propose(REPORTS[report], documents, KNOWN)


def found(table: TableProposal) -> dict[str, str]:
    """The columns of which one path is proposed."""
    return {name: paths[0] for name, paths in table.candidates.items() if len(paths) == 1}


def offices(*people: dict[str, Any]) -> Any:
    return {"result": {"offices": [{"unit": "M1", "people": list(people)}]}}


def person(id_: str, *months: dict[str, Any]) -> dict[str, Any]:
    return {"ref": id_, "label": "Ann", "periods": list(months)}


def test_offices_and_users_are_recognised_by_ids_and_other_columns_by_name() -> None:
    answer = offices(person("HAN1", {"period": "2026-03", "target": 5}), person("HAN2"))
    [table] = proposed("budget_commission", answer).tables
    assert table.rows == "result.offices[].people[].periods[]"
    assert found(table) == {
        "office_id": "result.offices[].unit",
        "user_id": "result.offices[].people[].ref",
        "year": "-",
        "month": ".period",
        "commission_budget": ".target",
    }
    assert table.is_complete


@pytest.mark.parametrize(
    "month",
    [
        {"period": "2026-03", "budget": 5, "commission": 4},
        {"period": "2026-03", "target": 5, "amount": 4},
        {"period": "2026-03", "commissionBudget": 5, "commission": None, "value": 1},
    ],
)
def test_neither_of_two_fields_that_may_be_the_budget_is_chosen(month: dict[str, Any]) -> None:
    [table] = proposed("budget_commission", offices(person("HAN1", month))).tables
    assert len(table.candidates["commission_budget"]) == 2
    assert not table.is_complete


def test_a_list_of_changes_in_rows_is_not_proposed_as_the_rows() -> None:
    month = {"period": "2026-03", "target": 5, "changes": [{"target": 4, "period": "2026-03", "year": 2026}]}
    [table] = proposed("budget_commission", offices(person("HAN1", month))).tables
    assert table.rows == "result.offices[].people[].periods[]"


def test_a_user_id_that_no_report_has_is_not_guessed_by_its_name() -> None:
    answer = [{"userId": "X9", "year": 2026, "month": 3, "commission": 5, "customerId": "M1"}]
    [table] = proposed("office_budget_commission", answer).tables
    assert table.missing == ["user_id"]


@pytest.mark.parametrize("id_", [1, "HAN1"])
def test_ids_may_be_numbers(id_: object) -> None:
    known = {"office_id": {"7"}, "user_id": {"1", "HAN1"}}
    answer = [{"who": id_, "where": 7, "year": 2026, "month": 3, "commission": 5}]
    [table] = propose(REPORTS["office_budget_commission"], [answer], known).tables
    assert (found(table)["user_id"], found(table)["office_id"]) == (".who", ".where")


def test_objects_under_keys_are_rows_and_their_keys_a_column() -> None:
    answer = {"offices": {"M1": {"HAN1": {"calls": 3}, "HAN2": {"calls": 4}}, "M2": {"HAN3": {"calls": 1}}}}
    [table] = proposed("live_activity", answer).tables
    assert (table.rows, found(table)) == (
        "offices{}.{}",
        {"user_id": "offices{}.{}#", "office_id": "offices{}#"},
    )
    users = {"users": {"HAN1": {"calls": 3}, "HAN2": {"calls": 4}}}
    [table] = proposed("live_activity", users).tables
    assert (table.rows, found(table)["user_id"]) == ("users{}", "users{}#")


def test_a_document_in_an_envelope_may_be_the_row() -> None:
    answer = {"data": {"who": "HAN1", "office": "M1", "year": 2026, "month": 3, "target": 5}}
    [table] = proposed("office_budget_commission", answer).tables
    assert (table.rows, found(table)["user_id"], table.is_complete) == ("", ".data.who", True)


def test_nested_rows_are_proposed_below_the_rows_of_their_parent() -> None:
    answer = [{"trademark": "Nord", "members": [{"office": "M1"}, {"office": "M2"}]}]
    assert not proposed("trademarks", {"offices": [{"office": "M1"}]}).is_complete
    trademarks, members = proposed("trademarks", answer).tables
    assert (found(trademarks)["trademark"], members.rows) == (".trademark", "@trademarks.members[]")
    assert found(members) == {"office_id": ".office"}


def test_a_proposal_has_a_comment_for_each_uncertain_line() -> None:
    month = {"period": "2026-03", "budget": 5, "commission": 4, "sum": {"own": 3}}
    text = proposed("budget_commission", offices(person("HAN1", month))).as_toml()
    assert '# commission_budget = ".budget"   # or .commission' in text
    assert '# office_city = "-"   # not found: remove # and write its path, or "-"' in text
    assert "# other fields:\n#   .sum.own: a number\n#   result.offices[].people[].label: a text\n" in text
    assert 'month = ".period"' in text
