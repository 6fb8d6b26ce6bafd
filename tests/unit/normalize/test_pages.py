"""Tests of what a page says of itself: its rows, their ids, whether it is empty, and its total."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.pages import ids_of, is_empty, row_count, rows_found, rows_hash, stated_total
from tests.unit.normalize.answers import document, lead

LEADS = REPORTS["tips_and_leads"]


@pytest.mark.parametrize(
    ("page", "total"),
    [
        ({"index": 0, "count": 2, "totalRowCount": 1500, "rows": []}, 1500),
        ({"paging": {"TotalCount": "1500"}, "incomingLeads": []}, 1500),
        ({"total": 1500, "pageSize": 1000}, 1500),
        ({"incomingLeads": {"totalRowCount": 3}, "tips": {"totalRowCount": 4}}, 7),
        ({"total": 7, "totalRowCount": 1500}, 1500),
        ({"count": 2, "totalPageCount": 2, "pageSize": 1000, "incomingLeads": []}, None),
        ({"totalRowCount": True}, None),
        ({"totalRowCount": None, "total": -1, "rowCount": 1.5}, None),
        ({"incomingLeads": [{"total": 5}]}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_total_is_the_number_of_rows_that_an_envelope_states(page: Any, total: int | None) -> None:
    assert stated_total(document(page)) == total


def test_ids_are_listed_table_by_table_in_the_order_of_the_rows() -> None:
    page = document(
        {"rows": {"incomingLeads": [lead("L2"), lead(None), lead("L1")], "tips": [{"tip": {"id": 7}}]}}
    )
    assert ids_of(rows_found(LEADS, page)) == {
        "incoming_leads": [("L2",), (None,), ("L1",)],
        "tips": [("7",)],
    }


def test_ids_of_rows_that_are_each_in_an_object_of_their_own_are_listed_as_well() -> None:
    page = document({"incomingLeads": [{"row": lead("L2")}, {"row": lead("L1")}]})
    assert ids_of(rows_found(LEADS, page)) == {"incoming_leads": [("L2",), ("L1",)]}


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ({"incomingLeads": [lead("L1")], "tips": [lead("L2")]}, 2),
        ({"data": {"incomingLeads": [lead("L1"), lead("L2")], "tips": []}}, 2),
        ([{"incomingLeads": [lead("L1")]}, {"incomingLeads": [lead("L2")], "tips": [lead("L3")]}], 3),
        ({"M1": {"incomingLeads": [lead("L1")]}, "M2": {"tips": [lead("L3")]}}, 2),
        ({"incomingLeads": []}, 0),
        (None, 0),
    ],
)
def test_rows_are_counted_wherever_they_are(answer: Any, count: int) -> None:
    assert row_count(rows_found(LEADS, document(answer))) == count


@pytest.mark.parametrize(
    ("answer", "is_empty_page"),
    [
        ({"incomingLeads": [], "outgoingLeads": None}, True),
        ({"index": 3, "count": 3, "totalRowCount": 2500, "rows": None}, True),
        ({}, True),
        (None, True),
        ([], True),
        ({"tips": [lead("T1")]}, False),
        ({"message": "An error has occurred."}, False),
    ],
)
def test_a_page_is_empty_when_it_holds_no_row_and_nothing_unknown(answer: Any, is_empty_page: bool) -> None:
    page = document(answer)
    assert is_empty(LEADS, page, rows_found(LEADS, page)) is is_empty_page


def test_rows_are_the_same_whatever_the_envelope_says_of_their_page() -> None:
    first, again, other = (
        rows_hash(rows_found(LEADS, document({"index": index, "tips": [{"createdAt": day}]})))
        for index, day in ((0, "2026-01-01"), (1, "2026-01-01"), (2, "2026-01-02"))
    )
    assert (first == again, first == other) == (True, False)
