"""How did a sync end? One outcome per window, and what a person or a schedule reads from them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pipelines.months import Month
from pipelines.planning.selection import Pair
from pipelines.planning.windows import NOW, Window


class Status(StrEnum):
    """What became of a window."""

    LOADED = "loaded"
    FAILED = "failed"
    HELD_BACK = "held back"
    NO_ACCESS = "no access"
    NOT_ASKED = "not asked"
    SKIPPED = "skipped"
    TOLD = "told what was changed"


TROUBLE = frozenset({Status.FAILED, Status.HELD_BACK, Status.NOT_ASKED})
"""What makes a run end as failed. A report the login has no right to is told, not counted as a failure."""

OF_THE_LOGIN = frozenset({"Unauthorized"})
"""Errors that say the same of every window of a login."""
OF_THE_HOST = frozenset({"HostDown", "Unreachable"})
"""Errors that say the same of everything."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one window of one report of one customer; `kind` names the error, if there was one."""

    report: str
    customer: str
    months: tuple[Month, ...]
    status: Status
    reason: str = ""
    kind: str = ""
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
    def loaded(self) -> list[Outcome]:
        """The windows whose rows are in their tables now."""
        return [one for one in self.outcomes if one.status is Status.LOADED]

    @property
    def shut_out(self) -> list[str]:
        """Customers that were refused every report they were asked for: a wrong id, or no rights at all."""
        asked = {one.customer for one in self.outcomes if one.status not in (Status.SKIPPED, Status.TOLD)}
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
        """One sentence per thing that went wrong, however many windows it cost."""
        shut_out = [
            f"{customer} was refused every report (403): check the customer id and the login's rights"
            for customer in self.shut_out
        ]
        if not self.stopped:
            return [*_complaints(self.trouble), *shut_out]
        own = [
            one for one in self.trouble if one.kind not in OF_THE_HOST and one.status is not Status.NOT_ASKED
        ]
        owed = len(self.trouble) - len(own)
        return [*_complaints(own), f"{self.stopped} {owed} windows are owed; the next sync asks for them."]


def _complaints(trouble: Iterable[Outcome]) -> Iterable[str]:
    grouped: dict[tuple[str, ...], list[Outcome]] = {}
    for one in trouble:
        same = (
            (one.kind,) if one.kind in OF_THE_LOGIN else (*one.pair, one.status.value, one.kind or one.reason)
        )
        grouped.setdefault(same, []).append(one)
    for windows in grouped.values():
        first = windows[0]
        if first.kind in OF_THE_LOGIN:
            yield f"{first.reason} {len(windows)} windows are owed; the next sync asks for them."
            continue
        months = ", ".join(one.when for one in windows[:6]) + (" and more" if len(windows) > 6 else "")
        yield f"{first.report} of {first.customer} ({months}) {first.status.value}: {first.reason}"
