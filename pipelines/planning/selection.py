"""What was the sync told to ask? Months, customers and reports, and what to do with what is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.months import Month

Pair = tuple[str, str]
"""A report's name and a customer's id: what is planned, asked, refused and reported together."""


@dataclass(frozen=True)
class Selection:
    """The part of all reports, customers and months that one sync is about; empty means everything.

    `exact` names the months of each report and customer one by one (a backfill's squares; an empty
    tuple stands for a report without months); the other fields then only say how to treat them.
    `refresh` asks even for what is held; `accept_shrink` lets a customer lose more than half of a
    report's rows; `estates` are asked by the reports on demand. `guided` asks the service first what
    it changed, and reads those months as well; a selection that leaves the choice to us always does.
    """

    first: Month | None = None
    last: Month | None = None
    customers: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    estates: tuple[str, ...] = ()
    refresh: bool = False
    accept_shrink: bool = False
    exact: Mapping[Pair, tuple[Month, ...]] = field(default_factory=dict)
    guided: bool = False

    def __post_init__(self) -> None:
        if self.first and self.last and self.last < self.first:
            raise ValueError(f"--from {self.first} is after --to {self.last}; swap them")

    @property
    def asks_for_changes(self) -> bool:
        """Whether the service is asked what it changed: not for a choice of months or of reports."""
        narrowed = self.first or self.last or self.reports or self.estates or self.exact or self.refresh
        return self.guided or not narrowed

    def covers(self, month: Month) -> bool:
        """Whether a month lies between `first` and `last`."""
        return (self.first is None or self.first <= month) and (self.last is None or month <= self.last)
