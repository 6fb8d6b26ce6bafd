"""Facts of the pages: a record for each row of a query of sql/page, with the columns that the query gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, get_args, get_type_hints


@dataclass(frozen=True, slots=True)
class PageBasis:
    """On which basis amounts stand, which publication this is, and since when changes are told."""

    commission_vat: str  # excluded, included or unknown
    vat_rate: Decimal
    version: str | None
    published_utc: datetime | None
    loads: int | None
    since_utc: datetime | None


@dataclass(frozen=True, slots=True)
class ChainPart:
    """A page of the chain, a brand, a region or an office, and the end of its numbers."""

    kind: str
    scope: str
    name: str | None
    office_ids: list[str]
    office_names: list[str]
    until_on: date | None
    state: str | None  # cut, behind or stopped
    read_at_utc: datetime | None


@dataclass(frozen=True, slots=True)
class Period:
    """What was earned in a period, beside the year before and the budget: by all of a page, or an office."""

    kind: str
    scope: str
    period: str  # running, month, year or twelve
    office_id: str | None
    first_month: date
    last_month: date
    wanted_month: date
    is_over: bool
    offices: int
    unheld: int
    cut_short: int
    until_on: date | None
    began_month: date | None
    closed_after_month: date | None
    budget_months: int
    commission: Decimal | None
    homes: Decimal | None
    average_price: Decimal | None
    fee_share: float | None
    average_commission: Decimal | None
    beside_sales: Decimal | None
    per_agent: Decimal | None
    agents: Decimal | None
    compared: int
    commission_before: Decimal | None
    commission_change: float | None
    homes_change: float | None
    average_price_change: float | None
    fee_share_difference: float | None
    average_commission_change: float | None
    beside_sales_change: float | None
    per_agent_change: float | None
    budget: Decimal | None
    actual: Decimal | None
    budgeted: int
    year_budget: Decimal | None
    year_forecast: Decimal | None
    forecast: int


@dataclass(frozen=True, slots=True)
class MonthFigures:
    """What was earned in a month, beside the same one a year before and the budget."""

    kind: str
    scope: str
    month: date
    is_open: bool
    is_part: bool
    commission: Decimal | None
    commission_before: Decimal | None
    budget: Decimal | None
    homes: Decimal | None
    homes_before: Decimal | None
    homes_budget: Decimal | None
    per_agent: Decimal | None
    per_agent_before: Decimal | None
    average_price: Decimal | None
    fee_share: float | None
    read_at_utc: datetime | None


@dataclass(frozen=True, slots=True)
class ChangedSale:
    """A sale that has come, gone or changed since the moment that is compared with."""

    office_id: str
    office_name: str
    change: str  # new, gone or changed
    home: str | None
    home_number: str
    contract_on: date | None
    agents: str | None
    commission_before: Decimal | None
    commission: Decimal | None
    difference: Decimal


@dataclass(frozen=True, slots=True)
class ChangedMonth:
    """A month that was over and has another commission since, with a reason that explains a part of it."""

    office_id: str
    office_name: str
    month: date
    amount_before: Decimal
    amount_after: Decimal
    difference: Decimal
    is_told_late: bool  # the change is older, a reason is new
    noted_at_utc: datetime
    kind: str | None
    is_of_sale: bool
    home: str | None
    home_number: str | None
    contract_on: date | None
    agent: str | None
    other_office: str | None
    other_month: date | None
    awaited_reports: list[str] | None
    amount: Decimal | None
    is_first_reason: bool


@dataclass(frozen=True, slots=True)
class ChangedBudget:
    """An office's budget of some months of a year that was entered or changed."""

    office_id: str
    office_name: str
    first_month: date
    last_month: date
    read_first_months: list[date]
    agents: list[str]
    agents_differences: list[Decimal]
    amount_before: Decimal | None
    amount_after: Decimal
    difference: Decimal


@dataclass(frozen=True, slots=True)
class ComingBudget:
    """How far an office's budgets of the coming year are entered, beside this year's of the same months."""

    office_id: str
    office_name: str
    first_month: date
    last_month: date
    agents: int
    agents_before: int
    budget: Decimal | None
    budget_before: Decimal | None


@dataclass(frozen=True, slots=True)
class SameDays:
    """Commission of sales of the month that runs, and of the same days of last year."""

    kind: str
    scope: str
    until_on: date
    earlier_offices: list[str]
    earlier_days: list[date]
    missing_offices: str | None
    commission: Decimal
    commission_before: Decimal


