"""Conditions: what is not as it should be, as rows of one shape, whoever knows of it.

`sql/meta/conditions.sql` decides what the file knows; `pipelines/diagnosis/health.py` adds what only a
running process knows, and `assets/trouble.py` what only Dagster does; all that tells of trouble shows these.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

ERROR, WARNING = "error", "warning"
LOGIN_REFUSED, LOGIN_CORRECTED, ACCESS_REFUSED = "Unauthorized", "login corrected", "Forbidden"
"""Causes: a login that the service refuses, one that is another by now, and a right that it lacks."""
SERVICE = "service"
REFUSAL = "refusal"
COORDINATION = "coordination"
"""The trouble behind conditions of many: the service is down, it refuses everybody, or the database that
hosts share is away; else it names a login, or is empty."""
OUTAGES = frozenset((SERVICE, REFUSAL, COORDINATION))
"""Troubles in which nobody is asked, so that they hide everything else."""


class Kind(StrEnum):
    """What sort of condition it is; docs/operators.md says when there is one of each."""

    # the file
    FAILED = "failed"
    HELD_BACK = "held back"
    SHUT_OUT = "shut out"
    RIGHT_LOST = "right lost"
    NO_RIGHT = "no right"
    LATE = "late"
    NEVER_READ = "never read"
    UNPUBLISHED = "unpublished"
    CLOCK_AHEAD = "clock ahead"
    QUARANTINE = "quarantine"
    CHECK = "check"
    CHANGES_UNKNOWN = "changes unknown"
    CHANGED_COLUMN = "changed column"
    ASSUMPTION = "assumption"
    OVERLAP = "overlap"
    NOT_REFRESHED = "not refreshed"
    NOT_ARCHIVED = "not archived"
    NOT_IN_LAKE = "not in the lake"
    BUDGET_UNCONFIRMED = "budget unconfirmed"
    SHARD_MISSING = "shard missing"
    SHARD_LATE = "shard late"
    # a process
    MONTHS_MISSING = "months missing"
    NOT_IN_SETTINGS = "not in settings"
    NOT_WRITABLE = "not writable"
    DISK_NEARLY_FULL = "disk nearly full"
    SETTINGS = "settings"
    ERASURE = "erasure"
    DAEMON = "daemon silent"
    # Dagster
    RUN_FAILED = "run failed"
    NO_NIGHT = "no night"


@dataclass(frozen=True)
class Condition:
    """One thing that is not as it should be, with the columns of meta.conditions; what is not known is empty.

    A run that failed has its `job`, and the kind of its error as `cause`.
    """

    kind: str
    severity: str = ERROR
    report: str = ""
    customer: str = ""
    month: date | None = None
    since_utc: datetime | None = None
    cause: str = ""
    error: str = ""
    remedy: str = ""
    last_try: str = ""
    login: str = ""
    trouble: str = ""
    check_name: str = ""
    row_count: int = 0
    cause_key: str = ""
    """The same for what has the same behind it; a process's own is of its cause and customer or job."""
    job: str = ""

    def __post_init__(self) -> None:
        if not self.cause_key:
            same = self.trouble or f"{self.cause or self.error} | {self.customer or self.job}"
            object.__setattr__(self, "cause_key", f"{self.severity} | {self.kind} | {same}")

    @property
    def is_error(self) -> bool:
        """Whether somebody must look, so that a monitor is told."""
        return self.severity == ERROR


def is_shut_out(are_refused: Collection[bool]) -> bool:
    """Whether a customer is shut out, of whose reports that were asked for these are refused.

    The rule of sql/meta/conditions.sql, for answers that are not in the ledger.
    """
    return len(are_refused) > 1 and all(are_refused)
