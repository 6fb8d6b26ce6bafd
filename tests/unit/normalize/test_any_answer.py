"""Tests with any answer: each value ends in a table or a rejected row, or the answer does not fit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unicodedata import normalize as normalize_text

from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.document import Document, InvalidJson, parse_exactly, read_document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.pages import page_facts
from pipelines.normalize.rows import ShapeMismatch
from pipelines.normalize.tables import Normalized
from pipelines.normalize.types import float_as_text
from tests.unit.normalize.answers import FEBRUARY, JANUARY, STOCKHOLM, document, live, normalized, table

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


def result_of(name: str, *pages: Document) -> Normalized | str:
    """What pages become, or the sentence that says why they do not fit."""
    months = (JANUARY, FEBRUARY) if REPORTS[name].has_months else ()
    try:
        return normalize(
            REPORTS[name], pages, months=months, timezone=STOCKHOLM, requested_ids=[None for _ in pages]
        )
    except ShapeMismatch as error:
        return str(error)


def as_text(value: Any) -> str:
    """A scalar as text, whatever type its column has."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_as_text(value)
    return normalize_text("NFC", value.strip(" ")) if isinstance(value, str) else str(value)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for element in value:
            yield from leaves(element)
    elif isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif value is not None:
        yield as_text(value)


def cells(result: Normalized) -> Iterator[str]:
    """Every value of every table; of a column of JSON everything in it."""
    for found in result.tables:
        for column in found.columns:
            for value in found.frame[column.name].drop_nulls():
                is_json = column.type in {"JSON", "VARCHAR"} and str(value)[:1] in {"[", "{"}
                yield from leaves(json.loads(value)) if is_json else [as_text(value)]


plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**19), 10**19), st.text("abåö ", max_size=4)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)


undeclared = keys.filter(lambda key: key != "customerId")


@given(st.lists(st.dictionaries(undeclared, plain, max_size=5), max_size=4))
def test_every_value_of_undeclared_fields_is_in_a_table(users: list[dict[str, Any]]) -> None:
    answer = live(*users)
    result = normalized("live_activity", answer, months=(JANUARY,))
    assert Counter(cells(result)) == Counter(leaves(answer))


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
def test_estates_and_agents_are_loaded_or_rejected_or_the_answer_does_not_fit(found: list[Any]) -> None:
    months = [{"month": "1", "estateSaleReports": found}]
    page = document({"officeSaleReports": [{"customerId": "M1", "years": [{"months": months}]}]})
    result = result_of("sales", page)
    if isinstance(result, str):
        assert result.startswith("expected ")
        return
    away = Counter(row.table for row in result.rejected)
    assert table(result, "sales_estates").frame.height + away["sales_estates"] == len(found)
    gone = {json.dumps(json.loads(row.raw)) for row in result.rejected if row.table == "sales_estates"}
    kept = [element for element in found if json.dumps(element) not in gone]
    agents = sum(len(element.get("agents", [])) for element in kept)
    assert table(result, "sales_agents").frame.height + away["sales_agents"] == agents


@given(names, st.lists(documents, min_size=1, max_size=3))
def test_any_json_is_normalized_for_any_report_or_does_not_fit(name: str, pages: list[Any]) -> None:
    result = result_of(name, *map(document, pages))
    if isinstance(result, str):
        assert result.startswith(("expected ", "the service sent "))
        return
    declared = [table.name for table in REPORTS[name].tables]
    assert [found.name for found in result.tables][: len(declared)] == declared
    assert len({found.name.lower() for found in result.tables}) == len(result.tables)
    heights = {found.name: found.frame.height for found in result.tables}
    for found in result.tables:
        columns = [name.lower() for name in found.frame.columns]
        assert len(set(columns)) == len(columns)
        assert set(found.frame.columns) >= {column.name for column in found.columns}
        assert found.frame["_row"].to_list() == list(range(found.frame.height))
        if found.parent:
            parents = found.frame["_parent_row"].to_list()
            assert None not in parents
            assert max(parents, default=-1) < heights[found.parent]


@given(documents)
def test_any_page_has_facts(page: Any) -> None:
    facts = page_facts(REPORTS["tips_and_leads"], document(page))
    assert not (facts.count and facts.mismatch)
    assert all(len(ids) <= facts.count for ids in facts.ids.values())
    assert (facts.total or 0) >= 0


@given(documents, st.integers(0, 300))
def test_a_truncated_document_is_invalid_unless_it_is_complete(page: Any, length: int) -> None:
    whole = json.dumps(page).encode()
    try:
        read_document(whole[:length])
    except InvalidJson:
        return
    assert length >= len(whole)


@given(names, st.lists(documents, min_size=1, max_size=2))
def test_both_parsers_read_the_same_values(name: str, pages: list[Any]) -> None:
    quick, exact = ([document(page) for page in pages] for _ in range(2))
    for page in exact:
        page.value = parse_exactly(page.body)
    assert contents(REPORTS[name], quick) == contents(REPORTS[name], exact)


def contents(report: Report, pages: list[Document]) -> tuple[Any, ...] | str:
    """All that an answer became, in a form that can be compared."""
    result = result_of(report.name, *pages)
    if isinstance(result, str):
        return result
    tables = {
        table.name: (table.columns, table.frame.schema, repr(table.frame.rows())) for table in result.tables
    }
    rejected = [(replace(row, raw=""), json.loads(row.raw)) for row in result.rejected]
    return replace(result, tables=(), rejected=()), rejected, tables
