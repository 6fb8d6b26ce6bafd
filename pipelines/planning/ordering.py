"""In which order are windows asked? So that a few questions tell who may see what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pipelines.planning.windows import Window

if TYPE_CHECKING:
    from pipelines.sync.pairs import Pair


def in_turns(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Window]]:
    """One window of every pair, each customer beginning with another report; then the others, pair by pair.

    A report, or a customer, that is refused costs one question then, and neighbouring questions are
    about all customers and reports: when all of them are refused, it is not about rights any more.
    The same goes for a window that is too long: what its halves teach is known to the windows after it.
    """
    customers = _places(pair.planned.customer.id for pair in pairs)
    reports = _places(pair.planned.report.name for pair in pairs)
    step = -(-len(reports) // max(len(customers), 1))  # so far apart that few turns reach every report

    def turn(pair: Pair) -> tuple[int, int]:
        customer = customers[pair.planned.customer.id]
        return (reports[pair.planned.report.name] - customer * step) % len(reports), customer

    for pair in sorted(pairs, key=turn):
        yield from ((pair, window) for window in pair.planned.windows[:1])
    for pair in pairs:
        yield from ((pair, window) for window in pair.planned.windows[1:])


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}
