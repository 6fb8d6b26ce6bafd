"""The state of one report of one customer in a sync: its plan, learned limits, and windows held back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window, halves_of
from pipelines.sync.guard import Comparison
from pipelines.sync.window.bisect import WindowLimit
from pipelines.sync.window.paging import PageSize
from warehouse.ledger.ledger import Cap
from warehouse.ledger.window_result import WindowResult, WindowStatus

UNANSWERED = frozenset({WindowStatus.FAILED, WindowStatus.NOT_ASKED, WindowStatus.NO_ACCESS})


@dataclass
class TaskState:
    """The state of one report of one customer, which its windows share.

    `rows_held` counts the rows stored before the sync, by month (None without months). `closed` is the reason
    why no more windows are requested. `denied` means 403, for it or for all reports of its customer. With a
    `comparison`, fetched windows wait in `held_back` until the guard has seen all of them. `lacks_months`
    means that rows of several months do not carry their month.

    After a window was rejected (400) the others are `waiting`: they are requested one at a time (the latest
    is `alone`), the newest first, as the service may answer nothing before some day. Each that is rejected
    and cannot be halved is one of the `refused_windows`, and reverses their order.
    """

    planned: PlannedReport
    rows_held: Mapping[date | None, int] = field(default_factory=dict)
    limit: WindowLimit = field(default_factory=WindowLimit)
    page_size: PageSize = field(default_factory=PageSize)
    windows_left: int = 0
    under_way: int = 0
    refused_windows: int = 0
    waiting: list[Window] | None = None
    alone: Window | None = None
    from_newest: bool = True
    lacks_months: bool = False
    closed: str = ""
    denied: bool = False
    comparison: Comparison | None = None
    held_back: list[WindowResult] = field(default_factory=list)
    has_begun: bool = False
    first_ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def months(self) -> tuple[date | None, ...]:
        """The first days of all months that are asked for; None of a report without months."""
        return tuple(month.first_day for window in self.planned.windows for month in window.months) or (None,)

    @property
    def asks_one_first(self) -> bool:
        """Whether one request has to show that access is not denied before the others follow."""
        return self.planned.was_refused or self.planned.report.is_by_id

    def next_alone(self, today: date) -> Window:
        """The next of the windows that wait, of as few months as are known to be answered together."""
        waiting, most = self.waiting or [], self.limit.months
        waiting.sort(key=lambda window: window.months)
        end = -1 if self.from_newest else 0
        while most and len(waiting[end].months) > most and not self.closed:
            halves = halves_of(waiting[end], today, self.planned.report.endpoint.limit)
            waiting[end : end + 1 or None] = halves
            self.windows_left += 1
        self.alone = waiting.pop(end)
        return self.alone

    def note_refused(self, window: Window) -> None:
        """Take note of a window that is refused for good; not of one asked before the others waited."""
        if self.waiting is None:
            self.refused_windows += 1
        elif window == self.alone:
            self.refused_windows += 1
            self.from_newest = not self.from_newest

    def learned(self, results: Sequence[WindowResult]) -> Cap:
        """What later syncs know of the report and customer, after these results of it."""
        unanswered = {day for result in results if result.status in UNANSWERED for day in result.months}
        limit = self.limit.without(unanswered)
        is_loaded = any(result.status is WindowStatus.LOADED for result in results)  # else no such answer
        months = 1 if self.lacks_months and is_loaded else limit.months
        return Cap(limit.days, months, self.page_size.learned)

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
