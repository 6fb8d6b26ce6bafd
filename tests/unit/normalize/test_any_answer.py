"""Tests with any answer: every value ends in a table or in a rejected row, and nothing breaks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.columns.tables import Normalized
from pipelines.normalize.columns.types import canonical
from pipelines.normalize.document import Document, InvalidJson, read_document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.pages import ids_of, is_empty, row_count, rows_found, stated_total
from tests.unit.normalize.answers import FEBRUARY, JANUARY, STOCKHOLM, document, normalized, table

names = st.sampled_from(sorted(REPORTS))
keys = st.one_of(
    st.text(max_size=3),
    st.sampled_from(["id", "customerId", "officeSaleReports", "years", "months", "year", "month"]),
    st.sampled_from(["estateSaleReports", "agents", "changes", "contractDay", "obtainedAt", "houses"]),
    st.sampled_from(["incomingLeads", "tips", "lead", "rows", "total", "commissionOffices", "office"]),
    st.sampled_from(["amount", "users", "_row", "x", "X", "*"]),
)
texts = st.one_of(st.text(max_size=5), st.sampled_from(["2026-01-15T00:00:00", "2026", "1", "true", "1.5"]))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**19), 10**19),
    st.sampled_from([2026, 1, 2]),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)
documents = st.lists(values, max_size=4) | st.dictionaries(keys, values, max_size=5)


def result_of(name: str, *pages: Document) -> Normalized:
    months = (JANUARY, FEBRUARY) if REPORTS[name].has_months else ()
    return normalize(REPORTS[name], pages, months=months, timezone=STOCKHOLM, asked=[None for _ in pages])


def said(value: Any) -> str:
    """A scalar as text, whatever type its column has."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return canonical(value) if isinstance(value, float) else str(value)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for element in value:
            yield from leaves(element)
    elif isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif value is not None:
        yield said(value)


def cells(result: Normalized) -> Iterator[str]:
    """Every value of every table; of a column of JSON everything in it."""
    for one in result.tables:
        for column in one.columns:
            for value in one.frame[column.name].drop_nulls():
                is_json = column.type in {"JSON", "VARCHAR"} and str(value)[:1] in {"[", "{"}
                yield from leaves(json.loads(value)) if is_json else [said(value)]


plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**19), 10**19), st.text("abåö ", max_size=4)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)


@given(st.lists(plain, max_size=4) | st.dictionaries(keys, plain, max_size=5))
def test_every_value_of_an_undocumented_answer_is_in_a_table(answer: Any) -> None:
    result = normalized("live_activity", answer, months=(JANUARY,))
    away = [leaf for one in result.rejected for leaf in leaves(json.loads(one.raw))]
    assert Counter([*cells(result), *away]) == Counter(leaves(answer))


estates = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["OBJ1", "OBJ2", 7, None]),
        "contractDay": st.sampled_from(["2026-01-15T00:00:00", "2026-02-01", "2027-01-01", "?", None]),
        "commission": scalars,
        "agents": st.lists(st.one_of(st.fixed_dictionaries({"id": scalars}), scalars), max_size=3),
    },
)


@given(st.lists(st.one_of(estates, scalars), max_size=6))
def test_every_estate_and_every_agent_is_kept_or_rejected(found: list[Any]) -> None:
    months = [{"month": "1", "estateSaleReports": found}]
    result = normalized("sales", {"officeSaleReports": [{"customerId": "M1", "years": [{"months": months}]}]})
    away = Counter(one.table for one in result.rejected)
    assert table(result, "sales_estates").frame.height + away["sales_estates"] == len(found)
    gone = {json.dumps(json.loads(one.raw)) for one in result.rejected if one.table == "sales_estates"}
    kept = [one for one in found if json.dumps(one) not in gone]
    agents = sum(len(one.get("agents", [])) for one in kept)
    assert table(result, "sales_agents").frame.height + away["sales_agents"] == agents


@given(names, st.lists(documents, min_size=1, max_size=3))
def test_any_json_is_flattened_for_any_report(name: str, pages: list[Any]) -> None:
    result = result_of(name, *map(document, pages))
    assert [one.name for one in result.tables][: len(REPORTS[name].tables)] == [
        one.name for one in REPORTS[name].tables
    ]
    assert len({one.name.lower() for one in result.tables}) == len(result.tables)
    heights = [one.frame.height for one in result.tables]
    for one in result.tables:
        columns = [name.lower() for name in one.frame.columns]
        assert len(set(columns)) == len(columns)
        assert set(one.frame.columns) >= {column.name for column in one.columns}
        assert one.frame["_row"].to_list() == list(range(one.frame.height))
        if "_parent_row" in columns:
            parents = one.frame["_parent_row"].to_list()
            assert None not in parents
            assert max(parents, default=-1) < max(heights)


@given(documents)
def test_of_any_page_the_facts_can_be_found(page: Any) -> None:
    report, read = REPORTS["tips_and_leads"], document(page)
    found = rows_found(report, read)
    count = row_count(found)
    assert count >= 0
    assert not (count and is_empty(report, read, found))
    assert all(len(ids) <= count for ids in ids_of(found).values())
    assert (stated_total(read) or 0) >= 0


@given(documents, st.integers(0, 300))
def test_half_a_document_is_refused_or_says_nothing_false(page: Any, length: int) -> None:
    whole = json.dumps(page).encode()
    try:
        read_document(whole[:length])
    except InvalidJson:
        return
    assert length >= len(whole)


@given(names, st.lists(documents, min_size=1, max_size=2))
def test_both_parsers_read_the_same(name: str, pages: list[Any]) -> None:
    quick, exact = ([document(page) for page in pages] for _ in range(2))
    for one in exact:
        one.read_all_digits()
    assert contents(REPORTS[name], quick) == contents(REPORTS[name], exact)


def contents(report: Report, pages: list[Document]) -> tuple[Any, ...]:
    """All that an answer became, in a form that can be compared."""
    result = result_of(report.name, *pages)
    tables = {one.name: (one.columns, one.frame.schema, repr(one.frame.rows())) for one in result.tables}
    return replace(result, tables=()), tables
