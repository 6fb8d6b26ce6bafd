"""What is held of each report of each customer? The ledger's months, sorted once for all who ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.sync.selection import Pair

if TYPE_CHECKING:
    from warehouse.ledger import HeldMonth, Ledger

Holdings = Mapping[Pair, Mapping["Month | None", "HeldMonth"]]


def holdings(ledger: Ledger) -> Holdings:
    """The held months of every pair; a report without months stands under None."""
    sorted_out: dict[Pair, dict[Month | None, HeldMonth]] = {}
    for (report, customer, day), held in ledger.months.items():
        sorted_out.setdefault((report, customer), {})[Month.of(day) if day else None] = held
    return sorted_out
