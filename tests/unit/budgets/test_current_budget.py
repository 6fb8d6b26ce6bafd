"""Present budgets: rows are read as the shape of their report declares them, anything else is unreadable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from pipelines.budgets.budget import Change
from pipelines.budgets.current_budget import Unreadable, budget_of
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.document import read_document

MINE = Change("G1", "M30011", "M30011", "HAN1", "2027-01", {}, {})
IDS = {"customerId": "M30011", "userId": "HAN1"}
PERIOD = {"year": 2027, "month": 1}
ESTATE = {"sold": 2, "registered": 3}


def read(tree: object, report: str = "user_budget_estate", **paths: str) -> dict[str, Any]:
    shaped = REPORTS[report]
    if paths:
        shaped = replace(shaped, tables=(replace(shaped.tables[0], paths=paths),))
    return dict(budget_of(shaped, read_document(orjson.dumps(tree)), MINE))


CERTAIN: dict[str, object] = {
    "plain": [{**IDS, **PERIOD, **ESTATE}],
    "an id of the office's own": [{**PERIOD, "officeId": "FIR30011", "userId": "HAN1", **ESTATE}],
    "the group that was asked": [{**PERIOD, "customerId": "G1", "userId": "HAN1", **ESTATE}],
    "among other users": [
        {**PERIOD, "userId": "HAN2", "sold": 9, "registered": 9},
        {**IDS, **PERIOD, **ESTATE},
    ],
    "among other months": [{**IDS, "year": 2027, "month": 2, **ESTATE}, {**IDS, **PERIOD, **ESTATE}],
    "numbers as text": [{**IDS, **PERIOD, "sold": "2", "registered": "3.00"}],
    "more than is declared": [{**IDS, **PERIOD, **ESTATE, "points": 4}],
}


@pytest.mark.parametrize("shape", CERTAIN)
def test_a_budget_is_read_from_the_declared_fields(shape: str) -> None:
    assert read(CERTAIN[shape]) == ESTATE


DOUBTFUL: dict[str, object] = {
    "two budgets": [{**IDS, **PERIOD, **ESTATE}, {**IDS, **PERIOD, **ESTATE}],
    "another user's": [{**PERIOD, "userId": "HAN2", **ESTATE}],
    "another office's": [{**PERIOD, "customerId": "M30012", **ESTATE}],
    "other names": [{**IDS, **PERIOD, "goal": 2, "intake": 3}],
    "half a budget": [{**IDS, **PERIOD, "sold": 2}],
    "an outcome beside a budget": [{**IDS, **PERIOD, **ESTATE, "soldBudget": 4}],
    "no number": [{**IDS, **PERIOD, "sold": "två", "registered": 3}],
    "not whole": [{**IDS, **PERIOD, "sold": 2.5, "registered": 3}],
    "a message": {"message": "no budget"},
}


@pytest.mark.parametrize("shape", DOUBTFUL)
def test_an_ambiguous_answer_is_unreadable(shape: str) -> None:
    with pytest.raises(Unreadable):
        read(DOUBTFUL[shape])


def test_a_field_that_the_operator_names_is_the_budget_next_to_an_outcome() -> None:
    tree = [{**IDS, **PERIOD, "commission": 4_000_000, "budget": 3_000_000}]
    with pytest.raises(Unreadable, match="does not show which field holds commission_budget"):
        read(tree, "user_budget_commission")
    named = read(tree, "user_budget_commission", commission_budget=".budget")
    assert named == {"commission": 3_000_000}


@pytest.mark.parametrize("tree", [None, [], [{**IDS, "year": 2027, "month": 2, **ESTATE}]])
def test_an_answer_without_rows_means_no_budget(tree: object) -> None:
    assert read(tree) == {"sold": None, "registered": None}
