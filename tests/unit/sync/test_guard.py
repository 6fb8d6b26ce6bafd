"""The guard: an answer may not remove too many stored rows, or empty a column."""

from __future__ import annotations

from collections import Counter
from datetime import date

import polars as pl
import pytest

from pipelines.catalogue.model import day, money, text
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.tables import NormalizedTable
from pipelines.sync.guard import COLUMN_EMPTIED, REMEDY, ROWS_LOST, HeldBack, check_shrink
from warehouse.load.profile import Profiles, TableProfile


def held_back(
    stored: dict[str, TableProfile], *tables: NormalizedTable, rows: int, report: str = "sales"
) -> tuple[str, str, str]:
    """The rule that holds an answer back, what was found, and the remedy; empty if nothing does."""
    try:
        check_shrink(REPORTS[report], {None: stored}, tables, {None: rows})
    except HeldBack as error:
        return error.rule, error.issue, error.remedy
    return "", "", ""


@pytest.mark.parametrize(
    ("report", "stored", "now", "is_held"),
    [
        ("sales", 100, 49, True),
        ("sales", 100, 50, False),
        ("sales", 20, 0, True),
        ("sales", 19, 0, False),
        ("commission_user", 5, 2, True),
        ("commission_user", 4, 0, False),
        ("users", 3, 0, True),
        ("users", 30, 20, True),
        ("users", 30, 21, False),
        ("users", 0, 0, False),
    ],
)
def test_an_answer_may_remove_at_most_half_of_enough_rows_or_a_third_of_a_snapshot(
    report: str, stored: int, now: int, *, is_held: bool
) -> None:
    found = f"{stored - now} of {stored} stored rows would be removed; the old rows stay."
    expected = (ROWS_LOST, found, REMEDY.format(report=report)) if is_held else ("", "", "")
    assert held_back({"sold": TableProfile(stored)}, rows=now, report=report) == expected


def test_a_month_may_not_lose_more_than_half_of_its_rows_even_if_the_window_loses_few() -> None:
    january, february = date(2026, 1, 1), date(2026, 2, 1)
    stored: Profiles = {january: {"sold": TableProfile(40)}, february: {"sold": TableProfile(400)}}
    with pytest.raises(HeldBack, match="39 of 40 stored rows of 2026-01 would be removed"):
        check_shrink(REPORTS["sales"], stored, (), {january: 1, february: 400})


NOTES = ("a", "b", "c", "d_day")
SOLD = (text("id", ""), text("a", "", needed=True), money("-", "", name="b"), text("c", ""), day("d_day", ""))


def sold(rows: int, note: str | None = "x") -> NormalizedTable:
    values = [(f"{number}", *[note] * len(NOTES)) for number in range(rows)]
    frame = pl.DataFrame(values, dict.fromkeys(("id", *NOTES), pl.String()), orient="row")
    return NormalizedTable("sold", SOLD, frame, ("id",))


def agents(rows: int) -> NormalizedTable:
    frame = pl.DataFrame({"agent": ["a"] * rows}, {"agent": pl.String()})
    return NormalizedTable("agents", (text("agent", "agent"),), frame, (), "sold")


def emptied(*tables: NormalizedTable, notes: int = 11, agent_rows: int = 20) -> tuple[str, str, str]:
    """What is held back if twenty sales are stored, some with a note, and enough rows have come."""
    stored = {
        "sold": TableProfile(20, Counter(id=20, a=notes)),
        "agents": TableProfile(agent_rows, Counter(agent=agent_rows)),
    }
    return held_back(stored, *tables, rows=max(40, agent_rows) if tables[0].frame.height else 0)


def test_a_column_that_most_stored_rows_fill_may_not_be_empty_in_all_new_rows() -> None:
    found = "sold.a: empty in all new rows, but filled in most stored rows; the old rows stay."
    assert emptied(sold(20), agents(30)) == ("", "", "")
    *known, remedy = emptied(sold(1, note=None), agents(30))
    assert known == [COLUMN_EMPTIED, found]
    assert remedy.split("Only if")[0].endswith("run `brokerbi sync --refresh --report NAME`. ")
    assert emptied(sold(1, note=None), agents(30), notes=10) == ("", "", "")


def test_a_table_with_enough_rows_may_not_become_empty_if_another_has_rows() -> None:
    assert emptied(sold(20), agents(0))[0] == COLUMN_EMPTIED
    assert emptied(sold(20), agents(0), agent_rows=19)[0] == ""


def test_of_few_stored_rows_a_column_may_not_be_empty_if_all_had_an_amount_or_marts_need_it() -> None:
    few = [
        held_back({"sold": TableProfile(3, Counter({name: filled}))}, sold(rows, note=None), rows=rows)[0]
        for name, filled, rows in (("b", 3, 3), ("b", 3, 2), ("b", 2, 3), ("c", 3, 3), ("d_day", 3, 3))
    ]
    assert few == [COLUMN_EMPTIED, "", "", "", COLUMN_EMPTIED]
    found = [
        held_back({"sold": TableProfile(1, Counter({a: 1}))}, sold(1, note=None), rows=1)[0] for a in "ab"
    ]
    assert found == [COLUMN_EMPTIED, ""]
