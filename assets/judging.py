"""What became of every square? Read from the sync's outcomes and from the ledger after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from assets.squares import Square
from pipelines.months import Month
from pipelines.planning.due import Calendar
from pipelines.planning.selection import Pair
from pipelines.sync.summary import TROUBLE
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from warehouse.ledger import HeldMonth, Ledger


class State(StrEnum):
    """What a square is after a run."""

    FETCHED = "fetched"
    HELD = "held"
    NOTHING = "nothing to ask"
    NO_ACCESS = "no access"
    FAILED = "failed"


DONE = frozenset({State.FETCHED, State.HELD, State.NOTHING})
"""Squares that turn green: nothing more can be done for them today."""


@dataclass(frozen=True)
class Look:
    """What there is to see of a table: its columns with their types, and some rows as a markdown table."""

    columns: Mapping[str, str]
    preview: str


@dataclass(frozen=True)
class Verdict:
    """What became of one square; rows are those of its own month, `rows_ahead` those of months to come."""

    square: Square
    state: State
    reason: str = ""
    rows: int | None = None
    rows_before: int | None = None
    rows_ahead: int | None = None
    held: HeldMonth | None = None
    outcome: WindowResult | None = None
    look: Look | None = None

    @property
    def is_done(self) -> bool:
        return self.state in DONE


@dataclass(frozen=True)
class Judge:
    """Judges squares; `started_utc` is when the run began, to tell fresh months from older ones.

    `configured` are the customers that the settings name and that are switched on.
    """

    calendar: Calendar
    before: Ledger
    after: Ledger
    configured: Collection[str]
    started_utc: datetime

    def verdicts(self, squares: Iterable[Square], outcomes: Sequence[WindowResult]) -> Iterator[Verdict]:
        """The verdict on every square, in their order."""
        by_pair: dict[Pair, list[WindowResult]] = {}
        for outcome in outcomes:
            by_pair.setdefault(outcome.pair, []).append(outcome)
        for square in squares:
            yield self._verdict(square, by_pair.get(square.pair, []))

    def is_fresh(self, square: Square, since_utc: datetime) -> bool:
        """Whether all of a square was fetched since a moment, by whatever run."""
        held = [self.after.months.get(place) for place in square.places(self.calendar)]
        return all(one is not None and one.fetched_at_utc >= since_utc for one in held)

    def _verdict(self, square: Square, outcomes: Sequence[WindowResult]) -> Verdict:
        concerning = [one for one in outcomes if _concerns(one, square.months(self.calendar))]
        state, reason = self._state(square, concerning)
        own, *ahead = [self.after.months.get(place) for place in square.places(self.calendar)]
        before = self.before.months.get(square.places(self.calendar)[0])
        return Verdict(
            square,
            state,
            reason,
            rows=own.rows if own else None,
            rows_before=before.rows if before else None,
            rows_ahead=sum(one.rows for one in ahead if one) if ahead else None,
            held=own,
            outcome=next((one for one in concerning if one.status is WindowStatus.LOADED), None),
        )

    def _state(self, square: Square, outcomes: Sequence[WindowResult]) -> tuple[State, str]:
        for one in outcomes:
            if one.status in TROUBLE:
                return State.FAILED, one.reason
        is_held = all(place in self.after.months for place in square.places(self.calendar))
        if square.customer not in self.configured:
            reason = "the customer is switched off or no longer in the settings"
            return (State.HELD if is_held else State.NOTHING), reason
        if square.pair in self.after.denied and not self.is_fresh(square, self.started_utc):
            reason = "no access (403); it is asked again tomorrow"
            return (State.HELD if is_held else State.NO_ACCESS), reason
        if is_held:
            fresh = self.is_fresh(square, self.started_utc)
            return (State.FETCHED if fresh else State.HELD), _reason(outcomes)
        if any(one.status is WindowStatus.SKIPPED for one in outcomes):
            return State.NOTHING, _reason(outcomes)
        return State.FAILED, _reason(outcomes) or "it was not asked: the run ended before its turn"


def _concerns(outcome: WindowResult, months: Collection[Month]) -> bool:
    """An outcome without months speaks of the whole report of its customer."""
    return not outcome.months or not set(outcome.months).isdisjoint(month.first_day for month in months)


def _reason(outcomes: Sequence[WindowResult]) -> str:
    return "; ".join(dict.fromkeys(one.reason for one in outcomes if one.reason))
