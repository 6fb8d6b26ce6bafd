"""Tests of the facts of a page: its rows, their ids, and the total that it states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.pages import page_facts
from tests.unit.normalize.answers import document, lead

LEADS = REPORTS["tips_and_leads"]


@pytest.mark.parametrize(
    ("page", "total"),
    [
        ({"paging": {"TotalCount": 1500}, "tips": []}, 1500),
        ({"paging": {"total_count": "1500"}, "tips": []}, 1500),
        ({"paging": {"totalCount": True}, "tips": []}, None),
        ({"paging": {"totalCount": -1}, "tips": []}, None),
        ({"paging": {"totalCount": 1.5}, "tips": []}, None),
        ({"paging": None, "tips": []}, None),
        ({"totalCount": 7, "tips": []}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_total_is_the_whole_number_at_its_path(page: Any, total: int | None) -> None:
    report = replace(LEADS, total_rows="paging.totalCount")
    assert page_facts(report, document(page)).total == total


def test_ids_are_listed_table_by_table_in_the_order_of_the_rows() -> None:
    page = document({"incomingLeads": [lead("L2"), lead(None), lead("L1")], "tips": [{"tip": {"id": 7}}]})
    facts = page_facts(LEADS, page)
    assert facts.ids == {
        "incoming_leads": [("L2",), (None,), ("L1",)],
        "outgoing_leads": [],
        "tips": [("7",)],
    }
    assert facts.count == 4


@pytest.mark.parametrize("page", [{"incomingLeads": [], "outgoingLeads": None}, {}, None, []])
def test_an_empty_page_fits_and_has_no_rows(page: Any) -> None:
    facts = page_facts(LEADS, document(page))
    assert (facts.count, facts.mismatch) == (0, "")


@pytest.mark.parametrize("page", [{"message": "An error has occurred."}, {"rows": [lead("L1")]}])
def test_a_page_that_does_not_fit_its_shape_states_the_reason(page: Any) -> None:
    facts = page_facts(LEADS, document(page))
    assert (facts.count, "incomingLeads[]" in facts.mismatch) == (0, True)


def test_pages_with_the_same_rows_have_the_same_hash() -> None:
    first, again, other = (
        page_facts(LEADS, document({"index": index, "tips": [{"createdAt": day}]})).rows_hash
        for index, day in ((0, "2026-01-01"), (1, "2026-01-01"), (2, "2026-01-02"))
    )
    assert (first == again, first == other) == (True, False)
