"""What is held of each report of each customer? The ledger's months, sorted once for all who ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.sync.due import Held
from pipelines.sync.selection import Pair

if TYPE_CHECKING:
    from datetime import date

    from warehouse.ledger import HeldMonth, Ledger

HeldMonths = Mapping["Month | None", Held]
Holdings = Mapping[Pair, HeldMonths]
"""Pairs of which the same is held may share one mapping: what follows from it is worked out once."""


def holdings(ledger: Ledger) -> Mapping[Pair, Mapping[Month | None, HeldMonth]]:
    """The held months of every pair; a report without months stands under None."""
    sorted_out: dict[Pair, dict[Month | None, HeldMonth]] = {}
    for (report, customer, day), held in ledger.months.items():
        sorted_out.setdefault((report, customer), {})[Month.of(day) if day else None] = held
    return sorted_out


def outlined(held: Mapping[Pair, Mapping[date | None, Held]]) -> Holdings:
    """The same of an outline, where pairs go on sharing what they share."""
    distinct = {id(months): months for months in held.values()}
    known: dict[int, HeldMonths] = {
        key: {Month.of(day) if day else None: one for day, one in months.items()}
        for key, months in distinct.items()
    }
    return {pair: known[id(months)] for pair, months in held.items()}
