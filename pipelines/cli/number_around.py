"""What surrounds an explained number: a table for each query of sql/explain that has rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.cli.output import amount, line, table
from pipelines.diagnosis.explain import Explanation
from pipelines.units import MONTH, SHARE, unit_of
from pipelines.words import counted

MOST_ROWS = 30
"""So many rows of a table are shown; --json has all."""
TABLES = {
    "sources": ("the answers", "whose answers count, from marts.office_sources"),
    "doubts": ("doubts", "from marts.doubts"),
    "reports": ("reports compared", "from marts.reconciliation; each office and month: marts.disagreements"),
    "compared": ("compared with", "the month before, and the same months a year before, from marts.{}_month"),
    "drivers": ("driven by", "from marts.commission_drivers, of sales alone"),
    "same_days": ("the same days", "from marts.same_days, by day of contract"),
    "budgets": ("budget", "from marts.{}_budget_vs_actual, without VAT as far as it is declared"),
    "budget_changes": ("budget changed", "from marts.budget_changes"),
    "changes": ("changed since", "after the month was over, from marts.month_changes"),
    "reasons": ("because of", "from marts.month_change_reasons, as the office has them"),
    "parts": ("parts", "the largest difference since the year before first"),
    "sales": ("the sales", "from marts.sale_shares and marts.receivables"),
    "leads": ("the leads", "by kind and state, from marts.leads"),
}
"""By the name of the query: head and note of its table."""
REMEMBERED = frozenset({"commission", "sold_total_price", "sold_estate_parts"})
"""Measures of marts.month_changes; a user's sold_commission is in marts.user_month_versions."""


def print_around(explanation: Explanation) -> None:
    """The rows of each query; those that have none are left out."""
    number, around = explanation.trace.number, explanation.around
    for name, (head, note) in TABLES.items():
        if rows := around.get(name):
            print_rows(head, note.format(number.kind), rows)
        elif name == "doubts":
            line(head, "none is known")
        elif name == "changes":
            is_remembered = number.measure in REMEMBERED or (number.measure, number.kind) == (
                "sold_commission",
                "user",
            )
            line(
                head,
                "nothing after the months were over, as far as was read"
                if is_remembered
                else "not kept of this measure",
            )


def print_rows(head: str, note: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The first rows of one query, without the columns that are empty in all of them."""
    shown = [name for name in rows[0] if any(_cell(name, row[name]) not in ("-", "") for row in rows)]
    numeric = [
        place
        for place, name in enumerate(shown)
        if all(isinstance(row[name], Decimal | int | None) for row in rows)
    ]
    heads = [name.removeprefix("is_").replace("_", " ") for name in shown]
    cells = [[_cell(name, row[name]) for name in shown] for row in rows[:MOST_ROWS]]
    table(head, note, heads, cells, numeric)
    if len(rows) > MOST_ROWS:
        line("", f"and {counted(len(rows) - MOST_ROWS, 'more row')}; --json has all")


def _cell(name: str, value: Decimal | date | bool | int | str | list[str] | None) -> str:
    """A value as people read it, by its kind and the name of its column."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else ""
        case date():
            return f"{value:%Y-%m}" if unit_of(name, "DATE") == MONTH else str(value)
        case Decimal() if unit_of(name, "DECIMAL") == SHARE:
            return f"{100 * value:.1f} %"
        case Decimal() if name.endswith(("difference", "_change", "_effect")):
            return f"{'+' if value > 0 else ''}{amount(value)}"
        case Decimal() | int():
            return amount(value)
        case list():
            return ", ".join(value)
        case _:
            return value
