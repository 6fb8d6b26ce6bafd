"""How far is it? Progress of a sync with an estimate of the rest, on stderr, for people and for logs."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.cli.printing import complain, count, duration, to_go
from pipelines.planning.plan import Plan
from pipelines.sync.summary import TROUBLE
from warehouse.window_result import WindowResult

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SECONDS_BETWEEN_LINES = 5.0


class SyncProgress:
    """Shows windows done of windows planned; a bar on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.windows = self.done = self.rows = self.troubled = 0
        self.began = self.last_line = time.monotonic()

    def __enter__(self) -> SyncProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def planned(self, plan: Plan) -> None:
        """Begin: say how much is to be asked."""
        self.windows = sum(len(one.windows) for one in plan.planned)
        complain(
            f"asking {count(self.windows)} windows, about {count(plan.requests_expected)} requests, "
            f"{duration(plan.seconds)} at {plan.requests_per_second:g} requests per second"
        )
        if sys.stderr.isatty() and self.windows:
            self.bar = _bar()
            self.task = self.bar.add_task("windows", total=self.windows)
            self.bar.start()

    def happened(self, outcome: WindowResult) -> None:
        """Go on: one more window has come to its end."""
        if outcome.report == CHANGED_SALES:
            return
        self.done += 1
        self.rows += sum(outcome.rows.values())
        self.troubled += outcome.status in TROUBLE
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=self.done, description=f"{outcome.report} {outcome.when}")
            return
        now = time.monotonic()
        if now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            complain(self._line(now))

    def _line(self, now: float) -> str:
        trouble = f", {self.troubled} in trouble" if self.troubled else ""
        return (
            f"{count(self.done)} of {count(self.windows)} windows, {count(self.rows)} rows{trouble}"
            f"{to_go(self.done, self.windows, now - self.began)}"
        )


def _bar() -> Progress:
    """A bar on stderr; what draws it is only imported where somebody looks at it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
