"""What is held of each report of each customer? The ledger's months, sorted once for all who ask."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.planning.due import Held
from pipelines.planning.selection import Pair

if TYPE_CHECKING:
    from datetime import date

HeldMonths = Mapping["Month | None", Held]
RowsHeld = Mapping["Month | None", int]
Holdings = Mapping[Pair, HeldMonths]
"""Pairs of which the same is held may share one mapping: what follows from it is worked out once."""


def rows_held(counts: Mapping[Pair, Mapping[date | None, int]]) -> Mapping[Pair, RowsHeld]:
    """How many rows are held of every month of a pair; a report without months stands under None."""
    month_of = cache(Month.of)
    return {
        pair: {month_of(day) if day else None: count for day, count in rows.items()}
        for pair, rows in counts.items()
    }


def outlined(held: Mapping[Pair, Mapping[date | None, Held]]) -> Holdings:
    """The same of an outline, where pairs go on sharing what they share."""
    distinct = {id(months): months for months in held.values()}
    known: dict[int, HeldMonths] = {
        key: {Month.of(day) if day else None: one for day, one in months.items()}
        for key, months in distinct.items()
    }
    return {pair: known[id(months)] for pair, months in held.items()}
