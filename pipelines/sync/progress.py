"""Progress of a sync: windows done and planned, and the outcome of each report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

from pipelines.causes import list_names, shorten
from pipelines.planning.plan import Plan
from pipelines.sync.summary import FAILING, NOTHING_TO_LOAD
from pipelines.words import count, counted, duration
from warehouse.ledger.window_result import WindowResult, WindowStatus

SECONDS_BETWEEN_LINES = 5.0
WINDOWS_BEFORE_ESTIMATE = 10
"""A progress line estimates the time to go only after this many windows, or half of all if that is fewer.

The first windows start together, so their pace says little about the others.
"""
MAX_REASON_LENGTH = 70
HEADERS = ("report", "rows", "windows", "requests", "quarantined", "remarks")


@dataclass
class Progress:
    """Counts finished windows, and returns a progress line from time to time."""

    windows: int = 0
    done: int = 0
    rows: int = 0
    requests: int = 0
    failed: int = 0
    began: float = 0.0
    last_line: float = 0.0

    def begin(self, plan: Plan) -> str:
        """Start the clock. Returns a line about the planned windows and requests."""
        self.began = self.last_line = monotonic()
        self.windows = plan.window_count
        loaded = sum(planned.months.not_requested for planned in plan.planned if planned.report.has_months)
        return (
            f"requesting {counted(self.windows, 'window')}, about {counted(plan.requests, 'request')}, "
            f"{duration(plan.seconds)} at {plan.requests_per_second:g} requests per second"
            + (f"; {counted(loaded, 'month')} already loaded, so not requested" if loaded else "")
        )

    def add(self, window: WindowResult) -> bool:
        """Count a finished window. If it had nothing to load, counts only its requests, and returns False."""
        self.requests += window.requests
        if window.status in NOTHING_TO_LOAD:
            return False
        self.done += 1
        self.windows = max(self.windows, self.done)  # a window requested month by month counts as several
        self.rows += window.loaded_rows
        self.failed += window.status in FAILING
        return True

    def line(self) -> str:
        """A progress line. It is empty if the last line is recent, or if no window is planned."""
        now = monotonic()
        if not self.windows or now - self.last_line < SECONDS_BETWEEN_LINES:
            return ""
        self.last_line = now
        failed = f", {count(self.failed)} with issues" if self.failed else ""
        to_go = ""
        if self.done >= min(WINDOWS_BEFORE_ESTIMATE, self.windows // 2):
            seconds = (self.windows - self.done) * (now - self.began) / max(self.done, 1)
            to_go = f"; about {duration(seconds)} to go"
        sent = f"{counted(self.rows, 'row')}, {counted(self.requests, 'request')}"
        return f"{count(self.done)} of {counted(self.windows, 'window')}, {sent}{failed}{to_go}"


def report_cells(results: Iterable[WindowResult]) -> list[Sequence[str]]:
    """The outcome of each report, as a row of cells under HEADERS.

    The cells do not state why windows failed: `Summary.failure_lines` has each cause once.
    """
    reports: dict[str, list[WindowResult]] = {}
    for result in results:
        reports.setdefault(result.report, []).append(result)
    return [_cells(name, windows) for name, windows in reports.items()]


def _cells(name: str, results: Sequence[WindowResult]) -> Sequence[str]:
    loaded = [result for result in results if result.status is WindowStatus.LOADED]
    customers: dict[tuple[WindowStatus, str], list[str]] = {}
    for result in results:
        if result.status is not WindowStatus.LOADED:
            is_skipped = result.status in NOTHING_TO_LOAD
            reason = f": {shorten(result.reason, MAX_REASON_LENGTH)}" if is_skipped else ""
            customers.setdefault((result.status, reason), []).append(result.customer)
    remarks = [
        (list_names(ids) if status is WindowStatus.ANSWERED else f"{len(ids)} {status} ({list_names(ids)})")
        + reason
        for (status, reason), ids in sorted(customers.items())
    ]
    warnings = [warning for result in results for warning in result.warnings]
    if warnings:
        remarks.append(f"{counted(len(warnings), 'warning')}: {warnings[0]}")
    counts = (
        sum(load.loaded_rows for load in loaded),
        len(loaded),
        sum(result.requests for result in results),
        sum(load.rejected_count for load in loaded),
    )
    return (name, *map(count, counts), "; ".join(remarks))
