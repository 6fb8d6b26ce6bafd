"""Facts of the report page: the rows of sql/page, typed, and the names of what the file cannot answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class PublishedVersion:
    """When the file was published, and from how many loads."""

    name: str | None
    at_utc: datetime
    loads: int | None


@dataclass(frozen=True)
class OfficeEarnings:
    """What an office earned in a month; null where its report is not held."""

    month: date
    office_id: str
    office_name: str
    commission: Decimal | None
    sold_commission: Decimal | None
    sold_estate_parts: Decimal | None
    is_open: bool


@dataclass(frozen=True)
class OfficeBudget:
    """What an office was to reach in a month, and did."""

    month: date
    office_id: str
    measure: str
    budget: Decimal | None
    actual: Decimal | None
    year_budget: Decimal | None
    year_forecast: Decimal | None


@dataclass(frozen=True)
class Earner:
    """An office's or user's place in a period."""

    kind: str
    period: str
    month: date
    name: str
    commission: Decimal
    sold_estate_parts: Decimal | None
    place: int
    rank_change: int | None
    earner_count: int
    is_complete: bool


@dataclass(frozen=True)
class LeadCount:
    """Leads of the last twelve months: all, or those of one month, kind, state or office."""

    part: str
    way: str
    name: str
    leads: int
    of_homes: int
    sold: int
    days: int | None


@dataclass(frozen=True, slots=True)
class CoveredMonth:
    """A month of a report that is held for a customer."""

    report: str
    customer: str
    month: date
    state: str
    rows: int | None


@dataclass(frozen=True)
class CoverageMark:
    """A month, or a whole report, of a customer that failed, was held back or is refused."""

    kind: str
    report: str
    customer: str
    month: date | None


@dataclass(frozen=True)
class Freshness:
    """How fresh a report of a customer is."""

    report: str
    customer: str
    newest_held_month: date | None
    last_success_utc: datetime | None
    due_utc: datetime | None
    state: str  # as meta.freshness words it: fresh, late, never read, no access or switched off
    is_late: bool
    is_awaited: bool


@dataclass(frozen=True)
class ReportAgreement:
    """How often a report was compared with the office report, and how often they differed."""

    compared: str
    measure: str
    compared_count: int
    different_count: int


@dataclass(frozen=True)
class ReportDifference:
    """Two reports that do not agree about an office and month."""

    month: date
    office_name: str
    compared: str
    measure: str
    amount: Decimal | None
    compared_amount: Decimal | None
    difference: Decimal | None
    likely_reason: str | None


@dataclass(frozen=True)
class LaterChange:
    """What changed afterwards in a month that was over."""

    noted_at_utc: datetime
    report: str
    office_name: str
    month: date
    row_count_change: int | None
    commission_before: Decimal | None
    commission_after: Decimal | None
    commission_change: Decimal | None


@dataclass(frozen=True)
class OpenProblem:
    """Something that is wrong or unsure."""

    kind: str
    severity: str
    report: str | None
    customer: str | None
    month: date | None
    since_utc: datetime | None
    message: str | None
    in_all: int


@dataclass(frozen=True)
class Facts:
    """Everything the page shows; each field but the last has its query in sql/page."""

    publications: tuple[PublishedVersion, ...] = ()
    office_months: tuple[OfficeEarnings, ...] = ()
    budgets: tuple[OfficeBudget, ...] = ()
    earners: tuple[Earner, ...] = ()
    leads: tuple[LeadCount, ...] = ()
    held_months: tuple[CoveredMonth, ...] = ()
    marks: tuple[CoverageMark, ...] = ()
    standings: tuple[Freshness, ...] = ()
    agreements: tuple[ReportAgreement, ...] = ()
    differences: tuple[ReportDifference, ...] = ()
    restatements: tuple[LaterChange, ...] = ()
    problems: tuple[OpenProblem, ...] = ()
    missing: tuple[str, ...] = ()


_ROW_TYPES: Mapping[str, type[Any]] = {
    "publications": PublishedVersion,
    "office_months": OfficeEarnings,
    "budgets": OfficeBudget,
    "earners": Earner,
    "leads": LeadCount,
    "held_months": CoveredMonth,
    "marks": CoverageMark,
    "standings": Freshness,
    "agreements": ReportAgreement,
    "differences": ReportDifference,
    "restatements": LaterChange,
    "problems": OpenProblem,
}


def facts_from_rows(rows: Mapping[str, Sequence[Mapping[str, Any]]], missing: Sequence[str] = ()) -> Facts:
    """Rows by the name of their query, as facts; a name without rows is empty."""
    typed = {name: tuple(kind(**row) for row in rows.get(name, ())) for name, kind in _ROW_TYPES.items()}
    return Facts(**typed, missing=tuple(missing))
