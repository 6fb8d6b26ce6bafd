"""The guard: an answer may not take away too many stored rows, or empty a column."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import polars as pl
import pytest

from pipelines.catalogue.model import SNAPSHOT_LIMITS, ShrinkLimits, text
from pipelines.normalize.tables import NormalizedTable
from pipelines.sync.guard import REMEDY, REMEDY_FOR_COLUMNS, Comparison, Doubt, DoubtKind, reason, remedy
from warehouse.ledger.window_result import WindowResult
from warehouse.load.profile import TableProfile

DECEMBER, JANUARY, FEBRUARY = date(2025, 12, 1), date(2026, 1, 1), date(2026, 2, 1)
RowsByMonth = Mapping[date | None, int]


def rows_lost(limits: ShrinkLimits, stored: RowsByMonth, *windows: RowsByMonth) -> list[tuple[int, int]]:
    fetched = [WindowResult("sales", "M1", rows_by_month=window) for window in windows]
    doubts = Comparison(limits, stored, {}).doubts(fetched)
    assert {doubt.kind for doubt in doubts} <= {DoubtKind.ROWS_LOST}
    return [(doubt.part, doubt.whole) for doubt in doubts]


@pytest.mark.parametrize(
    ("stored", "windows", "lost"),
    [
        ({JANUARY: 60, FEBRUARY: 40}, [{JANUARY: 9, FEBRUARY: 40}], [(51, 100)]),
        ({JANUARY: 60, FEBRUARY: 40}, [{JANUARY: 10, FEBRUARY: 40}], []),
        ({JANUARY: 60, FEBRUARY: 40}, [{JANUARY: 9}, {FEBRUARY: 40}], [(51, 100)]),
        ({JANUARY: 60, FEBRUARY: 40}, [{JANUARY: 30}, {JANUARY: 30, FEBRUARY: 0}], []),
        ({DECEMBER: 940, JANUARY: 60}, [{JANUARY: 0}], [(60, 60)]),
        ({DECEMBER: 940, JANUARY: 20}, [{JANUARY: 0}], [(20, 20)]),
        ({DECEMBER: 940, JANUARY: 19}, [{JANUARY: 0}], []),
        ({JANUARY: 60}, [{FEBRUARY: 0}], []),
    ],
)
def test_more_than_half_of_twenty_stored_rows_of_the_requested_months_may_not_go(
    stored: RowsByMonth, windows: list[RowsByMonth], lost: list[tuple[int, int]]
) -> None:
    assert rows_lost(ShrinkLimits(), stored, *windows) == lost


@pytest.mark.parametrize(
    ("stored", "now", "lost"), [(3, 0, [(3, 3)]), (30, 20, [(10, 30)]), (30, 21, []), (0, 0, [])]
)
def test_a_third_of_a_snapshot_may_not_go(stored: int, now: int, lost: list[tuple[int, int]]) -> None:
    assert rows_lost(SNAPSHOT_LIMITS, {None: stored}, {None: now}) == lost


SOLD = (text("id", "id"), text("note", "note"))


def sold(rows: int, note: str | None = "x") -> NormalizedTable:
    types = {"id": pl.String(), "note": pl.String()}
    frame = pl.DataFrame([(f"{number}", note) for number in range(rows)], types, orient="row")
    return NormalizedTable("sold", SOLD, frame, ("id",))


def agents(rows: int) -> NormalizedTable:
    frame = pl.DataFrame({"agent": ["a"] * rows}, {"agent": pl.String()})
    return NormalizedTable("agents", (text("agent", "agent"),), frame, (), "sold")


def emptied(*windows: list[NormalizedTable], notes: int = 11, agent_rows: int = 20) -> list[str]:
    """The columns that are doubted where twenty sales are stored, some with a note."""
    stored = {
        "sold": TableProfile(20, {"id": 20, "note": notes}),
        "agents": TableProfile(agent_rows, {"agent": agent_rows}),
    }
    comparison = Comparison(ShrinkLimits(), {JANUARY: 40}, stored)
    for tables in windows:
        comparison.add(tables)
    return [doubt.column for doubt in comparison.doubts([])]


def test_a_column_that_most_stored_rows_have_may_not_be_empty_in_all_new_ones() -> None:
    assert emptied([sold(20), agents(30)]) == []
    assert emptied([sold(1, note=None), agents(30)]) == ["sold.note"]
    assert emptied([sold(1, note=None), agents(30)], notes=10) == []


def test_a_column_that_is_empty_in_one_window_may_be_filled_in_another() -> None:
    assert emptied([sold(20, note=None), agents(0)], [sold(1), agents(1)]) == []


def test_a_table_of_twenty_rows_may_not_be_empty_if_another_one_has_rows() -> None:
    assert emptied([sold(20), agents(0)]) == ["agents.agent"]
    assert emptied([sold(20), agents(0)], agent_rows=19) == []
    assert emptied([sold(0), agents(0)]) == []


def test_the_reason_names_the_columns_and_the_remedy_says_that_they_may_be_renamed() -> None:
    columns = [Doubt(DoubtKind.COLUMN_EMPTIED, 20, 20, f"sold.{name}") for name in "abcdef"]
    assert reason(columns[:1]) == "sold.a is empty in all rows and was filled in 20 of 20; the old rows stay."
    assert reason(columns).endswith(
        "sold.d is empty in all rows and was filled in 20 of 20, and 2 more like that; the old rows stay."
    )
    assert remedy(columns) == REMEDY_FOR_COLUMNS
    lost = [Doubt(DoubtKind.ROWS_LOST, 51, 100)]
    assert (reason(lost), remedy(lost)) == ("51 of 100 stored rows would go; the old rows stay.", REMEDY)
