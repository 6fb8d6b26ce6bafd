"""Leads on the report page: from received to sold, by month, kind, office and state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.charts import Chart, ChartMonth, chart
from pipelines.page.facts import Facts, LeadCount
from pipelines.page.numbers import number

INCOMING, OUTGOING, TIP = "incoming lead", "outgoing lead", "tip"
_TABLES = {"kind": "By kind", "office": "By office", "state": "By state"}


@dataclass(frozen=True)
class LeadsSection:
    """Everything the page says of leads; the tables, by title, are of incoming ones."""

    incoming: LeadCount | None
    outgoing: LeadCount | None
    tips: LeadCount | None
    chart: Chart | None
    tables: dict[str, list[LeadCount]]


def leads_section(facts: Facts, months: Sequence[date]) -> LeadsSection | None:
    """The leads of these months; none when the file has none."""
    if not facts.leads:
        return None
    all_of = {one.way: one for one in facts.leads if one.part == "all"}
    incoming = [one for one in facts.leads if one.way == INCOMING]
    by_month = {one.name: Decimal(one.leads) for one in incoming if one.part == "month"}
    shown = [ChartMonth(month, by_month.get(f"{month:%Y-%m}")) for month in months]
    tables = {title: [one for one in incoming if one.part == part] for part, title in _TABLES.items()}
    return LeadsSection(
        incoming=all_of.get(INCOMING),
        outgoing=all_of.get(OUTGOING),
        tips=all_of.get(TIP),
        chart=chart("Leads received", shown, number, number, finest=1) if by_month and shown else None,
        tables={title: rows for title, rows in tables.items() if rows},
    )
