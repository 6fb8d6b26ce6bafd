"""Present budgets: the rows under documented names are read, anything else is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.budgets.budget import Change
from pipelines.budgets.present import REPORTS, Unreadable, budget_of

MINE = Change("G1", "M30011", "M30011", "HAN1", "2027-01", {}, {})
IDS = {"customerId": "M30011", "userId": "HAN1"}
PERIOD = {"year": 2027, "month": 1}
ESTATE = {"sold": 2, "registered": 3}


def read(tree: object, report: str = "user_budget_estate") -> dict[str, Any]:
    return dict(budget_of(tree, REPORTS[report], MINE))


CERTAIN: dict[str, object] = {
    "plain": [{**IDS, **PERIOD, **ESTATE}],
    "without ids and months": [ESTATE],
    "as it is set": [{"estates": ESTATE}],
    "in an envelope": {"count": 1, "data": {"items": [{**IDS, **ESTATE}]}},
    "one object": {**IDS, **ESTATE},
    "months within a user": [{**IDS, "months": [{**PERIOD, **ESTATE}, {"year": 2027, "month": 2, **ESTATE}]}],
    "a period in words": [{**ESTATE, "period": "2027-01-01T00:00:00"}, {**ESTATE, "period": "2027-02-01"}],
    "an id of the office's own": [{"officeId": "FIR30011", "user": {"id": "HAN1", "name": "A"}, **ESTATE}],
    "the group that was asked": [{"customerId": "G1", "userId": "HAN1", **ESTATE}],
    "among other users": [{"userId": "HAN2", "sold": 9, "registered": 9}, {"userId": "HAN1", **ESTATE}],
    "among other offices": [{**IDS, "customerId": "M30012", "sold": 9}, {**IDS, **ESTATE}],
    "numbers as text": [{"sold": "2", "registered": "3.00"}],
    "numbers with a point": [{"sold": 2.0, "registered": 3.0}],
    "more than is documented": [{**ESTATE, "soldLastYear": 9, "points": 4}],
    "PascalCase": [{"Sold": 2, "Registered": 3}],
}


@pytest.mark.parametrize("shape", CERTAIN)
def test_a_budget_is_read_under_its_documented_names(shape: str) -> None:
    assert read(CERTAIN[shape]) == ESTATE


DOUBTFUL: dict[str, object] = {
    "two budgets": [ESTATE, ESTATE],
    "another user's": [{"userId": "HAN2", **ESTATE}],
    "another office's": [{"customerId": "M30012", **ESTATE}],
    "another office's of the group": [{"officeId": "FIR30012", "customerId": "G1", **ESTATE}],
    "an office that nobody knows": [{"officeId": 17, **ESTATE}],
    "other names": [{"goal": 2, "intake": 3}],
    "half a budget": [{"sold": 2}],
    "two candidates": [{"sold": 2, "estates": {"sold": 1}, "registered": 3}],
    "no number": [{"sold": "två", "registered": 3}],
    "not whole": [{"sold": 2.5, "registered": 3}],
    "a truth": [{"sold": True, "registered": 3}],
    "a list of objects beside": [{**ESTATE, "changes": [{"by": "A"}]}],
    "a budget beside an empty list": {**ESTATE, "rows": []},
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


def test_all_meetings_and_those_that_were_booked_are_told_apart() -> None:
    wanted = {"meetings": 9, "own_booked": 4}
    for tree in ({"total": 9, "ownBooked": 4}, {"saleMeetings": {"total": 9, "ownBooked": 4}}):
        assert read([tree], "user_budget_crm") == wanted
    assert read({"total": 1, "rows": [{"total": 9, "ownBooked": 4}]}, "user_budget_crm") == wanted
