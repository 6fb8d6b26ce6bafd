"""Progress of a run as lines in its Dagster log."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import timedelta

import dagster as dg

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.planning.plan import Plan
from pipelines.sync.summary import TROUBLE
from warehouse.window_result import WindowResult, WindowStatus

SECONDS_BETWEEN_LINES = 5.0
MOST_FAILURE_LINES = 50
"""After so many failed windows the log only counts; the failure of the run names them all."""
WINDOWS_BEFORE_ESTIMATE = 10
"""The first windows start together and say little about the pace of the rest."""


@dataclass
class RunLog:
    """Counts windows done of windows planned, and estimates the rest from the pace so far."""

    log: dg.DagsterLogManager
    windows: int = 0
    done: int = 0
    rows: int = 0
    requests: int = 0
    failed: int = 0
    started: float = 0.0
    last_line: float = 0.0
    has_warned: bool = False

    def planned(self, plan: Plan) -> None:
        """Log how much is to be asked."""
        self.started = self.last_line = time.monotonic()
        self.windows = plan.windows
        left = sum(one.wanted.left for one in plan.planned)
        held = f"; {left:,} months are held and left alone" if left else ""
        self.log.info(
            f"Asking {self.windows:,} windows, about {plan.requests_expected:,} requests, about "
            f"{_duration(plan.seconds)} at {plan.requests_per_second:g} requests per second{held}."
        )

    def window_done(self, window: WindowResult) -> None:
        """Count a window; log it if it failed, and every few seconds how far the run is."""
        self.requests += window.requests
        if window.report == CHANGED_SALES:
            self._log_changes(window)
        if window.status in (WindowStatus.SKIPPED, WindowStatus.TOLD):
            return
        has_failed = window.status in TROUBLE
        self.done += 1
        self.rows += sum(window.rows.values())
        self.failed += has_failed
        if (has_failed or window.status is WindowStatus.NO_ACCESS) and self.failed <= MOST_FAILURE_LINES:
            self.log.warning(
                f"{window.report} of {window.customer} ({window.when}) {window.status}: {window.reason}"
            )
        if time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
            self._log_progress()

    def _log_changes(self, window: WindowResult) -> None:
        """What the service said of changed sales; that it cannot say is logged for one customer only."""
        if window.status is WindowStatus.TOLD:
            self.log.info(f"{window.customer}: {window.reason}.")
        if window.warnings and not self.has_warned:
            self.has_warned = True
            self.log.warning(f"{window.customer}: {'; '.join(window.warnings)}")

    def _log_progress(self) -> None:
        self.last_line = time.monotonic()
        failed = f", {self.failed:,} failed" if self.failed else ""
        to_go = ""
        if self.done >= min(WINDOWS_BEFORE_ESTIMATE, self.windows // 2):
            seconds = (self.last_line - self.started) * max(self.windows - self.done, 0) / self.done
            to_go = f"; about {_duration(seconds)} to go"
        self.log.info(
            f"{self.done:,} of {self.windows:,} windows, {self.rows:,} rows, {self.requests:,} requests"
            f"{failed}{to_go}."
        )


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds: 1:20:05."""
    return str(timedelta(seconds=math.ceil(seconds)))
