"""Summary of a sync: the result of every window, and the sentences that people and schedules read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from pipelines.connect.errors import ConnectError
from pipelines.months import Month
from pipelines.planning.selection import Pair
from pipelines.sync.causes import GIVEN_UP, lines
from warehouse.ledger.conditions import LOGIN_REFUSED, Condition, Kind, rights_lost, shut_out
from warehouse.ledger.window_result import WindowResult, WindowStatus

TROUBLE = frozenset({WindowStatus.FAILED, WindowStatus.HELD_BACK, WindowStatus.NOT_ASKED})
"""What makes a run end as failed. A report the login never had a right to is reported, but is no failure."""
NOT_OF_TONIGHT = frozenset({WindowStatus.SKIPPED, WindowStatus.WAITING, WindowStatus.TOLD})
"""What says nothing of whether an answer would be given."""
OF_THE_LOGIN = frozenset({LOGIN_REFUSED})
"""Errors that say the same of every window of a login."""
OF_THE_HOST = frozenset({"AllRefused", GIVEN_UP, "PaceLost", "Unreachable"})
"""Errors that say the same of everything."""


@dataclass
class Summary:
    """Everything that became of one sync; grows while it runs.

    `held` counts the months left alone, `stopped` is why the run ended early, if it did; `on_result` is
    called with every window. `has_ahead` says that something held is dated later than now, `conditions` what
    is not as it should be once all is written down.
    """

    run_id: str
    started_utc: datetime
    on_result: Callable[[WindowResult], None] | None = None
    results: list[WindowResult] = field(default_factory=list)
    held: Counter[Pair] = field(default_factory=Counter)
    seconds: float = 0.0
    stopped: ConnectError | None = None
    has_ahead: bool = False
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
            self.add(WindowResult(*pair, months, status=WindowStatus.WAITING, reason=reason))

    @property
    def trouble(self) -> list[WindowResult]:
        """The windows that make the run a failure."""
        return [one for one in self.results if one.status in TROUBLE]

    @property
    def loaded(self) -> list[WindowResult]:
        """The windows whose rows are in their tables now."""
        return [one for one in self.results if one.status is WindowStatus.LOADED]

    @property
    def _refused(self) -> Mapping[str, set[str]]:
        """The reports of every customer that was refused all that it was asked for."""
        let_in = {one.customer for one in self.results if one.status in TROUBLE | {WindowStatus.LOADED}}
        refused: dict[str, set[str]] = {}
        for one in sorted(self.results, key=lambda result: result.customer):
            if one.customer not in let_in and one.status not in NOT_OF_TONIGHT:
                refused.setdefault(one.customer, set()).add(one.report)
        return refused

    @property
    def _lost(self) -> Mapping[str, set[str]]:
        """The reports that were answered before and were refused now."""
        pairs = rights_lost(self.conditions)
        lost: dict[str, set[str]] = {}
        for one in self.results:
            if one.status is WindowStatus.NO_ACCESS and one.pair in pairs:
                lost.setdefault(one.customer, set()).add(one.report)
        return lost

    @property
    def is_well(self) -> bool:
        return not self.trouble and not self.stopped and not self._refused and not self._lost

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.results)

    def complaints(self) -> list[str]:
        """One sentence per thing that went wrong, however many windows it cost."""
        out = shut_out(self.conditions)
        refused = [
            f"{customer} was refused {', '.join(sorted(reports))} (403), and nothing else was asked: "
            "`brokerbi doctor` shows what it has a right to"
            for customer, reports in self._refused.items()
            if customer not in out and customer not in self._lost
        ]
        rights = [
            one
            for one in self.conditions
            if (one.kind == Kind.SHUT_OUT and one.customer in self._refused)
            or (one.kind == Kind.RIGHT_LOST and one.report in self._lost.get(one.customer, ()))
        ]
        if not self.stopped:
            return [*_complaints(self.trouble), *refused, *lines(rights)]
        # What made the run give up is part of it.
        gave_up = type(self.stopped).__name__ == GIVEN_UP
        of_the_host = OF_THE_HOST | ({"Unavailable"} if gave_up else set())
        own = [
            one
            for one in self.trouble
            if one.error not in of_the_host and one.status is not WindowStatus.NOT_ASKED
        ]
        unread = len(self.trouble) - len(own)
        left = f"{self.stopped} {_not_read(unread)}; the next sync asks again."
        return [*_complaints(own), left]


def _complaints(trouble: Iterable[WindowResult]) -> Iterable[str]:
    grouped: dict[tuple[str, ...], list[WindowResult]] = {}
    for one in trouble:
        same = (
            (one.error,)
            if one.error in OF_THE_LOGIN
            else (*one.pair, one.status.value, one.error or one.reason)
        )
        grouped.setdefault(same, []).append(one)
    for windows in grouped.values():
        first = windows[0]
        if first.error in OF_THE_LOGIN:
            yield (
                f"{first.sentence} {_not_read(len(windows))}, and no sync asks again until "
                "the login is another one or `brokerbi doctor` finds that it is accepted."
            )
            continue
        months = ", ".join(one.when for one in windows[:6]) + (" and more" if len(windows) > 6 else "")
        yield f"{first.report} of {first.customer} ({months}) {first.status.value}: {first.sentence}"


def _not_read(windows: int) -> str:
    return "1 window was not read" if windows == 1 else f"{windows} windows were not read"
