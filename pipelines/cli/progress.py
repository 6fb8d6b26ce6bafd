"""Progress of a sync on stderr, with an estimate: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.cli.output import complain, count, duration
from pipelines.planning.plan import Plan
from pipelines.sync.summary import TROUBLE
from warehouse.window_result import WindowResult

SECONDS_BETWEEN_LINES = 5.0
WINDOWS_BEFORE_ESTIMATE = 10
"""The first windows start together and say little about the pace of the rest."""


class SyncProgress:
    """Windows done of windows planned."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task("windows", total=None)
        self.windows = self.done = self.rows = self.troubled = 0
        self.began = self.last_line = time.monotonic()

    def __enter__(self) -> SyncProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def planned(self, plan: Plan) -> None:
        """Begin: say how much is to be asked."""
        self.windows = sum(len(one.windows) for one in plan.planned)
        complain(
            f"asking {count(self.windows)} windows, about {count(plan.requests_expected)} requests, "
            f"{duration(plan.seconds)} at {plan.requests_per_second:g} requests per second"
        )
        if self.windows:
            self.bar.update(self.task, total=self.windows)
            self.bar.start()

    def happened(self, outcome: WindowResult) -> None:
        """Go on: one more window has come to its end."""
        if outcome.report == CHANGED_SALES:
            return
        self.done += 1
        self.rows += sum(outcome.rows.values())
        self.troubled += outcome.status in TROUBLE
        self.bar.update(self.task, completed=self.done, description=f"{outcome.report} {outcome.when}")
        now = time.monotonic()
        if self.bar.disable and now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            trouble = f", {self.troubled} in trouble" if self.troubled else ""
            complain(
                f"{count(self.done)} of {count(self.windows)} windows, {count(self.rows)} rows{trouble}"
                f"{self._to_go(now)}"
            )

    def _to_go(self, now: float) -> str:
        """The time left at the pace so far, as the end of a sentence."""
        if self.done < min(WINDOWS_BEFORE_ESTIMATE, self.windows // 2):
            return ""
        seconds = max(self.windows - self.done, 0) * (now - self.began) / self.done
        return f"; about {duration(seconds)} to go"
