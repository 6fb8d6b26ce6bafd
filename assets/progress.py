"""How far is a run? Lines in its log: what it will ask, how far it is, and what went wrong on the way."""

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
TROUBLES_TOLD = 50
"""After so many windows in trouble the log only counts; the end of the run names them all."""


@dataclass
class Progress:
    """Counts windows done of windows planned, and estimates the rest from the pace so far."""

    log: Logger | DagsterLogManager
    monotonic: Callable[[], float] = time.monotonic
    windows: int = 0
    done: int = 0
    rows: int = 0
    requests: int = 0
    troubled: int = 0
    began: float = field(default=0.0, init=False)
    told: float = field(default=0.0, init=False)
    warned: bool = field(default=False, init=False)

    def planned(self, plan: Plan) -> None:
        """Begin: say how much is to be asked."""
        self.began = self.told = self.monotonic()
        self.windows = sum(len(one.windows) for one in plan.planned)
        left = sum(one.wanted.left for one in plan.planned)
        held = f"; {left:,} months are held and left alone" if left else ""
        self.log.info(
            f"TimeParameters {self.windows:,} windows, about {plan.requests_expected:,} requests, "
            f"{duration(plan.seconds)} at {plan.requests_per_second:g} requests per second{held}."
        )

    def happened(self, outcome: WindowResult) -> None:
        """Go on: one more window has come to its end."""
        self.requests += outcome.requests
        if outcome.report == CHANGED_SALES:
            self._tell_changes(outcome)
        if outcome.status in (WindowStatus.SKIPPED, WindowStatus.TOLD):
            return
        self.done += 1
        self.rows += sum(outcome.rows.values())
        if outcome.status is WindowStatus.NO_ACCESS or outcome.status in TROUBLE:
            self._tell_trouble(outcome)
        now = self.monotonic()
        if now - self.told >= SECONDS_BETWEEN_LINES:
            self.told = now
            self.log.info(self._line(now))

    def _tell_changes(self, outcome: WindowResult) -> None:
        """What the service said of changes; that it said nothing is told once, for whatever customer."""
        if outcome.status is WindowStatus.TOLD:
            self.log.info(f"{outcome.customer}: {outcome.reason}.")
        if outcome.warnings and not self.warned:
            self.warned = True
            self.log.warning(f"{outcome.customer}: {'; '.join(outcome.warnings)}")

    def _tell_trouble(self, outcome: WindowResult) -> None:
        self.troubled += outcome.status in TROUBLE
        if self.troubled <= TROUBLES_TOLD:
            self.log.warning(
                f"{outcome.report} of {outcome.customer} ({outcome.when}) {outcome.status}: {outcome.reason}"
            )

    def _line(self, now: float) -> str:
        trouble = f", {self.troubled:,} in trouble" if self.troubled else ""
        return (
            f"{self.done:,} of {self.windows:,} windows, {self.rows:,} rows, {self.requests:,} requests"
            f"{trouble}{to_go(self.done, self.windows, now - self.began)}."
        )
