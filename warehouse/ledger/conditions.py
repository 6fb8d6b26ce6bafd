"""Conditions: issues for the operator, each with its cause and remedy.

`sql/meta/conditions.sql` derives them from the tables of `meta`; `pipelines/diagnosis/health.py` adds those
that no table shows. All screens and messages show these conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache

from warehouse.store.meta_schema import constants

FORBIDDEN = "Forbidden"
"""The `cause` of a condition about denied reports."""
SERVICE = "service"
REFUSAL = "refusal"
"""Values of `trouble`: the service is down, or denies all customers. Any other value names a login."""
OUTAGES = frozenset((SERVICE, REFUSAL))
"""If a run stopped, a condition with one of these as its `trouble` explains why."""


class Severity(StrEnum):
    """The severity of a condition. Only an error raises an alarm. The settings can acknowledge conditions."""

    WELL = "well"
    ACKNOWLEDGED = "acknowledged"
    WARNING = "warning"
    ERROR = "error"

    @staticmethod
    def worst(severities: Iterable[str]) -> Severity:
        return max(map(Severity, severities), key=list(Severity).index, default=Severity.WELL)


ERROR, WARNING = Severity.ERROR, Severity.WARNING


class Kind(StrEnum):
    """The kind of a condition; sql/meta/views/kinds.sql has its properties."""

    FAILED = "failed"
    HELD_BACK = "held back"
    ACCESS_DENIED = "access denied"
    ACCESS_LOST = "access lost"
    NO_ACCESS = "no access"
    LATE = "late"
    NEVER_READ = "never read"
    UNPUBLISHED = "unpublished"
    ROLLED_BACK = "rolled back"
    QUARANTINE = "quarantine"
    CHECK = "check"
    CHANGES_UNKNOWN = "changes unknown"
    CHANGED_COLUMN = "changed column"
    COLUMN_MISSING = "column missing"
    OVERLAP = "overlap"
    NOT_REFRESHED = "not refreshed"
    NOT_IN_LAKE = "not in the lake"
    BUDGET_UNCONFIRMED = "budget unconfirmed"
    MONTHS_MISSING = "months missing"
    NOT_IN_SETTINGS = "not in settings"
    NOT_WRITABLE = "not writable"
    DISK_NEARLY_FULL = "disk nearly full"
    SETTINGS = "settings"
    ERASURE = "erasure"
    DAEMON = "daemon silent"
    SYNC_LEFT = "sync left"


@cache
def default_severities() -> dict[Kind, str]:
    """The default severity of each kind: the first of its severities in meta.kinds."""
    return {Kind(row["kind"]): row["severities"][0] for row in constants("kinds")}


@dataclass(frozen=True)
class Condition:
    """One issue, with columns of meta.conditions; unknown values are empty.

    The default `severity` is that of the kind (see `default_severities`).
    """

    kind: Kind
    severity: str = ""
    report: str = ""
    customer: str = ""
    month: date | None = None
    since_utc: datetime | None = None
    cause: str = ""
    error: str = ""
    remedy: str = ""
    login: str = ""
    trouble: str = ""
    check_name: str = ""
    row_count: int = 0
    cause_key: str = ""
    """Conditions with the same key are reported as one. A condition without a key is reported alone."""

    def __post_init__(self) -> None:
        if not self.severity:
            object.__setattr__(self, "severity", default_severities()[self.kind])

    @property
    def is_error(self) -> bool:
        return self.severity == ERROR
