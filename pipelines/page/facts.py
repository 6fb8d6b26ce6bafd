"""Facts of the pages: the rows of sql/page, all of them or one office's, and what the file cannot answer.

Rows that the pages compute with are typed; those that they only arrange and show stay as their query gives
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class OfficeEarnings:
    """What an office earned in a month; null where nothing of its report is held."""

    month: date
    office_id: str
    office_name: str
    commission: Decimal | None
    sold_commission: Decimal | None
    sold_estate_parts: Decimal | None
    active_agent_count: int | None
    is_open: bool
    is_whole: bool  # held to the end of the month, or to now while it is open
    read_at_utc: datetime | None = None
    began_month: date | None = None  # of an office that was not there yet in an earlier month


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
    vat: str | None = None  # what to mind where commission is compared: unknown, included or nothing


@dataclass(frozen=True, slots=True)
class CoveredMonth:
    """A month of a report of a customer, or a whole report: held, failed, held back or refused."""

    report: str
    customer: str
    month: date | None
    state: str  # as meta.months and, of marks, meta.open_failures word it
    rows: int | None


@dataclass(frozen=True)
class Freshness:
    """How fresh a report of a customer is."""

    report: str
    customer: str
    newest_held_month: date | None
    last_success_utc: datetime | None
    due_utc: datetime | None
    state: str  # as meta.freshness words it: fresh, late, never read, login refused, no access, switched off
    is_late: bool
    is_awaited: bool


@dataclass(frozen=True)
class Facts:
    """Everything the pages show; each field but the last is named after its query in sql/page."""

    publications: Sequence[Row] = ()
    office_months: Sequence[OfficeEarnings] = ()
    budgets: Sequence[OfficeBudget] = ()
    news: Sequence[Row] = ()
    agents: Sequence[Row] = ()
    receivables: Sequence[Row] = ()
    due_sales: Sequence[Row] = ()
    earners: Sequence[Row] = ()
    leads: Sequence[Row] = ()
    held_months: Sequence[CoveredMonth] = ()
    standings: Sequence[Freshness] = ()
    agreements: Sequence[Row] = ()
    differences: Sequence[Row] = ()
    restatements: Sequence[Row] = ()
    problems: Sequence[Row] = ()
    requests: Sequence[Row] = ()
    quarantine: Sequence[Row] = ()
    marks: Sequence[CoveredMonth] = ()
    unpublished: Sequence[Row] = ()
    missing: Sequence[str] = ()


QUERIES = tuple(field.name for field in fields(Facts) if field.name != "missing")
"""The files of sql/page, in the order in which what cannot be answered is named."""

OF_FIGURES = ("publications", "agreements", "differences", "restatements")
"""The queries of the operators' page on what analysts see."""

OF_PIPELINE = ("held_months", "standings", "problems", "requests", "quarantine", "marks", "unpublished")
"""The queries of the operators' page on the state of the pipeline, which goes on without a publication."""

OF_OFFICES = ("office_months", "budgets", "news", "agents", "receivables", "due_sales", "leads")
"""The queries whose rows say of which office they are; those without an office are of the chain."""


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


def facts_by_office(facts: Facts) -> dict[str, Facts]:
    """The facts of each office of which anything was ever held, with no row of any other office in them.

    The row of news that says since when belongs to all.
    """
    found: dict[str, dict[str, list[Any]]] = {
        row.office_id: {} for row in facts.office_months if row.commission is not None
    }
    for name in OF_OFFICES:
        for row in getattr(facts, name):
            office = row["office_id"] if isinstance(row, Mapping) else row.office_id
            for one in found if name == "news" and row["kind"] == "since" else (office,):
                if one in found:
                    found[one].setdefault(name, []).append(row)
    missing = tuple(name for name in facts.missing if name in OF_OFFICES)
    only_office = Facts(publications=facts.publications, missing=missing)
    return {office: replace(only_office, **rows) for office, rows in found.items()}
