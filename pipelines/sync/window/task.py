"""The state of one report of one customer in a sync: plan, profiles of stored rows, and learned limits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window, halves_of
from pipelines.sync.window.bisect import WindowLimit
from pipelines.sync.window.paging import PageSize
from warehouse.ledger.ledger import Cap
from warehouse.ledger.window_result import WindowResult, WindowStatus
from warehouse.load.profile import Profiles

UNANSWERED = frozenset({WindowStatus.FAILED, WindowStatus.NOT_REQUESTED, WindowStatus.NO_ACCESS})


@dataclass
class TaskState:
    """The state that all windows of one report of one customer share.

    Windows are requested newest first, so that requesting can stop at months that the service rejects as too
    old.
    """

    planned: PlannedReport
    limit: WindowLimit = field(default_factory=WindowLimit)
    page_size: PageSize = field(default_factory=PageSize)
    windows: deque[Window] = field(init=False)  # not yet requested
    rejected_in_a_row: int = 0  # windows rejected (400) since the last one that was answered
    rows_lack_months: bool = False  # in answers for several months, rows do not state their month
    stop_reason: str = ""  # why requesting windows has stopped; empty if it has not
    denied: bool = False  # the login has no access to the report of the customer
    stored: Profiles = field(default_factory=dict)
    accept_shrink: bool = False  # no answer is held back

    def __post_init__(self) -> None:
        self.windows = newest_first(self.planned.windows)

    def next_windows(self, count: int, today: date) -> list[Window]:
        """Remove and return the newest windows, at most `count`.

        A window longer than the learned limit is halved first, unless `stop_reason` rules out its request.
        """
        newest: list[Window] = []
        while self.windows and len(newest) < count:
            window = self.windows.popleft()
            if (limit := self.limit.months) and len(window.months) > limit and not self.stop_reason:
                self.windows.extendleft(halves_of(window, today, self.planned.report.endpoint.limit))
            else:
                newest.append(window)
        return newest

    def put_back(self, windows: Iterable[Window]) -> None:
        """Put windows back among those not yet requested."""
        self.windows = newest_first([*self.windows, *windows])

    def learned(self, results: Sequence[WindowResult]) -> Cap:
        """The limits for the next sync of this report and customer, from the results of this sync."""
        unanswered = {day for result in results if result.status in UNANSWERED for day in result.months}
        limit = self.limit.confirmed(unanswered)
        is_loaded = any(result.status is WindowStatus.LOADED for result in results)
        months = 1 if self.rows_lack_months and is_loaded else limit.months
        return Cap(limit.days, months, self.page_size.learned, self.limit.rows, self.limit.whole_rows or None)

    def begin(self, window: Window, run_id: str) -> WindowResult:
        """The record of a window before it is requested."""
        report = self.planned.report
        return WindowResult(
            report=report.name,
            customer=self.planned.customer.id,
            months=tuple(month.first_day for month in window.months),
            window_start=window.spans[0].first if window.spans else None,
            window_end=window.spans[-1].last if window.spans else None,
            run_id=run_id,
            history=report.stored_as == "history",
            asked=window.ids if report.is_tracked_by_id else None,
        )


def newest_first(windows: Iterable[Window]) -> deque[Window]:
    """Sort windows by their months, the latest first."""
    return deque(sorted(windows, key=lambda window: window.months, reverse=True))
