"""Progress of a run as lines in its Dagster log."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import dagster as dg

from assets.metadata import markdown_table
from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.planning.plan import Plan
from pipelines.sync.summary import NOT_OF_TONIGHT, OF_THE_HOST, TROUBLE
from warehouse.ledger.column_news import ColumnNews
from warehouse.ledger.window_result import WindowResult, WindowStatus

SECONDS_BETWEEN_LINES = 5.0
MOST_FAILURE_LINES = 50
"""After so many failed windows the log only counts; the failure of the run names them all."""
WINDOWS_BEFORE_ESTIMATE = 10
"""The first windows start together and say little about the pace of the rest."""
PACE_SECONDS = 60.0
"""The time left is estimated by the pace of the latest minute: reports differ, and a service slows down."""
SECONDS_BETWEEN_TABLES = 60.0
COUNTED = ("windows", "failed", "refused", "requests", "rows", "quarantine", "seconds")
MOST_COLUMNS_NAMED = 10


@dataclass
class ReportCount:
    """What became of one report in a run so far, over all customers; `seconds` are those of its requests.

    `windows` are all that have an end, those that `failed` and those that were `refused` (403) among them.
    """

    planned: int = 0
    windows: int = 0
    failed: int = 0
    refused: int = 0
    requests: int = 0
    rows: int = 0
    quarantine: int = 0
    seconds: float = 0.0

    @property
    def cells(self) -> tuple[str, ...]:
        """Its counts as people write them, in the order of COUNTED."""
        windows = f"{self.windows:,} of {max(self.planned, self.windows):,}"
        counts = (self.failed, self.refused, self.requests, self.rows, self.quarantine)
        return (windows, *(f"{one:,}" for one in counts), f"{self.seconds:,.1f}")

    @property
    def words(self) -> str:
        """Its counts in a line."""
        return ", ".join(f"{cell} {name}" for name, cell in zip(COUNTED, self.cells, strict=True))


@dataclass
class RunLog:
    """Counts windows done of windows planned, by report, and estimates the rest from the latest pace."""

    log: dg.DagsterLogManager
    windows: int = 0
    done: int = 0
    rows: int = 0
    requests: int = 0
    failed: int = 0
    started: float = 0.0
    last_line: float = 0.0
    last_table: float = 0.0
    has_warned: bool = False
    refused: set[str] = field(default_factory=set)
    host_errors: set[str] = field(default_factory=set)
    reports: dict[str, ReportCount] = field(default_factory=dict)
    latest: deque[float] = field(default_factory=deque)

    def planned(self, plan: Plan) -> None:
        """Log how much is to be asked."""
        self.started = self.last_line = self.last_table = time.monotonic()
        self.windows = plan.windows
        for one in plan.planned:
            if one.windows:
                self._count_of(one.report.name).planned += len(one.windows)
        left = sum(one.wanted.left for one in plan.planned)
        held = f"; {left:,} months are held and left alone" if left else ""
        self.log.info(
            f"Asking {self.windows:,} window{'s' if self.windows != 1 else ''}, "
            f"about {plan.requests_expected:,} requests, about "
            f"{_duration(plan.seconds)} at {plan.requests_per_second:g} requests per second{held}."
        )

    def window_done(self, window: WindowResult) -> None:
        """Count a window; log it if it failed, and every few seconds how far the run is."""
        self.requests += window.requests
        if window.report == CHANGED_SALES:
            self._log_changes(window)
        if window.status in NOT_OF_TONIGHT:
            return
        has_failed = window.status in TROUBLE
        is_refused = window.status is WindowStatus.NO_ACCESS
        self.done += 1
        self.rows += sum(window.rows.values())
        self.failed += has_failed
        self._count(window, has_failed=has_failed, is_refused=is_refused)
        # A customer that is refused is so in many reports, a service that is down in all: the table counts.
        is_told = window.customer in self.refused if is_refused else self.failed > MOST_FAILURE_LINES
        is_told = is_told or window.error in self.host_errors
        if (has_failed or is_refused) and not is_told:
            self.log.warning(
                f"{window.report} of {window.customer} ({window.when}) {window.status}: {window.reason}"
            )
        if is_refused:
            self.refused.add(window.customer)
        if window.error in OF_THE_HOST:
            self.host_errors.add(window.error)
        if time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
            self._log_progress()

    def ended(self, news: Sequence[ColumnNews]) -> None:
        """Log the table of all reports, and the columns that are new or have another type now."""
        if self.reports:
            self.log.info(f"By report:\n\n{self.table()}")
        for words in columns_in_words(news).values():
            self.log.warning(words)

    def table(self) -> str:
        """All reports and what became of them, as a markdown table."""
        rows = [(name, *count.cells) for name, count in sorted(self.reports.items())]
        return markdown_table(("report", *COUNTED), rows, right=COUNTED)

    def _count(self, window: WindowResult, *, has_failed: bool, is_refused: bool) -> None:
        now = time.monotonic()
        self.latest.append(now)
        while self.latest[0] < now - PACE_SECONDS:
            self.latest.popleft()
        one = self._count_of(window.report)
        one.windows += 1
        one.failed += has_failed
        one.refused += is_refused
        one.requests += window.requests
        one.rows += sum(window.rows.values())
        one.quarantine += window.rejected_count
        one.seconds += window.seconds

    def _count_of(self, report: str) -> ReportCount:
        return self.reports.setdefault(report, ReportCount())

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
            taken = min(self.last_line - self.started, PACE_SECONDS)
            seconds = taken * max(self.windows - self.done, 0) / max(len(self.latest), 1)
            to_go = f"; about {_duration(seconds)} to go"
        self.log.info(
            f"{self.done:,} of {max(self.windows, self.done):,} windows, {self.rows:,} rows, "
            f"{self.requests:,} requests{failed}{to_go}."
        )
        if self.last_line - self.last_table >= SECONDS_BETWEEN_TABLES:
            self.last_table = self.last_line
            self.log.info(f"By report so far:\n\n{self.table()}")


def columns_in_words(news: Sequence[ColumnNews]) -> Mapping[str, str]:
    """What is new or different of the columns of each report, in a sentence for each report."""
    by_report: dict[str, list[ColumnNews]] = {}
    for one in news:
        by_report.setdefault(one.report, []).append(one)
    return {report: f"{report}: {_enumerated(several)}" for report, several in by_report.items()}


def _enumerated(news: Sequence[ColumnNews]) -> str:
    words = [one.words for one in news[:MOST_COLUMNS_NAMED]]
    if len(news) > len(words):
        words.append(f"{len(news) - len(words)} more")
    return ", ".join(words)


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds: 1:20:05."""
    return str(timedelta(seconds=math.ceil(seconds)))
