"""What was asked? A request's parameters, read and found right."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pipelines.months import Month
from pipelines.sandbox.answers.standing import Known
from pipelines.sandbox.world.facts import Office

Shapes = Literal["a", "b"]
"""Two believable guesses at what nobody has documented."""

DateTo = Literal["inclusive", "exclusive", "day"]
"""Whether a moment equal to dateTo, or the whole day it lies in, belongs to the interval: nobody knows."""


@dataclass(frozen=True, slots=True)
class Question:
    """One legal request: to whom it speaks, for which interval, and in which shapes to answer."""

    known: Known
    customer: str
    offices: tuple[Office, ...]
    shapes: Shapes
    date_to: DateTo = "inclusive"
    start: datetime = datetime.min
    end: datetime = datetime.max
    months: tuple[Month, Month] | None = None
    choice: str | None = None
    user_id: str | None = None
    estate: tuple[str | None, str | None] = (None, None)
    page: tuple[int, int] | None = None
    hidden_rows: int = 0
    repeated_rows: int = 0
    extra: dict[str, str] = field(default_factory=dict)

    def covers(self, moment: datetime | None) -> bool:
        """Whether a moment lies in the interval asked for."""
        if moment is None or moment < self.start:
            return False
        if self.date_to == "exclusive":
            return moment < self.end
        if self.date_to == "day":
            return moment.date() <= self.end.date()
        return moment <= self.end
