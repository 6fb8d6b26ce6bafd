"""Present budgets: which shapes of undocumented rows can be told for certain, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.budgets.present import OFFICE, WORDS, Unreadable, Whose, own_row
from pipelines.months import Month

MINE = Whose("G1", "M30011", "M30011", "HAN1", Month(2027, 1))
IDS = {"customerId": "M30011", "userId": "HAN1"}
PERIOD = {"year": 2027, "month": 1}
ESTATE = {"sold": 2, "registered": 3}


def read(tree: object, report: str = "user_budget_estate") -> dict[str, Any]:
    row = own_row(tree, WORDS[report], MINE)
    return {name: row[name] for name in WORDS[report]}


CERTAIN: dict[str, object] = {
    "plain": [{**IDS, **PERIOD, **ESTATE}],
    "without ids and months": [ESTATE],
    "as it is set": [{"estates": ESTATE}],
    "in an envelope": {"count": 1, "data": {"items": [{**IDS, **ESTATE}]}},
    "one object": {**IDS, **ESTATE},
    "months within a user": [
        {**IDS, "months": [{**PERIOD, **ESTATE}, {"year": 2027, "month": 2, "sold": 9}]}
    ],
    "a period in words": [{**ESTATE, "period": "2027-01-01T00:00:00"}, {"sold": 9, "period": "2027-02-01"}],
    "an id of the office's own": [{"officeId": "FIR30011", "user": {"id": "HAN1", "name": "A"}, **ESTATE}],
    "the group that was asked": [{"customerId": "G1", "userId": "HAN1", **ESTATE}],
    "among other users": [{"userId": "HAN2", "sold": 9, "registered": 9}, {"userId": "HAN1", **ESTATE}],
    "among other offices": [{**IDS, "customerId": "M30012", "sold": 9}, {**IDS, **ESTATE}],
    "numbers as text": [{"sold": "2", "registered": "3"}],
    "numbers as people write them": [{"sold": "2,00", "registered": "3 kr"}],
    "numbers with a point": [{"sold": 2.0, "registered": 3.0}],
    "more than is documented": [{**ESTATE, "soldLastYear": 9, "points": 4}],
    "a list of plain values beside": [{**ESTATE, "tags": ["a"], "notes": []}],
    "PascalCase": [{"Sold": 2, "Registered": 3}],
}


@pytest.mark.parametrize("shape", CERTAIN)
def test_a_budget_is_told_for_certain_in_many_shapes(shape: str) -> None:
    assert read(CERTAIN[shape]) == ESTATE


DOUBTFUL: dict[str, object] = {
    "two budgets": [ESTATE, ESTATE],
    "another user's": [{"userId": "HAN2", **ESTATE}],
    "another office's": [{"customerId": "M30012", **ESTATE}],
    "an office that nobody knows": [{"officeId": 17, **ESTATE}],
    "other names": [{"goal": 2, "intake": 3}],
    "one other name": [{"sold": 2, "intake": 3}],
    "one other name, in words": [{"sold": 2, "intake": "3,00"}],
    "two candidates": [{"soldHomes": 2, "soldFlats": 1, "registered": 3}],
    "no number": [{"sold": "två", "registered": 3}],
    "not whole": [{"sold": 2.5, "registered": 3}],
    "a truth": [{"sold": True, "registered": 3}],
    "a list of objects beside": [{**ESTATE, "changes": [{"by": "A"}]}],
    "half a budget beside an empty list": {"sold": 2, "rows": []},
    "a message": {"message": "no budget"},
    "values": [1, 2],
    "another month's": [{"year": 2027, "month": 2, **ESTATE}],
    "another month's in words": [{"month": "2027-02", **ESTATE}],
}


@pytest.mark.parametrize("shape", DOUBTFUL)
def test_what_may_be_something_else_is_refused(shape: str) -> None:
    with pytest.raises(Unreadable):
        read(DOUBTFUL[shape])


@pytest.mark.parametrize("tree", [None, [], {"rows": []}, [{"userId": "HAN1", "months": []}]])
def test_nothing_is_no_budget(tree: object) -> None:
    assert read(tree) == {"sold": None, "registered": None}


def test_what_a_row_leaves_out_or_has_as_null_is_no_budget() -> None:
    assert read([{**IDS, **PERIOD, "sold": 2}]) == read([{"sold": 2, "registered": None}])
    assert read([{"sold": 2}]) == {"sold": 2, "registered": None}


def test_all_meetings_and_those_that_were_booked_are_told_apart() -> None:
    wanted = {"meetings": 9, "own_booked": 4}
    for tree in ({"total": 9, "ownBooked": 4}, {"saleMeetings": {"total": 9, "ownBooked": 4}}):
        assert read([tree], "user_budget_crm") == wanted
    assert read([{"meetings": 9, "ownBookedMeetings": 4}], "user_budget_crm") == wanted
    counted = {"total": 1, "rows": [{"meetings": 9, "ownBooked": 4}]}
    assert read(counted, "user_budget_crm") == wanted


@pytest.mark.parametrize("name", ["commission", "Commission", "amount", "budgetValue", "commissionExVat"])
def test_the_only_amount_of_a_budget_of_commission_is_the_commission(name: str) -> None:
    row = {**IDS, **PERIOD, "budgetId": 7, name: 5}
    assert read([row], "user_budget_commission") == {"commission": 5}


def test_of_two_amounts_the_one_with_the_documented_name_is_the_commission_or_neither() -> None:
    assert read([{"commission": 5, "commissionLastYear": 6}], "user_budget_commission") == {"commission": 5}
    with pytest.raises(Unreadable):
        read([{"amount": 5, "value": 6}], "user_budget_commission")


def test_the_id_that_a_row_gives_the_office_is_told() -> None:
    assert own_row([{**IDS, "officeId": "FIR30011", **ESTATE}], WORDS["user_budget_estate"], MINE)[
        OFFICE
    ] == ("FIR30011")