@dataclass(frozen=True, slots=True)
class Forecast:
    """Where a year was to end as of the same month, and did, or in what range this one may."""

    kind: str
    scope: str
    month: date
    is_newest: bool
    year_forecast: Decimal
    budget_share: float | None
    offices: int
    year_actual: Decimal | None
    miss_share: float | None
    worst_miss_share: float | None
    past_years: int
    year_forecast_low: Decimal | None
    year_forecast_high: Decimal | None


@dataclass(frozen=True, slots=True)
class Drift:
    """By how much the chain's months that were as fresh as the newest one is have changed since."""

    month: date
    change: float  # of the month in the middle
    least: float
    greatest: float
    months: int


@dataclass(frozen=True, slots=True)
class Driver:
    """What the number of homes, their price and the fee made of a change of commission of sales."""

    kind: str
    scope: str
    period: str  # month or year
    month: date
    sold_commission_before: Decimal
    sold_commission: Decimal
    homes_effect: Decimal
    price_effect: Decimal
    fee_effect: Decimal
    difference: Decimal


@dataclass(frozen=True, slots=True)
class Headcount:
    """Agents at work in a month, and who came and went; null where that is not known."""

    kind: str
    scope: str
    month: date
    agents: int
    joined: int | None
    back: int | None
    gone: int | None
    quiet: int | None
    moved_in: int | None
    moved_out: int | None


@dataclass(frozen=True, slots=True)
class Trend:
    """An agent's last three months beside the same of last year."""

    office_id: str | None
    office_name: str | None
    name: str
    last_month: date
    commission: Decimal
    commission_before: Decimal
    difference: Decimal
    commission_change: float | None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A sale that is gone."""

    office_id: str
    office_name: str
    home: str
    home_number: str
    agents: str | None
    contract_on: date | None
    month: date
    noted_on: date
    known_since_on: date
    commission: Decimal | None


@dataclass(frozen=True, slots=True)
class Agent:
    """What an agent earned at an office this year, and of a budget of one's own."""

    office_id: str
    month: date
    name: str
    commission: Decimal | None
    homes: Decimal | None
    a_month: Decimal | None
    is_complete: bool
    commission_before: Decimal | None
    commission_change: float | None
    budget: Decimal | None
    reached: Decimal | None
    stay: str | None  # moved to, moved from, left, quiet or new
    stay_office: str | None
    stay_month: date | None


@dataclass(frozen=True, slots=True)
class Receivable:
    """Commission of an office that is signed and not received, by how long it has been due."""

    office_id: str
    office_name: str
    is_receipt_noted: bool
    homes: int
    outstanding: Decimal | None
    not_due: Decimal | None
    due_to_30: Decimal | None
    due_to_60: Decimal | None
    due_longer: Decimal | None
    undated: Decimal | None
    longest_days: int | None
    counted_on: date


@dataclass(frozen=True, slots=True)
class DueSale:
    """A sale whose commission is due."""

    office_id: str
    office_name: str
    home: str
    agent: str | None
    access_on: date
    days_due: int
    to_be_received_on: date | None
    due: Decimal


@dataclass(frozen=True, slots=True)
class Earner:
    """A user or an office that earned in a period."""

    kind: str
    period: str
    month: date
    name: str
    commission: Decimal
    homes: Decimal | None
    place: int
    is_new: bool
    rank_change: int | None
    is_complete: bool
    has_left: bool


@dataclass(frozen=True, slots=True)
class LeadCounts:
    """Leads of the last twelve months, and what became of the homes that they name."""

    kind: str
    scope: str
    part: str
    way: str
    name: str | None
    leads: int
    removed: int
    without_home: int
    homes: int
    sold: int
    days: float | None


@dataclass(frozen=True, slots=True)
class Untouched:
    """Leads and tips of an office that nobody has touched, by age."""

    office_id: str | None
    office_name: str | None
    valuations: int  # older than two days
    to_2: int
    to_7: int
    to_30: int
    longer: int
    tips: int
    counted_on: date


@dataclass(frozen=True, slots=True)
class DoubtfulFigures:
    """Figures that are missing or doubtful: of a customer's offices, or perhaps of any."""

    kind: str
    severity: str  # well where no report is wrong
    subjects: list[str]
    customer: str | None
    office_ids: list[str] | None
    months: list[date]
    since_utc: datetime | None
    is_of_chain: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often the office report was compared with another one, and how often they differ."""

    compared: str
    measure: str
    compared_count: int
    different_count: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where two reports differ."""

    month: date
    office_name: str
    compared: str
    measure: str
    amount: Decimal | None
    compared_amount: Decimal | None
    difference: Decimal
    likely_reason: str | None


