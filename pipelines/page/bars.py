"""How does one amount become a bar? A share of the longest, and a mark where the budget stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

Amount = Decimal | int | float


@dataclass(frozen=True)
class HorizontalBar:
    """A bar and its mark, in percent of the width."""

    width: str
    mark: str | None = None


def bar(amount: Amount | None, longest: Amount, mark: Amount | None = None) -> HorizontalBar:
    """A bar in proportion to the longest; nothing and less than nothing have none."""
    return HorizontalBar(_share(amount, longest), None if mark is None else _share(mark, longest))


def longest(amounts: Iterable[Amount | None]) -> Amount:
    """The largest of the amounts, which takes the whole width."""
    return max((one for one in amounts if one is not None), default=0)


def attainment(share: Decimal | None) -> HorizontalBar | None:
    """How much of a budget is reached: the mark at 100 %, room for a quarter more."""
    return None if share is None else bar(min(share, Decimal("1.25")), Decimal("1.25"), 1)


def _share(amount: Amount | None, longest: Amount) -> str:
    if amount is None or amount <= 0 or longest <= 0:
        return "0"
    return f"{min(100.0, 100 * float(amount) / float(longest)):.1f}".removesuffix(".0")
