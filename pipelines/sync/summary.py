"""Summary of a sync: the result of every window, and the sentences that people and schedules read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from pipelines.connect.errors import ConnectError
from pipelines.months import Month
from pipelines.planning.selection import Pair
from pipelines.sync.causes import concerning, lines, names, refusals
from warehouse.ledger.conditions import OUTAGES, Condition
from warehouse.ledger.window_result import WindowResult, WindowStatus

TROUBLE = frozenset({WindowStatus.FAILED, WindowStatus.HELD_BACK, WindowStatus.NOT_ASKED})
"""What makes a run end as failed. A report the login never had a right to is reported, but is no failure."""
NOT_OF_TONIGHT = frozenset({WindowStatus.SKIPPED, WindowStatus.WAITING, WindowStatus.TOLD})
"""What says nothing of whether an answer would be given."""


@dataclass
class Summary:
    """Everything that became of one sync; grows while it runs.

    `held` counts the months left alone, `stopped` is why the run ended early, if it did; `on_result` is
    called with every window. `conditions` are what is not as it should be once all is
    written down.
    """

    run_id: str
    started_utc: datetime
    on_result: Callable[[WindowResult], None] | None = None
    results: list[WindowResult] = field(default_factory=list)
    held: Counter[Pair] = field(default_factory=Counter)
    seconds: float = 0.0
    stopped: ConnectError | None = None
    conditions: Sequence[Condition] = ()

    def add(self, result: WindowResult) -> None:
        """Add a window that has come to its end."""
        self.results.append(result)
        if self.on_result:
            self.on_result(result)

    def add_waiting(self, pair: Pair, waiting: Mapping[Month, date]) -> None:
        """Add months that were never read and are not asked before their day."""
        if waiting:
            months = tuple(month.first_day for month in sorted(waiting))
            reason = f"due by turns until {max(waiting.values())}"
            self.add(WindowResult(*pair, months).ended(WindowStatus.WAITING, reason))

    @property
    def trouble(self) -> list[WindowResult]:
        """The windows that make the run a failure."""
        return [one for one in self.results if one.status in TROUBLE]

    @property
    def loaded(self) -> list[WindowResult]:
        """The windows whose rows are in their tables now."""
        return [one for one in self.results if one.status is WindowStatus.LOADED]

    @property
    def wrongly_refused(self) -> list[WindowResult]:
        """What was refused and is an error: of a customer that is refused all, or answered before."""
        return self._wrongly(WindowStatus.NO_ACCESS)

    def _wrongly(self, status: WindowStatus) -> list[WindowResult]:
        return [
            one
            for one in self.results
            if one.status is status and any(found.is_error for found in refusals(*one.pair, self.conditions))
        ]

    @property
    def is_well(self) -> bool:
        return not (self.trouble or self.stopped or self.wrongly_refused)

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.results)

    def complaints(self) -> list[str]:
        """A line for each cause of what went wrong, however many windows it cost.

        Also of what was left alone as it was refused before, which is no failure of this sync.
        """
        wrong = [*self.trouble, *self.wrongly_refused, *self._wrongly(WindowStatus.SKIPPED)]
        keys = {(*one.pair, day) for one in wrong for day in one.months or [None]}
        found = concerning(keys, self.conditions)
        told = {(one.report, one.customer) for one in found}
        # no condition is of what is switched off, as a report on demand
        others: dict[tuple[WindowStatus, str], list[WindowResult]] = {}
        for one in self.trouble:
            if one.pair not in told and one.status is not WindowStatus.NOT_ASKED:
                others.setdefault((one.status, one.sentence), []).append(one)
        has_stopped = self.stopped and not any(one.trouble in OUTAGES for one in found)
        more = []
        for (status, sentence), some in others.items():
            reports, customers = (names(one.pair[place] for one in some) for place in (0, 1))
            more.append(f"{reports} of {customers} {status}: {sentence}")
        return [*lines(found), *more, *([str(self.stopped)] if has_stopped else [])]
