"""One window of one report of one customer, from the plan to the ledger and the summary.

The sync creates a `WindowResult` when it begins a window; fetching, normalizing and loading each return a
more complete copy. The command line and Dagster report the last copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from warehouse.protocols import RejectedLike, TableLike


class WindowStatus(StrEnum):
    """The state of a window."""

    UNDER_WAY = "under way"
    LOADED = "loaded"
    FAILED = "failed"
    HELD_BACK = "held back"
    NO_ACCESS = "no access"
    NOT_REQUESTED = "not requested"
    SKIPPED = "skipped"
    ANSWERED = "answered"  # with a list of changed sales, which is not loaded


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a window was not loaded: `error` names the kind of error, `remedy` says what to do.

    `trouble` is a cause that other windows may share. The remaining fields are set only if a request failed:
    `http_status` is the status of the last answer, `last_try` states how the last of several tries ended, and
    `login` states where the denied login is set.
    """

    error: str = ""
    remedy: str = ""
    trouble: str = ""
    http_status: int | None = None
    last_try: str = ""
    login: str = ""


NO_FAILURE = Failure()


@dataclass(frozen=True, slots=True)
class WindowResult:
    """The facts of one window so far.

    - `months` has the first day of each month; it is empty for a report without months.
    - `history`: the rows are merged into a history, and replace no month.
    - `asked`: only rows of these ids are compared with the history; if None, all rows.
    - `open_months` had not ended when they were requested, or were requested only in part.
    - `shape` is the fingerprint of the shape that the rows were read by.
    - `missing` names needed columns that no row has.
    - `status` is set once, by `ended`; `reason` explains it in a sentence.
    """

    report: str
    customer: str
    months: tuple[date, ...] = ()
    window_start: date | None = None
    window_end: date | None = None
    run_id: str = ""
    load_id: str = ""
    history: bool = False
    asked: tuple[str, ...] | None = None
    # set once it is fetched
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    fetched_at_utc: datetime | None = None
    open_months: frozenset[date] = frozenset()
    landing: str = ""
    sha256: str = ""
    # set once it is normalized; `ended` drops tables and rejected rows
    tables: Sequence[TableLike] = ()
    rejected: Sequence[RejectedLike] = ()
    shape: str = ""
    missing: tuple[str, ...] = ()
    # set once it has ended
    status: WindowStatus = WindowStatus.UNDER_WAY
    reason: str = ""
    failure: Failure = NO_FAILURE
    loaded_rows: int = 0
    rejected_count: int = 0

    def ended(
        self,
        status: WindowStatus,
        reason: str = "",
        *,
        failure: Failure = NO_FAILURE,
        rows: int = 0,
        warnings: tuple[str, ...] | None = None,
    ) -> Self:
        """The record of the ended window, without rows; raises ValueError if the window had ended before."""
        if self.status is not WindowStatus.UNDER_WAY:
            raise ValueError(f"{self.report} of {self.customer}, {self.when}, is already {self.status}")
        return replace(
            self,
            tables=(),
            rejected=(),
            status=status,
            reason=reason,
            failure=failure,
            loaded_rows=rows,
            rejected_count=len(self.rejected),
            warnings=self.warnings if warnings is None else warnings,
        )

    @property
    def pair(self) -> tuple[str, str]:
        return (self.report, self.customer)

    @property
    def fetched(self) -> datetime:
        """When the window was fetched; raises ValueError if it was not."""
        if self.fetched_at_utc is None:
            raise ValueError(f"{self.report} of {self.customer}, {self.when}, was not fetched")
        return self.fetched_at_utc

    @property
    def sentence(self) -> str:
        """Why the window was not loaded, and what to do."""
        return f"{self.reason} {self.failure.remedy}".rstrip()

    @property
    def when(self) -> str:
        """The months for a message, like 2026-01..2026-03; `now` for a report without months."""
        if not self.months:
            return "now"
        first, last = (f"{day:%Y-%m}" for day in (self.months[0], self.months[-1]))
        return first if first == last else f"{first}..{last}"


def results_by_pair(results: Iterable[WindowResult]) -> dict[tuple[str, str], list[WindowResult]]:
    """The results by report and customer, in the given order."""
    by_pair: dict[tuple[str, str], list[WindowResult]] = {}
    for result in results:
        by_pair.setdefault(result.pair, []).append(result)
    return by_pair
