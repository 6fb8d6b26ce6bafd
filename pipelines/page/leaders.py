"""Who earned most? Places of offices and agents, over the year, the month, the quarter and twelve months."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.page.bars import Amount, HorizontalBar, bar, longest
from pipelines.page.comparing import later
from pipelines.page.facts import Earner, Facts
from pipelines.page.numbers import homes, kronor, span_name

_PERIODS = {"year": "Year to date", "month": "Month", "quarter": "Quarter", "twelve months": "Twelve months"}
_KINDS = {"user": "Agents", "office": "Offices"}


@dataclass(frozen=True)
class Leader:
    """One line of a board."""

    place: int
    moved: str
    steps: str
    way: str
    name: str
    commission: str
    homes: str
    bar: HorizontalBar


@dataclass(frozen=True)
class Board:
    """The places of one period."""

    title: str
    period: str
    leaders: tuple[Leader, ...]
    others: int
    is_complete: bool


@dataclass(frozen=True)
class Boards:
    """All periods of one kind of earner."""

    kind: str
    boards: tuple[Board, ...]


def boards(facts: Facts) -> tuple[Boards, ...]:
    """The boards that the file has something for."""
    found = []
    for kind, words in _KINDS.items():
        of_kind = [one for one in facts.earners if one.kind == kind]
        made = [
            _board(period, [one for one in of_kind if one.period == period])
            for period in _PERIODS
            if any(one.period == period for one in of_kind)
        ]
        if made:
            found.append(Boards(words, tuple(made)))
    return tuple(found)


def _board(period: str, earners: Sequence[Earner]) -> Board:
    most = longest(one.commission for one in earners)
    first = earners[0]
    return Board(
        _PERIODS[period],
        _dates(period, first),
        tuple(_leader(one, most) for one in earners),
        max(0, first.earner_count - len(earners)),
        first.is_complete,
    )


def _leader(earner: Earner, most: Amount) -> Leader:
    moved = earner.rank_change
    way = "new" if moved is None else "up" if moved > 0 else "down" if moved < 0 else "level"
    text = {"new": "new", "level": "unchanged"}.get(way) or f"{way} {abs(moved or 0)}"
    return Leader(
        earner.place,
        text,
        str(abs(moved)) if moved else "",
        way,
        earner.name,
        kronor(earner.commission),
        homes(earner.sold_estate_parts),
        bar(earner.commission, most),
    )


def _dates(period: str, earner: Earner) -> str:
    last = earner.month
    back = {"month": 0, "quarter": (last.month - 1) % 3, "year": last.month - 1, "twelve months": 11}[period]
    return span_name(later(last, -back), last)
