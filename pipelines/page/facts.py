"""Facts of the report page: the rows of sql/page, and the names of what the file cannot answer.

Rows that the page computes with are typed; those that it only arranges and shows stay as their query gives
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Row = Mapping[str, Any]


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
    basis_note: str | None = None  # what to mind where the two are compared


@dataclass(frozen=True, slots=True)
class CoveredMonth:
    """A month of a report of a customer, or a whole report: held, failed, held back or refused."""

    report: str
    customer: str
    month: date | None
    state: str  # as meta.months and, of marks, the kinds of meta.problems word it
    rows: int | None


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
class Facts:
    """Everything the page shows; each field but the last is named after its query in sql/page."""

    publications: Sequence[Row] = ()
    office_months: Sequence[OfficeEarnings] = ()
    budgets: Sequence[OfficeBudget] = ()
    earners: Sequence[Row] = ()
    leads: Sequence[Row] = ()
    held_months: Sequence[CoveredMonth] = ()
    standings: Sequence[Freshness] = ()
    agreements: Sequence[Row] = ()
    differences: Sequence[Row] = ()
    restatements: Sequence[Row] = ()
    problems: Sequence[Row] = ()
    marks: Sequence[CoveredMonth] = ()
    missing: Sequence[str] = ()


QUERIES = tuple(field.name for field in fields(Facts) if field.name != "missing")
"""The files of sql/page, in the order in which what cannot be answered is named."""


def facts_from_rows(rows: Mapping[str, Sequence[Row] | None]) -> Facts:
    """Facts from the rows of each query; None for a query that the file cannot answer."""
    types: Mapping[str, type[Any]] = {
        "office_months": OfficeEarnings,
        "budgets": OfficeBudget,
        "held_months": CoveredMonth,
        "marks": CoveredMonth,
        "standings": Freshness,
    }
    found = {name: tuple(types.get(name, dict)(**row) for row in known or ()) for name, known in rows.items()}
    return Facts(**found, missing=tuple(name for name, known in rows.items() if known is None))
