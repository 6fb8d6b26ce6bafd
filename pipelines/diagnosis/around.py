"""What surrounds an explained number: the rows of sql/explain, a record for each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args, get_type_hints

from warehouse.marts.lineage import NotInTheFile, TracedNumber
from warehouse.marts.queries import SQL, published_rows


@dataclass(frozen=True)
class Basis:
    """The tax basis of the amounts around the number."""

    basis: str
    vat_rate: Decimal | None


@dataclass(frozen=True)
class NumberDoubt:
    """How new or whole the number is, or what speaks against it."""

    kind: str
    is_doubt: bool
    whose: str | None
    first_month: date | None
    last_month: date | None
    noted_on: date | None
    difference: Decimal | None
    message: str | None


@dataclass(frozen=True)
class Compared:
    """A period: the number and what it is made of; `difference` is of the number to this one."""

    period: str
    is_open: bool
    number: Decimal | None
    difference: Decimal | None
    difference_share: Decimal | None
    homes: Decimal | None
    average_price: Decimal | None
    sold_commission_percentage: Decimal | None
    sold_commission: Decimal | None
    writings: Decimal | None
    valuations: Decimal | None
    began_month: date | None
    closed_after_month: date | None


@dataclass(frozen=True)
class Drivers:
    """What homes, prices and the fee made of the change of commission of sales since the year before."""

    period: str
    sold_commission: Decimal
    sold_commission_before: Decimal
    difference: Decimal
    homes_effect: Decimal
    price_effect: Decimal
    fee_effect: Decimal


@dataclass(frozen=True)
class DaysCompared:
    """Days of a month that is not over, or the same of last year."""

    period: str
    sold_commission: Decimal | None
    difference: Decimal | None
    difference_share: Decimal | None
    homes: Decimal | None
    average_price: Decimal | None
    sold_commission_percentage: Decimal | None
    offices_read_earlier: int | None
    missing_offices: str | None


@dataclass(frozen=True)
class BudgetReached:
    """The budget of a period, and how much of it is reached, or will be."""

    period: str
    budget: Decimal
    reached: Decimal | None
    reached_share: Decimal | None
    budget_month_count: int | None


@dataclass(frozen=True)
class BudgetChange:
    """A budget that was changed, entered (no amount before) or taken back (none after)."""

    noted_on: date
    month: date
    office: str | None
    who: str
    amount_before: Decimal | None
    amount_after: Decimal | None
    difference: Decimal


@dataclass(frozen=True)
class NumberChange:
    """A change of a month that was over (kind total), or a reason of one."""

    noted_on: date
    month: date
    kind: str
    what: str | None = None
    amount_before: Decimal | None = None
    amount_after: Decimal | None = None
    difference: Decimal | None = None
    writing_change: Decimal | None = None
    valuation_change: Decimal | None = None
    other_month: date | None = None
    other_office: str | None = None
    awaited_reports: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Part:
    """An office of the chain or an agent of the office, or (without id) what is in none of them."""

    name: str
    number: Decimal | None
    year_before: Decimal | None
    difference: Decimal | None
    homes: Decimal | None
    homes_year_before: Decimal | None
    began_month: date | None
    left_after_month: date | None
    id: str | None


@dataclass(frozen=True)
class Sale:
    """A sale: what of its commission and its home counts in the number, or without id what is in none."""

    period: str
    home: str
    contract_on: date | None = None
    commission: Decimal | None = None
    homes: Decimal | None = None
    possession_on: date | None = None
    state: str | None = None
    days_due: int | None = None
    received_on: date | None = None
    agents: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Leads:
    """Leads of a kind and state."""

    way: str
    lead_type: str | None
    state: str | None
    leads: int
    removed: int


@dataclass(frozen=True)
class Around:
    """The rows that answer each query of sql/explain, by its name."""

    basis: Sequence[Basis] = ()
    doubts: Sequence[NumberDoubt] = ()
    compared: Sequence[Compared] = ()
    drivers: Sequence[Drivers] = ()
    same_days: Sequence[DaysCompared] = ()
    budgets: Sequence[BudgetReached] = ()
    budget_changes: Sequence[BudgetChange] = ()
    changes: Sequence[NumberChange] = ()
    parts: Sequence[Part] = ()
    sales: Sequence[Sale] = ()
    leads: Sequence[Leads] = ()


ROWS = {name: get_args(rows)[0] for name, rows in get_type_hints(Around).items()}
"""What a row of each query of sql/explain is: a field for each of its columns."""


def rows_around(data_dir: Path, number: TracedNumber, first_month: date, report: str) -> Around:
    """The answers of sql/explain on the months from the first to that of the number.

    Raises NotInTheFile where the file has not what they read.
    """
    variables = {
        "kind": number.kind,
        "id": number.id,
        "first_month": first_month,
        "month": number.month,
        "measure": number.measure,
        "report": report,
        "way": number.source.way,
    }
    around: dict[str, Any] = {}
    for name, rows in published_rows(data_dir, SQL / "explain", ROWS, variables).items():
        if rows is None:
            raise NotInTheFile(
                f"The published file is of an earlier version: it cannot answer sql/explain/{name}.sql. "
                "`brokerbi publish` makes one that can."
            )
        around[name] = tuple(ROWS[name](**row) for row in rows)
    return Around(**around)
