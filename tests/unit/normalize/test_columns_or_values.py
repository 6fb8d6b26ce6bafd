"""Is an answer the same whether polars takes it apart or Python does? Every table, row and note of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event as noticed
from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.normalize.documents import Document, read_document
from pipelines.normalize.flat import Flat
from pipelines.normalize.flatten import flatten
from pipelines.normalize.held import Unlike
from pipelines.normalize.paging import ids_of, is_empty, row_count, stated_total
from pipelines.normalize.proving import is_columnar
from pipelines.normalize.together import together
from tests.unit.normalize.answers import FEBRUARY, JANUARY, STOCKHOLM
from tests.unit.normalize.shaped import LAYOUTS, body, documents

COLUMNAR = [report for report in REPORTS.values() if is_columnar(report)]


def flat_of(report: Report, pages: Sequence[Document], months: Sequence[Month] = (JANUARY, FEBRUARY)) -> Flat:
    asked = ["U1" for _ in pages]
    return flatten(report, pages, months=months if report.has_months else (), timezone=STOCKHOLM, asked=asked)


def said(flat: Flat) -> tuple[Any, ...]:
    """All that an answer became, in a form that can be compared."""
    tables = {one.name: (set(one.columns), *_rows(one.frame)) for one in flat.tables}
    return tables, flat.rejected, flat.found


def _rows(frame: Any) -> tuple[Any, Any]:
    ordered = frame.select(sorted(frame.columns))
    return ordered.schema, [tuple(map(repr, row)) for row in ordered.rows()]


@given(st.data(), st.sampled_from(COLUMNAR), st.integers(1, 3), LAYOUTS, st.booleans())
def test_both_ways_say_the_same(
    data: st.DataObject, report: Report, number: int, layout: tuple[str, str], escaped: bool
) -> None:
    pages = [data.draw(documents(report)) for _ in range(number)]
    bodies = [body(page, layout, escaped=escaped) for page in pages]
    fast = [read_document(one, report) for one in bodies]
    assert said(flat_of(report, fast)) == said(flat_of(report, [read_document(one) for one in bodies]))
    noticed(f"as columns: {is_one_column(fast)}")


@pytest.mark.parametrize(
    "pages",
    [
        [[{"a": []}], [{"a": 0.5}]],
        [[{"a": None}], [{"a": [{"b": 1}]}], []],
        [[{"a": 1}], [{"a": 2.5, "b": {"c": []}}], [{"b": {"c": [{"d": "x"}]}}]],
        [[{"a": 2**60}], [{"a": 2.5}]],
        [[{"a": "1"}], [{"a": 1}]],
        [[{"a": {"b": 1}}], [{"a": [1]}], [{"a": {}}]],
    ],
)
def test_pages_of_different_types_say_the_same(pages: list[Any]) -> None:
    report, bodies = REPORTS["running_commissions"], [json.dumps(page).encode() for page in pages]
    fast, slow = [[read_document(one, known) for one in bodies] for known in (report, None)]
    assert said(flat_of(report, fast)) == said(flat_of(report, slow))


def is_one_column(pages: Sequence[Document]) -> bool:
    try:
        return together(pages).column is not None
    except Unlike:
        return False


@given(st.data(), st.sampled_from(COLUMNAR))
def test_a_page_says_the_same_of_itself(data: st.DataObject, report: Report) -> None:
    whole = body(data.draw(documents(report)), (",", ":"), escaped=False)
    fast, slow = read_document(whole, report), read_document(whole)
    for tell in (ids_of, row_count, is_empty):
        assert tell(report, fast) == tell(report, slow)
    assert stated_total(fast) == stated_total(slow)


@given(st.data(), st.sampled_from(COLUMNAR), st.integers(0, 600), st.binary(max_size=3))
def test_a_damaged_answer_is_never_proven_to_be_something_else(
    data: st.DataObject, report: Report, place: int, damage: bytes
) -> None:
    whole = body(data.draw(documents(report)), (",", ":"), escaped=False)
    damaged = whole[:place] + damage + whole[place + len(damage) :]
    page = Document(damaged, report)
    if page.column is not None:
        assert said(flat_of(report, [page])) == said(flat_of(report, [read_document(damaged)]))
