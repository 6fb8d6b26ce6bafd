"""Does polars read a body only where nothing is lost? Both ways of reading must say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.documents import Document, read_document
from pipelines.normalize.flat import Flat
from pipelines.normalize.flatten import flatten
from pipelines.normalize.proving import proven
from pipelines.normalize.text import NotJson
from tests.unit.normalize.answers import FEBRUARY, JANUARY, STOCKHOLM, event

RUNNING = REPORTS["running_commissions"]


def written(*rows: Any) -> bytes:
    return json.dumps(rows).encode()


def as_flat(page: Document) -> Flat:
    return flatten(RUNNING, [page], months=(JANUARY, FEBRUARY), timezone=STOCKHOLM)


def said(flat: Flat) -> tuple[Any, ...]:
    """All that an answer became, in a form that can be compared."""
    tables = [(one.name, one.columns, one.frame.schema, one.frame.rows()) for one in flat.tables]
    return tables, flat.rejected, flat.found


@pytest.mark.parametrize(
    "body",
    [
        written(event(), event(amount=None)),
        json.dumps([event(estateId="a: {b} null true-ish")]).encode(),
        json.dumps([event(), event(userId=None)], separators=(",", ":")).encode(),
        json.dumps([event()], indent=2).encode(),
        written({key: value for key, value in event().items() if key != "exchangeRate"}),
        b"[]",
        written(event(), event(bonus=5)),
        written(event(), event(nullable=5, annulled=None)),
        written(event(isNew=True), event(comment="a: [b] true")),
        written(event(user={"id": 7, "name": "Ek"}), event(tags=["a", "b"], visits=[{"by": "Ek"}])),
        written(event(estateId='quoted "name", C:\\ and a line\nmore')),
        json.dumps([event(estateId="Öhäll <&>")]).replace("<", "\\u003C").encode(),
        written(event(amount=1), event(amount=2.5)),
    ],
    ids=[
        "null",
        "punctuation",
        "compact",
        "indented",
        "absent",
        "no rows",
        "undocumented",
        "words in keys",
        "truths",
        "nested",
        "escapes",
        "escaped letters",
        "whole and not",
    ],
)
def test_rows_are_read_by_polars_and_say_the_same(body: bytes) -> None:
    fast = read_document(body, RUNNING)
    assert fast.column is not None
    assert said(as_flat(fast)) == said(as_flat(read_document(body)))


@pytest.mark.parametrize(
    "body",
    [
        b'[{"userId": "H1", "userId": "H2"}]',
        b'[{"x": 1, "x": 2}]',
        b'[{"x": {"y": 1, "y": 2}}]',
        b'[{"x": 1, "x": 2, "nullable": 3}]',
        b'[{"x": 1, "x": 2, "y: null": 3}]',
        b'[{"x": 1, "x": 2, "y": "z: null"}]',
        b'[{"userId": "H1", "userId": "H2", "x": "a: b"}]',
        b'[{"x[": 1, "y": [1]}]',
        written(event(amount=True), event()),
        written(event(x=True), event(x=1)),
        written(event(x=1), event(x="1")),
        written(event(x=[1]), event(x=1)),
        written(event(x=[None])),
        written(event(x={})),
        written(event(x=2**63)),
        written(event(x=1.5), event(x=2**60)),
        written(event(x="a\0b")),
        json.dumps([event(x="a:b")]).replace("a:b", "a\\u003ab").encode(),
        b'[{"x": "\\ud83d"}]',
        written({}),
        written({**event(), "a:null": 5}),
        written(event(), None),
        written(event(), 7),
        written([event()]),
        b"[1e400]",
        b"[{]",
        b"",
        b" [{}]",
        b'[{"a":' * 40 + b"1" + b"}]" * 40,
        written(*({f"k{number}": 1} for number in range(3_000))),
        written(*({f"k{number % 200}": 1} for number in range(60_000))),
        written(*[event()] * 3_000, *({f"k{number}": 1} for number in range(4_000)), *[event()] * 30_000),
    ],
)
def test_polars_is_not_trusted_with_what_it_would_drop_or_bend(body: bytes) -> None:
    assert proven(body, RUNNING) is None


def test_a_report_whose_rows_stand_anywhere_is_never_read_by_polars() -> None:
    assert all(proven(b"[]", REPORTS[name]) is None for name in ("sold_estates", "live_activity"))


def test_a_row_that_polars_read_is_turned_away_as_it_was_written() -> None:
    body = b'[{"amount": 1.50, "obtainedAt": "2026-01-01"}, {"amount":2.50,"obtainedAt":"never"}]'
    page = read_document(body, RUNNING)
    assert page.column is not None
    assert [(one.place, one.raw) for one in as_flat(page).rejected] == [
        ("$[1]", '{"amount": 2.50, "obtainedAt": "never"}')
    ]


fields = st.sampled_from(
    ["userId", "customerId", "estateId", "amount", "exchangeRate", "obtainedAt", "x", "a:b"]
)
texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["null", ":null", ": null", '"', "true", "{", "2026-01-31T10:00:00", "2026-02-01", "1.5"]
    ),
)
numbers = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(), st.decimals(allow_nan=False, places=5).map(float)
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
likely = st.fixed_dictionaries(
    {
        "userId": st.text("HAN0123", max_size=6),
        "amount": st.one_of(st.none(), st.floats(-1e12, 1e12), st.integers(-(10**6), 10**6)),
        "exchangeRate": st.floats(0, 1e9),
        "obtainedAt": st.sampled_from(
            ["2026-01-01T00:00:00", "2026-02-28T23:59:59.1234567", "2026-03-01", "?"]
        ),
    }
)
rows = st.one_of(
    likely, likely, st.dictionaries(fields, scalars), st.dictionaries(fields, st.lists(scalars, max_size=2))
)
layouts = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])


@given(st.lists(rows, max_size=6), layouts, st.booleans())
def test_both_ways_of_reading_say_the_same(found: list[Any], layout: tuple[str, str], escaped: bool) -> None:
    body = json.dumps(found, separators=layout, ensure_ascii=escaped).encode()
    try:
        exact = read_document(body)
    except (NotJson, UnicodeEncodeError):
        assert proven(body, RUNNING) is None
        return
    assert said(as_flat(read_document(body, RUNNING))) == said(as_flat(exact))
