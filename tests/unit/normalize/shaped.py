"""What might a report answer? Documents as the catalogue declares them, with whatever else services add."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from pipelines.catalogue.model import Report
from pipelines.normalize.row_paths import ROOT, Keys, RowPath, row_paths

TEXTS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["a: {b}", "[", "]]", "null", ":null", "true", 'say "x"', "\\", "5", "1.50", "😀å"]),
)
TIMES = st.sampled_from(["2026-01-05T10:00:00", "2026-02-28T23:59:59.1234567", "2026-01-15T00:00:00"])
WHOLE = st.integers(-5, 2_000)
FRACTIONS = st.decimals(-1e7, 1e7, allow_nan=False, places=2).map(float)
OF_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": TEXTS,
    "TIMESTAMP": TIMES,
    "BIGINT": WHOLE,
    "BOOLEAN": st.booleans(),
    "DECIMAL(18,4)": st.one_of(FRACTIONS, WHOLE),
    "DECIMAL(18,8)": st.one_of(FRACTIONS, WHOLE),
    "DOUBLE": FRACTIONS,
}
ODD = st.one_of(
    TEXTS,
    TIMES,
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.sampled_from(
        [[], {}, [None], [[1]], {"id": 1}, [{"id": 1}], [{"a": [{"b": 2}]}, None], 12345678901.123456]
    ),
    st.lists(st.one_of(WHOLE, TEXTS), max_size=3),
)
EXTRA: dict[str, st.SearchStrategy[Any]] = {
    "total": WHOLE,
    "bonus": st.one_of(FRACTIONS, WHOLE),
    "userid": TEXTS,
    "isNew": st.booleans(),
    "tags": st.lists(TEXTS, max_size=2),
    "owner": st.fixed_dictionaries({"id": WHOLE, "name": TEXTS}, optional={"seen": TIMES}),
    "visits": st.lists(st.fixed_dictionaries({"at": TIMES}, optional={"by": TEXTS}), max_size=2),
}
OF_PAGES: dict[str, st.SearchStrategy[Any]] = {
    "totalRowCount": st.one_of(WHOLE, WHOLE.map(str)),
    "paging": st.fixed_dictionaries({"total": WHOLE}, optional={"links": st.lists(TEXTS, max_size=1)}),
}
LAYOUTS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])


@st.composite
def documents(draw: st.DrawFn, report: Report) -> Any:
    """A document of a report: nearly always of one kind of value for one key, as services write them."""
    odds = draw(st.sampled_from([0, 0, 0, 10, 40]))
    top = row_paths(report)
    if top[0].keys == (ROOT,):
        return draw(st.lists(_objects(top[0], odds), max_size=4))
    document: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=OF_PAGES))
    for spot in top:
        _put(document, spot.keys, draw(_lists(spot, odds)))
    return document


def body(value: Any, layout: tuple[str, str], *, escaped: bool) -> bytes:
    """A document as a service writes it; raises UnicodeEncodeError for text that is none."""
    return json.dumps(value, separators=layout, ensure_ascii=escaped).encode()


def _lists(spot: RowPath, odds: int) -> st.SearchStrategy[Any]:
    usual = st.lists(_objects(spot, odds), max_size=3)
    return st.one_of(usual, usual, usual, st.none())


@st.composite
def _objects(draw: st.DrawFn, spot: RowPath, odds: int) -> Any:
    found: dict[str, Any] = {}
    for keys, column in spot.columns.items():
        chance = draw(st.integers(0, 9))
        if chance:
            value = OF_TYPE[column.type] if draw(st.integers(0, 99)) >= odds else ODD
            _put(found, keys, draw(value) if chance > 1 else None)
    for name in draw(st.lists(st.sampled_from(sorted(EXTRA)), max_size=2, unique=True)):
        found[name] = draw(EXTRA[name] if draw(st.integers(0, 99)) >= odds else ODD)
    for inner in spot.inner:
        if draw(st.integers(0, 4)):
            _put(found, inner.keys, draw(_lists(inner, odds)))
    return found


def _put(one: dict[str, Any], keys: Keys, value: Any) -> None:
    *above, last = keys
    for key in above:
        one = one.setdefault(key, {}) if isinstance(one.get(key, {}), dict) else {}
    one[last] = value
