"""Is a large answer the same when it is read part by part? Both ways of reading must say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.cutting import cuts
from pipelines.normalize.documents import NotJson, read_at_once, read_document
from pipelines.normalize.flat import Flat
from pipelines.normalize.flatten import flatten
from pipelines.normalize.piecewise import flatten_all
from tests.unit.normalize.answers import FEBRUARY, JANUARY, STOCKHOLM, event
from tests.unit.normalize.test_proving import rows as events

RUNNING, USERS, ACTIVITY = (REPORTS[name] for name in ("running_commissions", "users", "live_activity"))
WINDOW = {"months": (JANUARY, FEBRUARY), "timezone": STOCKHOLM}


def tables(flat: Flat) -> dict[str, tuple[object, ...]]:
    """Every table with its columns and rows, whether it came at once or in parts."""
    frames: dict[str, list[pl.DataFrame]] = {}
    columns: dict[str, set[object]] = {}
    for one in flat.tables:
        frames.setdefault(one.name, []).append(one.frame)
        columns.setdefault(one.name, set()).update(one.columns)
    joined = {name: pl.concat(parts, how="diagonal") for name, parts in frames.items()}
    return {
        name: (columns[name], frame.select(sorted(frame.columns)).rows()) for name, frame in joined.items()
    }


def in_parts(body: bytes, report: Report, large: int, directory: Path | None = None) -> Flat:
    page = read_document(body, report, large=large)
    return flatten_all(report, [page], asked=[None], directory=directory, **WINDOW)  # type: ignore[arg-type]


def at_once(body: bytes, report: Report) -> Flat:
    return flatten(report, [read_at_once(body)], asked=[None], **WINDOW)  # type: ignore[arg-type]


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text('ab}{][,:" \\é', max_size=6)
)
names = st.sampled_from(["id", "Id", "user_id", "userId", "a.b", "a", "amount", "x}, {", "changedAt"])
inner = st.lists(st.dictionaries(names, scalars, max_size=2), max_size=2)
things = st.dictionaries(
    names, st.one_of(scalars, inner, st.dictionaries(names, scalars, max_size=2)), max_size=4
)
odd = st.one_of(things, things, scalars, st.lists(scalars, max_size=2))
layouts = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])
reports = st.sampled_from([RUNNING, USERS, ACTIVITY])


@given(st.lists(st.one_of(odd, events), max_size=9), reports, layouts, st.integers(1, 90), st.booleans())
def test_parts_say_what_the_whole_says(
    found: list[Any], report: Report, layout: tuple[str, str], large: int, escaped: bool
) -> None:
    body = json.dumps(found, separators=layout, ensure_ascii=escaped).encode()
    try:
        whole = at_once(body, report)
    except NotJson:
        assert cuts(body, report, large) == ()
        return
    parts = in_parts(body, report, large)
    assert (tables(parts), parts.rejected) == (tables(whole), whole.rejected)
    assert parts.found.recognised == whole.found.recognised


@given(st.lists(events, min_size=2, max_size=6), st.integers(0, 400), st.binary(max_size=3))
def test_a_damaged_list_is_never_cut_into_sound_parts(found: list[Any], place: int, damage: bytes) -> None:
    whole = json.dumps(found).encode()
    body = whole[:place] + damage + whole[place + len(damage) :]
    if cuts(body, RUNNING, 50):
        parts = in_parts(body, RUNNING, 50)
        assert (tables(parts), parts.rejected) == (
            tables(at_once(body, RUNNING)),
            at_once(body, RUNNING).rejected,
        )


def test_documented_rows_are_cut_and_rest_on_the_disk(tmp_path: Path) -> None:
    body = json.dumps([event(estateId=f"E{number}, }}{{") for number in range(50)]).encode()
    flat = in_parts(body, RUNNING, 1000, tmp_path)
    assert len(flat.tables) > 5
    assert tables(flat) == tables(at_once(body, RUNNING))
    assert list(tmp_path.iterdir()) == []


def test_rows_nested_in_rows_point_to_their_parents_across_parts() -> None:
    body = json.dumps([{"id": str(n), "spokenLanguages": [{"code": "sv"}] * (n % 3)} for n in range(40)])
    assert len(cuts(body.encode(), USERS, 200)) > 5
    assert tables(in_parts(body.encode(), USERS, 200)) == tables(at_once(body.encode(), USERS))


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows": []}',
        b"[{}] [{}]",
        b"[{},]",
        b"[{}",
        b"[{} {}]",
        b"[NaN, {}]",
        b"\xef\xbb\xbf[{}, {}]",
        b'["\xff", {}]',
    ],
)
def test_what_is_no_sound_list_is_not_cut(body: bytes) -> None:
    assert cuts(body, RUNNING, 1) == ()


@pytest.mark.parametrize("name", ["sales", "tips_and_leads", "sold_estates", "commission_office_by_month"])
def test_reports_whose_rows_hang_together_are_not_cut(name: str) -> None:
    assert cuts(b"[{}, {}]", REPORTS[name], 1) == ()
