"""How does the world stand on a day? One history, seen at the end of that day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time

from pipelines.months import Month
from pipelines.sandbox.world.facts import Office
from pipelines.sandbox.world.history import MONTHS_AHEAD, History, history

EARLIEST = Month(2001, 1)


@dataclass(frozen=True)
class World:
    """The history and the day up to whose end it is known."""

    history: History
    as_of: date

    @classmethod
    def build(
        cls,
        *,
        seed: int = 1,
        offices: int = 7,
        start: Month = Month(2023, 1),  # noqa: B008  (a frozen value)
        as_of: date,
        activity: float = 1.0,
    ) -> World:
        """A world of so many offices; `activity` 2.0 has twice the sales and leads of 1.0."""
        if start < EARLIEST:
            raise ValueError(f"the sandbox's brokers opened in {EARLIEST}; a history cannot start in {start}")
        if as_of < start.first_day:
            raise ValueError(f"the world cannot be seen on {as_of}, before its history starts in {start}")
        return cls(history(seed, offices, start, activity), as_of)

    def at(self, as_of: date) -> World:
        """The same world on another day."""
        if as_of < self.history.start.first_day:
            raise ValueError(f"the world's history starts in {self.history.start}, after {as_of}")
        return replace(self, as_of=as_of)

    @property
    def moment(self) -> datetime:
        """Until when things are known."""
        return datetime.combine(self.as_of, time.max)

    @property
    def horizon(self) -> Month:
        """The last month whose sales may have left a trace by now."""
        return Month.of(self.as_of).plus(MONTHS_AHEAD)

    @property
    def customers(self) -> tuple[str, ...]:
        """Groups and single offices: every office once."""
        return self.history.chain.customers

    @property
    def offices(self) -> tuple[str, ...]:
        return tuple(self.history.chain.offices)

    def offices_of(self, customer_id: str) -> tuple[Office, ...]:
        """A group's offices, or the office itself; none for a customer nobody knows."""
        return self.history.chain.offices_of(customer_id)
