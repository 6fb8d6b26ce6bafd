"""How is an amount shared out so that no öre is lost?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

WHOLE = 10_000
"""A hundred percent, in hundredths of a percent."""


def split(amount: int, basis_points: Sequence[int]) -> list[int]:
    """Cut an amount by shares that sum to a hundred percent; the parts sum to the amount exactly."""
    edges = [0]
    reached = 0
    for share in basis_points:
        reached += share
        edges.append((amount * reached + WHOLE // 2) // WHOLE)
    return [end - start for start, end in pairwise(edges)]


def in_kronor(foreign: int, rate: int) -> int:
    """An amount in a foreign currency, times its rate in ten-thousandths of a krona, to the nearest unit."""
    return (foreign * rate + WHOLE // 2) // WHOLE
