"""Rows of several months taken apart by the year and month that they, or rows nested in them, carry.

Afterwards every table is as if each month had been asked for on its own: a row that holds rows of several
months is there once in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import polars as pl

from pipelines.normalize.columns.tables import NormalizedTable
from pipelines.normalize.envelopes import is_of_pages, simplified
from pipelines.normalize.levels import ENVELOPE

PLACES = ("_row", "_month")


def spread_over_months(
    tables: Sequence[NormalizedTable], months: Sequence[date], *, holds_no_sums: bool = False
) -> list[NormalizedTable] | None:
    """The tables, parents before their children, with a month in every row; None where that cannot be told.

    A row without a month is in those of the rows nested in it; the topmost are in all, as an office is that
    has no budget, and so is what says nothing of months at all. A number beside them may be a sum over all
    months, which belongs to none: then nothing can be told.
    """
    if not holds_no_sums and any(_numbers_beside_months(one) for one in tables):
        return None
    months_of_rows = _months_of_rows(tables, pl.DataFrame({"_month": months}, schema={"_month": pl.Date}))
    spread = []
    numbers: dict[str, pl.DataFrame] = {}
    for one in tables:
        rows = months_of_rows[one.name].sort("_month", "_row")
        numbered = rows.with_row_index("_new_row").with_columns(pl.col("_new_row").cast(pl.Int64))
        numbers[one.name] = numbered
        frame = numbered.join(one.frame.drop("_month"), on="_row", how="left", maintain_order="left")
        if one.parent:
            above = numbers[one.parent].select(
                pl.col("_row").alias("_parent_row"), "_month", pl.col("_new_row").alias("_new_parent")
            )
            frame = frame.join(above, on=["_parent_row", "_month"], how="left", maintain_order="left")
            frame = frame.with_columns(_parent_row="_new_parent")
        frame = frame.with_columns(_row="_new_row").select(one.frame.columns)
        spread.append(replace(one, frame=frame))
    return spread


def have_numbers_beside_months(tables: Sequence[NormalizedTable]) -> bool:
    """Whether all that keeps months from being told apart are numbers beside them, which may be sums.

    A number with no months below it is no such number: then nothing says of which month it is.
    """
    parents = {table.name: table.parent for table in tables}
    above_months = set()
    for table in tables:
        name = table.name if table.frame["_month"].count() else ""
        while name:
            above_months.add(name)
            name = parents.get(name, "")
    return all(table.name in above_months for table in tables if _numbers_beside_months(table))


def are_constants(whole: Sequence[NormalizedTable], parts: Sequence[Sequence[NormalizedTable]]) -> bool:
    """Whether the numbers beside the months of an answer are the same in answers for parts of its months.

    A sum over the months is another one in each, unless it is zero; what is the same everywhere is none.
    Rows are known again by all that is no number in them.
    """
    for table in whole:
        for column in _numbers_beside_months(table):
            said = _by_row(table, column, table.frame.filter(pl.col("_month").is_null()))
            for part in parts:
                found = next((one for one in part if one.name == table.name), None)
                again = _by_row(found, column, found.frame) if found and column in found.frame.columns else {}
                if not said.keys() & again.keys() or any(
                    again.get(row, value) != value for row, value in said.items()
                ):
                    return False
    return True


def _by_row(table: NormalizedTable, column: str, rows: pl.DataFrame) -> dict[tuple[object, ...], object]:
    known = [one.name for one in table.columns if not rows[one.name].dtype.is_numeric()]
    return {tuple(row): value for *row, value in rows.select(*known, column).rows()}


def _numbers_beside_months(table: NormalizedTable) -> list[str]:
    """The columns in which rows without a month hold undocumented numbers, dates and ids aside."""
    undated = table.frame.filter(pl.col("_month").is_null())
    is_envelope = table.name.endswith(f"__{ENVELOPE}")
    return [
        one.name
        for one in table.columns
        if not one.documented and one.name != "id" and not one.name.endswith("_id")
        if simplified(one.source.rpartition(".")[2]) not in {"year", "month"}
        if not (is_envelope and is_of_pages(one.source.rpartition(".")[2]))
        if undated[one.name].dtype.is_numeric() and undated[one.name].count()
    ]


def _months_of_rows(tables: Sequence[NormalizedTable], window: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Every row of every table with each of its months."""
    dated = {one.name: one.frame.filter(pl.col("_month").is_not_null()).select(PLACES) for one in tables}
    for one in reversed(tables):
        if one.parent:
            rows = one.frame.select("_row", "_parent_row").join(dated[one.name], on="_row")
            of_parents = rows.select(pl.col("_parent_row").alias("_row"), "_month")
            dated[one.parent] = pl.concat([dated[one.parent], of_parents]).unique()
    found: dict[str, pl.DataFrame] = {}
    for one in tables:
        rows = one.frame.filter(pl.col("_month").is_null())
        if one.parent:
            without = rows.join(dated[one.name], on="_row", how="anti")
            above = found[one.parent].rename({"_row": "_parent_row"})
            rest = without.select("_row", "_parent_row").join(above, on="_parent_row").select(PLACES)
            found[one.name] = pl.concat([dated[one.name], rest])
        else:
            everywhere = rows.select("_row").join(window, how="cross")
            of_dated = dated[one.name].join(rows, on="_row", how="anti")
            found[one.name] = pl.concat([of_dated, everywhere])
    return found
