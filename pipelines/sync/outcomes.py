"""How did a sync end? One outcome per window, and what a person or a schedule reads from them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pipelines.months import Month
from pipelines.sync.selection import Pair
from pipelines.windows import NOW, Window


class Status(StrEnum):
    """What became of a window."""

    LOADED = "loaded"
    FAILED = "failed"
    HELD_BACK = "held back"
    NO_ACCESS = "no access"
    NOT_ASKED = "not asked"
    SKIPPED = "skipped"


TROUBLE = frozenset({Status.FAILED, Status.HELD_BACK, Status.NOT_ASKED})
"""What makes a run end as failed. A report the login has no right to is told, not counted as a failure."""


@dataclass(frozen=True)
class Outcome:
    """What became of one window of one report of one customer."""

    report: str
    customer: str
    months: tuple[Month, ...]
    status: Status
    reason: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)
    rows_before: int = 0
    rejected: int = 0
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    load_id: str = ""
    landing: str = ""
    fetched_at_utc: datetime | None = None
    window: Window = NOW
    warnings: tuple[str, ...] = ()

    @property
    def pair(self) -> Pair:
        return (self.report, self.customer)

    @property
    def when(self) -> str:
        """The months in words, for a message."""
        if not self.months:
            return "now"
        first, last = self.months[0], self.months[-1]
        return str(first) if first == last else f"{first}..{last}"


@dataclass
class Summary:
    """Everything that became of one sync; grows while it runs."""

    run_id: str
    started_utc: datetime
    outcomes: list[Outcome] = field(default_factory=list)
    held: Counter[Pair] = field(default_factory=Counter)
    seconds: float = 0.0
    stopped: str = ""
    publication: str = ""
    published: bool = False

    @property
    def trouble(self) -> list[Outcome]:
        """The windows that make the run a failure."""
        return [one for one in self.outcomes if one.status in TROUBLE]

    @property
    def shut_out(self) -> list[str]:
        """Customers that were refused every report they were asked for: a wrong id, or no rights at all."""
        asked = {one.customer for one in self.outcomes if one.status is not Status.SKIPPED}
        let_in = {one.customer for one in self.outcomes if one.status in TROUBLE | {Status.LOADED}}
        return sorted(asked - let_in)

    @property
    def is_well(self) -> bool:
        return not self.trouble and not self.stopped and not self.shut_out

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.outcomes)

    def rows_by_table(self) -> dict[str, int]:
        """Rows loaded by this run, per table."""
        totals: Counter[str] = Counter()
        for one in self.outcomes:
            totals.update(one.rows)
        return dict(sorted(totals.items()))

    def by_report(self) -> dict[str, list[Outcome]]:
        """The outcomes of each report, in the order the reports first came up."""
        grouped: dict[str, list[Outcome]] = {}
        for one in self.outcomes:
            grouped.setdefault(one.report, []).append(one)
        return grouped

    def complaints(self) -> list[str]:
        """One sentence per thing that went wrong, equal reasons of a report and customer told once."""
        shut_out = [
            f"{customer} was refused every report (403): check the customer id and the login's rights"
            for customer in self.shut_out
        ]
        return list(_complaints(self.trouble)) + shut_out + ([self.stopped] if self.stopped else [])


def _complaints(trouble: Iterable[Outcome]) -> Iterable[str]:
    grouped: dict[tuple[str, str, Status, str], list[Outcome]] = {}
    for one in trouble:
        grouped.setdefault((one.report, one.customer, one.status, one.reason), []).append(one)
    for (report, customer, status, reason), windows in grouped.items():
        months = ", ".join(one.when for one in windows[:6]) + (" and more" if len(windows) > 6 else "")
        yield f"{report} of {customer} ({months}) {status}: {reason}"
