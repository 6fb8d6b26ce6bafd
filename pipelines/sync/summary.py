"""Summary of a sync: the result of every window, and the causes of failure as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pipelines.causes import cause_lines, denial_conditions, list_names, matching_conditions
from pipelines.connect.errors import ConnectError
from pipelines.months import Month
from pipelines.planning.selection import Pair
from warehouse.ledger.conditions import OUTAGES, Condition
from warehouse.ledger.window_result import WindowResult, WindowStatus

FAILING = frozenset({WindowStatus.FAILED, WindowStatus.HELD_BACK, WindowStatus.NOT_REQUESTED})
"""Statuses that fail a run. A denied window fails the run only if `Summary.wrongly_denied` has the window."""
NOTHING_TO_LOAD = frozenset({WindowStatus.SKIPPED, WindowStatus.ANSWERED})
"""Statuses of windows with nothing to load: skipped windows, and answers about which sales changed."""


@dataclass
class Summary:
    """The outcome of one sync, to which each window is added as it ends."""

    run_id: str
    started_utc: datetime
    on_result: Callable[[WindowResult], None] | None = None  # called with each result
    results: list[WindowResult] = field(default_factory=list)
    seconds: float = 0.0
    stopped: ConnectError | None = None  # the error that ended the run early
    conditions: Sequence[Condition] = ()  # read from the working file at the end
    is_explicit: bool = False  # the operator named reports or customers, so each denial is an error

    def add(self, result: WindowResult) -> None:
        """Add a finished window."""
        self.results.append(result)
        if self.on_result:
            self.on_result(result)

    def add_skipped(
        self, pair: Pair, reason: str, months: Iterable[Month] = (), *, warnings: tuple[str, ...] = ()
    ) -> None:
        """Add skipped months of a report and customer. Without `months`, `reason` states what is skipped."""
        result = WindowResult(*pair, tuple(month.first_day for month in sorted(months)), warnings=warnings)
        self.add(result.ended(WindowStatus.SKIPPED, reason))

    @property
    def failing(self) -> list[WindowResult]:
        """The windows whose status fails the run."""
        return [result for result in self.results if result.status in FAILING]

    @property
    def loaded(self) -> list[WindowResult]:
        """The windows whose rows are now in their tables."""
        return [result for result in self.results if result.status is WindowStatus.LOADED]

    @property
    def wrongly_denied(self) -> list[WindowResult]:
        """The windows whose denial is an error: denied in this run, or skipped after a denial earlier today.

        A denial is an error if the report was answered before, if the customer has several reports and all
        are denied, or if the sync `is_explicit`.
        """
        return [
            result
            for result in self.results
            if result.status in (WindowStatus.NO_ACCESS, WindowStatus.SKIPPED)
            and any(
                denial.is_error or self.is_explicit
                for denial in denial_conditions(*result.pair, self.conditions)
            )
        ]

    @property
    def is_well(self) -> bool:
        """Whether no window fails the run, no error stopped the sync, and no denial is an error."""
        return not (self.failing or self.stopped or self.wrongly_denied)

    @property
    def requests(self) -> int:
        return sum(result.requests for result in self.results)

    def failure_lines(self) -> list[str]:
        """Lines that explain why the run fails. They also cover the windows in `wrongly_denied`."""
        failed = [*self.failing, *self.wrongly_denied]
        keys = {(*result.pair, day) for result in failed for day in result.months or [None]}
        conditions = matching_conditions(keys, self.conditions)
        explained = {(condition.report, condition.customer) for condition in conditions}
        unexplained: dict[tuple[WindowStatus, str], list[WindowResult]] = {}
        for result in self.failing:  # a failed report on demand has no condition
            if result.pair not in explained and result.status is not WindowStatus.NOT_REQUESTED:
                unexplained.setdefault((result.status, result.sentence), []).append(result)
        sentences = []
        for (status, sentence), results in unexplained.items():
            reports, customers = (list_names(result.pair[index] for result in results) for index in (0, 1))
            sentences.append(f"{reports} of {customers} {status}: {sentence}")
        if self.stopped and not any(condition.trouble in OUTAGES for condition in conditions):
            sentences.append(str(self.stopped))
        return [*cause_lines(conditions), *sentences]
