"""Which rows stay, and why do the others not? Strangers, misfits, missing ids, months not asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.months import Month
from pipelines.normalize.columns import Filled
from pipelines.normalize.dating import MISSING, Dated
from pipelines.normalize.documents import Document
from pipelines.normalize.flat import Rejected
from pipelines.normalize.kinds import FRACTION, LONG_FRACTION, LONG_WHOLE, NESTED, TEXT, TRUTH, WHOLE
from pipelines.normalize.rows import Rows

STRANGE = "it is no object"
SAID = {
    TEXT: "a text",
    WHOLE: "a whole number",
    FRACTION: "a fractional number",
    TRUTH: "true or false",
    LONG_WHOLE: "a whole number too long for 64 bits",
    LONG_FRACTION: "a number too long for a float",
    NESTED: "an object or a list",
}


@dataclass(frozen=True)
class Reason:
    """Why rows are turned away: the same sentence for all of them, without a value of theirs."""

    mask: pl.Series
    sentence: str
    column: str | None = None


def reasons(columns: Sequence[Filled], key: Sequence[str], dated: Dated) -> Iterator[Reason]:
    """Every reason for which a row of these columns is turned away, the weightiest first."""
    for one in columns:
        name, type_ = one.column.name, one.column.type
        for misfit in one.misfits:
            yield Reason(misfit.mask, f"{name} is no {type_}: it is {SAID[misfit.kind]}", name)
    for one in columns:
        if one.column.name in key and one.values.null_count():
            yield Reason(
                one.values.is_null(), f"{one.column.name} is missing, which tells rows apart", one.column.name
            )
    if dated.reason and dated.months.null_count():
        yield from _undated(columns, dated)


def _undated(columns: Sequence[Filled], dated: Dated) -> Iterator[Reason]:
    dates = next((one.values for one in columns if one.column.name == dated.column), None)
    is_missing = dates.is_null() if dates is not None else dated.months.is_null()
    yield Reason(is_missing, MISSING, dated.column)
    yield Reason(dated.months.is_null(), dated.reason or MISSING, dated.column)


def sifted(
    rows: Rows, table: str, why: Sequence[Reason], dated: Dated, pages: Sequence[Document]
) -> tuple[Sequence[int], list[Rejected]]:
    """The rows that stay, and those turned away, each for its first reason."""
    turned_away: dict[int, tuple[str, str | None]] = dict.fromkeys(rows.strangers, (STRANGE, None))
    for reason in why:
        for row in reason.mask.fill_null(value=False).arg_true():
            turned_away.setdefault(row, (reason.sentence, reason.column))
    if not turned_away:
        return range(len(rows)), []
    rejected = []
    for row, (sentence, column) in sorted(turned_away.items()):
        page, *steps = rows.steps(row)
        raw = pages[int(page)].raw(steps)
        place = _place(steps, int(page), len(pages))
        rejected.append(Rejected(table, place, sentence, column, _month(dated, row), raw))
    return [row for row in range(len(rows)) if row not in turned_away], rejected


def _place(steps: Sequence[str | int], page: int, pages: int) -> str:
    """A JSON path; of several pages it says which."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"page {page + 1}: ${path}" if pages > 1 else f"${path}"


def _month(dated: Dated, row: int) -> Month | None:
    day = dated.months[row]
    return Month.of(day) if day else None
