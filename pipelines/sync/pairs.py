"""How is one report of one customer getting on? What the windows of a pair share while they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipelines.months import Month
from pipelines.normalize.tables import Normalized
from pipelines.planning.plan import Planned
from pipelines.sync.fetched import Fetched, rows_by_month
from pipelines.sync.spans import LearnedCap

MOST_REFUSED_WINDOWS = 2
"""After so many windows refused for another reason than their length, the rest are not asked."""


@dataclass(frozen=True)
class AtRest:
    """A fetched window without its rows: they are read from landing again when they may be loaded."""

    fetched: Fetched
    rows: Mapping[Month, int]

    @classmethod
    def of(cls, fetched: Fetched) -> AtRest:
        counts = rows_by_month(fetched.flat, fetched.window)
        return cls(replace(fetched, flat=Normalized((), (), fetched.flat.findings)), counts)


@dataclass
class Pair:
    """One report of one customer during a run.

    `before` counts the held rows by month, `total_before` all of them. When the run asks again for
    months that have rows, what is fetched waits until the whole pair is in, so that the shrink guard
    sees all of it.
    """

    planned: Planned
    before: Mapping[Month, int]
    total_before: int
    cap: LearnedCap
    windows_left: int = 0
    refused_windows: int = 0
    closed: str = ""
    denied: bool = False
    waiting: list[AtRest] = field(default_factory=list)

    @property
    def name(self) -> tuple[str, str]:
        return self.planned.pair

    @property
    def is_guarded(self) -> bool:
        """Whether this run replaces rows that are held."""
        asked = {month for window in self.planned.windows for month in window.months}
        return any(self.before.get(month, 0) for month in asked)
