"""Progress of a run as lines in its Dagster log."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from logging import Logger
from typing import TYPE_CHECKING

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.cli.printing import duration, to_go
from pipelines.sync.summary import TROUBLE
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from dagster import DagsterLogManager

    from pipelines.planning.plan import Plan

SECONDS_BETWEEN_LINES = 5.0
MOST_FAILURE_LINES = 50
"""After so many failed windows the log only counts; the failure of the run names them all."""


@dataclass
class RunLog:
    """Counts windows done of windows planned, and estimates the rest from the pace so far."""

    log: Logger | DagsterLogManager
    monotonic: Callable[[], float] = time.monotonic
    windows: int = 0
    done: int = 0
    rows: int = 0
    requests: int = 0
    failed: int = 0
    started: float = field(default=0.0, init=False)
    last_line: float = field(default=0.0, init=False)
    has_warned: bool = field(default=False, init=False)

    def planned(self, plan: Plan) -> None:
        """Log how much is to be asked."""
        self.started = self.last_line = self.monotonic()
        self.windows = plan.windows
        left = sum(one.wanted.left for one in plan.planned)
        held = f"; {left:,} months are held and left alone" if left else ""
        self.log.info(
            f"Asking {self.windows:,} windows, about {plan.requests_expected:,} requests, "
            f"{duration(plan.seconds)} at {plan.requests_per_second:g} requests per second{held}."
        )

    def window_done(self, window: WindowResult) -> None:
        """Count a window; log it if it failed, and how far the run is every few seconds."""
        self.requests += window.requests
        if window.report == CHANGED_SALES:
            self._log_changes(window)
        if window.status in (WindowStatus.SKIPPED, WindowStatus.TOLD):
            return
        self.done += 1
        self.rows += sum(window.rows.values())
        self.failed += window.status in TROUBLE
        if (
            window.status in TROUBLE or window.status is WindowStatus.NO_ACCESS
        ) and self.failed <= MOST_FAILURE_LINES:
            self.log.warning(
                f"{window.report} of {window.customer} ({window.when}) {window.status}: {window.reason}"
            )
        now = self.monotonic()
        if now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            failed = f", {self.failed:,} failed" if self.failed else ""
            self.log.info(
                f"{self.done:,} of {self.windows:,} windows, {self.rows:,} rows, {self.requests:,} requests"
                f"{failed}{to_go(self.done, self.windows, now - self.started)}."
            )

    def _log_changes(self, window: WindowResult) -> None:
        """What the service said of changed sales; that it cannot say is logged for one customer only."""
        if window.status is WindowStatus.TOLD:
            self.log.info(f"{window.customer}: {window.reason}.")
        if window.warnings and not self.has_warned:
            self.has_warned = True
            self.log.warning(f"{window.customer}: {'; '.join(window.warnings)}")