@dataclass(frozen=True, slots=True)
class Restatement:
    """A change in a month that was over."""

    noted_at_utc: datetime
    report: str
    office_name: str
    month: date
    row_count_change: int | None
    commission_before: Decimal | None
    commission_after: Decimal | None
    commission_change: Decimal | None
    in_all: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How fresh a report of a customer is."""

    report: str
    customer: str
    newest_held_month: date | None
    last_success_utc: datetime | None
    due_utc: datetime | None
    state: str


@dataclass(frozen=True, slots=True)
class OpenProblem:
    """Something that is wrong or unsure: a cause that the verdict of the page counts, whoever knows of it."""

    kind: str
    severity: str
    condition_count: int
    reports: str | None
    customers: str | None
    first_month: date | None
    last_month: date | None
    since_utc: datetime | None
    message: str
    remedy: str | None
    in_all: int


@dataclass(frozen=True, slots=True)
class RequestDay:
    """What was asked of the service on a day."""

    day: date
    requests: int
    repeated: int
    failed: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class SetAside:
    """Rows that were set aside for one reason."""

    report: str
    table_name: str | None
    column_name: str | None
    reason: str
    row_count: int
    first_month: date | None
    last_month: date | None
    in_all: int


@dataclass(frozen=True, slots=True)
class Square:
    """A month of a report of a customer of which a month is missing; `missing_count` is of the report."""

    report: str
    customer: str
    month: date
    state: str
    is_trouble: bool
    missing_count: int


@dataclass(frozen=True)
class Facts:
    """Everything the pages show; each field but the last is named after its query in sql/page."""

    basis: Sequence[PageBasis] = ()
    scopes: Sequence[ChainPart] = ()
    periods: Sequence[Period] = ()
    months: Sequence[MonthFigures] = ()
    changed_sales: Sequence[ChangedSale] = ()
    changes: Sequence[ChangedMonth] = ()
    budget_changes: Sequence[ChangedBudget] = ()
    coming_budgets: Sequence[ComingBudget] = ()
    same_days: Sequence[SameDays] = ()
    forecasts: Sequence[Forecast] = ()
    drift: Sequence[Drift] = ()
    drivers: Sequence[Driver] = ()
    headcount: Sequence[Headcount] = ()
    trends: Sequence[Trend] = ()
    cancelled: Sequence[Cancelled] = ()
    agents: Sequence[Agent] = ()
    receivables: Sequence[Receivable] = ()
    due_sales: Sequence[DueSale] = ()
    earners: Sequence[Earner] = ()
    leads: Sequence[LeadCounts] = ()
    untouched: Sequence[Untouched] = ()
    doubts: Sequence[DoubtfulFigures] = ()
    agreements: Sequence[Agreement] = ()
    differences: Sequence[Disagreement] = ()
    restatements: Sequence[Restatement] = ()
    standings: Sequence[Standing] = ()
    problems: Sequence[OpenProblem] = ()
    requests: Sequence[RequestDay] = ()
    quarantine: Sequence[SetAside] = ()
    coverage: Sequence[Square] = ()
    missing: Sequence[str] = ()


RECORDS: Mapping[str, type[Any]] = {
    name: get_args(kind)[0]
    for name, kind in get_type_hints(Facts).items()
    if name not in ("missing", "problems")
}
"""The record of each query of sql/page, in the order in which what cannot be answered is named."""

OF_FIGURES = ("basis", "agreements", "differences", "restatements")
"""The queries of the operators' page on what analysts see."""

OF_PIPELINE = ("standings", "requests", "quarantine", "coverage")
"""The queries of the operators' page on the state of the pipeline, which goes on without a publication."""


def facts_from_rows(rows: Mapping[str, Sequence[Mapping[str, Any]] | None]) -> Facts:
    """Facts from the rows of each query; None for a query that the file cannot answer.

    Raises TypeError where a query gives other columns than its record has.
    """
    found = {name: tuple(RECORDS[name](**row) for row in known or ()) for name, known in rows.items()}
    return Facts(**found, missing=tuple(name for name, known in rows.items() if known is None))


def facts_of(facts: Facts, page: ChainPart) -> Facts:
    """The facts of one page, with no row of another page or of an office that is not on it."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, record in RECORDS.items():
        columns = {field.name for field in fields(record)}
        rows: Sequence[Any] = getattr(facts, name)
        if "scope" in columns:
            rows = [row for row in rows if (row.kind, row.scope) == (page.kind, page.scope)]
        elif "office_id" in columns and page.kind != "chain":
            rows = [row for row in rows if row.office_id in page.office_ids]
        elif name == "doubts" and page.kind != "chain":
            rows = [row for row in rows if not row.is_of_chain and _concerns(row, page)]
        found[name] = tuple(rows)
    return replace(facts, **found)


def _concerns(doubt: DoubtfulFigures, page: ChainPart) -> bool:
    return doubt.office_ids is None or not set(page.office_ids).isdisjoint(doubt.office_ids)
