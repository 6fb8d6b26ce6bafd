"""What is a page made from? Plain values, as they stand in the published file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Publication:
    """When the file was published."""

    name: str | None
    at_utc: datetime
    loads: int | None


@dataclass(frozen=True)
class OfficeMonth:
    """What an office earned in a month; null where its report is not held."""

    month: date
    office_id: str
    office_name: str
    commission: Decimal | None
    sold_commission: Decimal | None
    sold_estate_parts: Decimal | None
    is_open: bool


@dataclass(frozen=True)
class BudgetMonth:
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
class HeldMonth:
    """A month of a report that is held for a customer."""

    report: str
    customer: str
    month: date
    state: str
    rows: int | None


@dataclass(frozen=True)
class Mark:
    """A month, or a whole report, of a customer that failed, was held back or is refused."""

    kind: str
    report: str
    customer: str
    month: date | None


@dataclass(frozen=True)
class Standing:
    """How fresh a report of a customer is."""

    report: str
    customer: str
    newest_held_month: date | None
    last_success_utc: datetime | None
    last_failure_utc: datetime | None
    due_utc: datetime | None
    state: str  # as meta.freshness words it: fresh, late, never read, no access or switched off

    @property
    def is_late(self) -> bool:
        return self.state in ("late", "never read")

    @property
    def is_awaited(self) -> bool:
        return self.state != "switched off"


@dataclass(frozen=True)
class Agreement:
    """How often a report was held against the office report, and how often they differed."""

    compared: str
    measure: str
    compared_count: int
    different_count: int


@dataclass(frozen=True)
class Difference:
    """Two reports that do not tell the same story."""

    month: date
    office_name: str
    compared: str
    measure: str
    amount: Decimal | None
    compared_amount: Decimal | None
    difference: Decimal | None
    likely_reason: str | None


@dataclass(frozen=True)
class Restatement:
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
class Problem:
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
    """Everything a page shows, and what the file could not answer."""

    publications: tuple[Publication, ...] = ()
    office_months: tuple[OfficeMonth, ...] = ()
    budgets: tuple[BudgetMonth, ...] = ()
    earners: tuple[Earner, ...] = ()
    leads: tuple[LeadCount, ...] = ()
    held_months: tuple[HeldMonth, ...] = ()
    marks: tuple[Mark, ...] = ()
    standings: tuple[Standing, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    differences: tuple[Difference, ...] = ()
    restatements: tuple[Restatement, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()


_KINDS: Mapping[str, type[Any]] = {
    "publications": Publication,
    "office_months": OfficeMonth,
    "budgets": BudgetMonth,
    "earners": Earner,
    "leads": LeadCount,
    "held_months": HeldMonth,
    "marks": Mark,
    "standings": Standing,
    "agreements": Agreement,
    "differences": Difference,
    "restatements": Restatement,
    "problems": Problem,
}


def facts_of(rows: Rows, missing: Sequence[str] = ()) -> Facts:
    """Rows by the name of their picture, as facts; a name without rows is empty."""
    read = {name: tuple(kind(**row) for row in rows.get(name, ())) for name, kind in _KINDS.items()}
    return Facts(**read, missing=tuple(missing))
