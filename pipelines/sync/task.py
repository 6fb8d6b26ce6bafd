"""One report of one customer on its way: its plan, what it has learned, and what waits to be loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window
from pipelines.sync.bisect import WindowLimit
from pipelines.sync.guard import Comparison
from pipelines.sync.paging import PageSize
from warehouse.ledger.window_result import WindowResult


@dataclass
class TaskState:
    """How far one report of one customer is; its windows share it.

    `rows_held` counts the rows held before the sync, by month (None without months). `closed` says why no
    more windows are asked. `denied` means refused, or not asked as its customer was refused every report
    before. Where anything is held that it can be compared with, it has a `comparison`: what is fetched waits
    in `held_back` until the whole task is in, so that the guard sees all of it. `has_found` says that one of
    the ids asked for is there, so that others may be gone.
    """

    planned: PlannedReport
    rows_held: Mapping[date | None, int] = field(default_factory=dict)
    limit: WindowLimit = field(default_factory=WindowLimit)
    page_size: PageSize = field(default_factory=PageSize)
    windows_left: int = 0
    refused_windows: int = 0
    closed: str = ""
    denied: bool = False
    comparison: Comparison | None = None
    held_back: list[WindowResult] = field(default_factory=list)
    has_begun: bool = False
    has_found: bool = False
    first_ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def months(self) -> tuple[date | None, ...]:
        """The first days of all months that are asked for; None of a report without months."""
        return tuple(month.first_day for one in self.planned.windows for month in one.months) or (None,)

    def begin(self, window: Window, run_id: str) -> WindowResult:
        """The record of one of its windows, before anything is known of it."""
        report = self.planned.report
        return WindowResult(
            report=report.name,
            customer=self.planned.customer.id,
            months=tuple(month.first_day for month in window.months),
            window_start=window.spans[0].first if window.spans else None,
            window_end=window.spans[-1].last if window.spans else None,
            run_id=run_id,
            history=report.stored_as == "history",
            asked=window.ids if report.is_by_id else None,
        )
