"""Is a large tree the same when it is read a branch at a time? And is it only cut where that is proven?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.branches import branches
from pipelines.normalize.documents import NotJson, read_at_once, read_document
from pipelines.normalize.flat import Flat, RestingTable
from pipelines.normalize.flatten import flatten
from pipelines.normalize.piecewise import flatten_all
from tests.unit.normalize.answers import FEBRUARY, JANUARY, STOCKHOLM, estate
from tests.unit.normalize.shaped import LAYOUTS, documents
from tests.unit.normalize.test_piecewise import tables

SALES, ESTATES = REPORTS["sales"], REPORTS["sales_for_estate"]
WINDOW = {"months": (JANUARY, FEBRUARY), "timezone": STOCKHOLM}


def in_parts(body: bytes, report: Report, large: int, directory: Path | None = None) -> Flat:
    page = read_document(body, report, large=large)
    return flatten_all(report, [page], asked=[None], directory=directory, **WINDOW)  # type: ignore[arg-type]


def at_once(body: bytes, report: Report) -> Flat:
    return flatten(report, [read_at_once(body)], asked=[None], **WINDOW)  # type: ignore[arg-type]


def tree(*months: list[Any], **of_office: Any) -> dict[str, Any]:
    """A sales report of one office, with the estates of each month."""
    told = [{"month": str(number), "estateSaleReports": rows} for number, rows in enumerate(months, 1)]
    office = {"customerId": "M1", "years": [{"year": "2026", "months": told}], "officeName": "One"}
    return {"officeSaleReports": [{**office, **of_office}, office]}


def told(number: int) -> dict[str, Any]:
    agents = [{"id": f"U{number % 7}", "changes": [{"changedAt": "2026-01-02T00:00:00"}]}]
    return estate(f"E{number}", agents=agents, comment="a ] } text", finalPrice=number)


@given(st.data(), st.sampled_from([SALES, ESTATES]), LAYOUTS, st.integers(20, 900), st.booleans())
def test_parts_say_what_the_whole_says(
    data: st.DataObject, report: Report, layout: tuple[str, str], large: int, escaped: bool
) -> None:
    written = json.dumps(data.draw(documents(report)), separators=layout, ensure_ascii=escaped).encode()
    parts, whole = in_parts(written, report, large), at_once(written, report)
    assert tables(parts) == tables(whole)
    assert sorted(map(repr, parts.rejected)) == sorted(map(repr, whole.rejected))
    assert parts.found.recognised == whole.found.recognised


def test_months_are_read_apart_and_rest_on_the_disk(tmp_path: Path) -> None:
    body = json.dumps(tree(*([told(n) for n in range(m * 40, m * 40 + 40)] for m in range(1, 7)))).encode()
    page = read_document(body, SALES, large=16_000)
    assert len(page.parts) > 3
    flat = in_parts(body, SALES, 16_000, tmp_path)
    assert tables(flat) == tables(at_once(body, SALES))
    assert all(isinstance(one, RestingTable) for one in flat.tables if one.height)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("report", [SALES, ESTATES])
def test_one_long_list_is_cut_between_its_rows_and_places_stay_those_of_the_whole(report: Report) -> None:
    rows = [told(number) for number in range(200)]
    rows[150]["contractDay"] = "never"
    body = json.dumps(tree(rows) if report is SALES else {"estates": rows}).encode()
    assert len(read_document(body, report, large=6_000).parts) > 3
    parts, whole = in_parts(body, report, 6_000), at_once(body, report)
    assert [one.place for one in parts.rejected] == [one.place for one in whole.rejected]
    assert "[150]" in parts.rejected[0].place or report is ESTATES
    assert tables(parts) == tables(whole)


@pytest.mark.parametrize(
    "of_office",
    [
        {"managers": [{"id": "U1"}]},
        {"notes": "x" * 9_000},
        {"closed": [{"a": [1]}]},
    ],
    ids=["rows of the stem", "a long stem", "brackets behind the last list"],
)
def test_a_tree_that_hangs_together_says_the_same(of_office: dict[str, Any]) -> None:
    body = json.dumps(tree([told(1)] * 60, [told(2)] * 60, **of_office)).encode()
    assert tables(in_parts(body, SALES, 8_000)) == tables(at_once(body, SALES))


@pytest.mark.parametrize(
    "damage",
    [
        (b"]}, {", b"], {"),
        (b'"month": "2"', b'"month": 2x'),
        (b'"officeName"', b'"officeName'),
        (b']}]}], "officeName"', b']}]} "officeName"'),
    ],
)
def test_a_damaged_tree_is_not_cut(damage: tuple[bytes, bytes]) -> None:
    body = json.dumps(tree([told(1)] * 60, [told(2)] * 60)).encode()
    assert branches(body, SALES, 8_000)
    broken = body.replace(*damage)
    assert broken != body
    assert branches(broken, SALES, 8_000) == ()
    with pytest.raises(NotJson):
        read_document(broken, SALES, large=8_000)


@given(st.integers(0, 20_000), st.binary(max_size=3))
def test_damage_anywhere_is_noticed_as_when_it_is_read_at_once(place: int, damage: bytes) -> None:
    whole = json.dumps(tree(*([told(n)] * 12 for n in range(4)))).encode()
    body = whole[:place] + damage + whole[place + len(damage) :]
    if branches(body, SALES, 3_000):
        assert tables(in_parts(body, SALES, 3_000)) == tables(at_once(body, SALES))


@pytest.mark.parametrize("name", ["tips_and_leads", "sold_estates", "live_activity", "running_commissions"])
def test_reports_of_another_shape_have_no_branches(name: str) -> None:
    assert branches(b'{"rows": [{}], "x": [{}, {}]}', REPORTS[name], 1) == ()
