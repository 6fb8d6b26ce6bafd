"""What surrounds an explained number: a table for each kind of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any

from pipelines.cli.output import amount, line, table
from pipelines.diagnosis.around import NumberChange, Sale
from pipelines.diagnosis.explain import Explanation
from pipelines.diagnosis.recount import sum_of
from pipelines.units import MONTH, SHARE, unit_of
from pipelines.words import count
from warehouse.marts.lineage import TracedNumber

MOST_SALES, MOST_CHANGES = 12, 30
"""So many are shown one by one; all are in marts.sale_shares and marts.month_changes, and with --json."""
TABLES = {
    "doubts": ("can I trust it", "what concerns this number alone"),
    "compared": ("compared with", "difference: what the number is more than that of the period"),
    "drivers": ("driven by", "what each made of the change of commission of sales since the year before"),
    "same_days": ("the same days", "by day of contract, as far as the sales list has them"),
    "budgets": ("budget", "reached of the whole year: the forecast"),
    "budget_changes": ("budget changed", "of the agent that is named, after the first reading of the month"),
    "changes": ("changed since", "noted by us after the month was over, each total before its reasons"),
    "parts": ("parts", "the largest difference since the year before first"),
    "sales": ("the sales", "by what of their commission counts here"),
    "leads": ("the leads", "by kind and state"),
}
"""By the name of the rows: head and note of their table."""
REMEMBERED = frozenset({"commission", "sold_total_price", "sold_estate_parts"})
"""Measures of marts.month_changes; a user's sold_commission is in marts.user_month_versions."""


def print_around(explanation: Explanation, value: Decimal | int | None) -> None:
    """The tax basis of the value, and the rows of each kind; those that there are none of are left out."""
    number, around = explanation.trace.number, explanation.around
    for basis in around.basis:
        line("the basis", basis.basis)
        if basis.vat_rate is not None and value is not None:
            without = value / (1 + basis.vat_rate)
            line("", f"without that VAT of {100 * basis.vat_rate:.0f} % it is {amount(without)}")
    for name, (head, note) in TABLES.items():
        rows: Sequence[Any] = getattr(around, name)
        if rows:
            print_rows(head, note, _SHORTENED.get(name, list)(rows))
        elif name == "changes":
            line(head, "nothing, as far as was read" if is_remembered(number) else "not kept of this measure")


def _fewer_sales(rows: Sequence[Sale]) -> list[Sale]:
    """Of each period the first, the others as one row, and what is in no listed sale."""
    shown: list[Sale] = []
    for _, found in groupby(rows, key=lambda one: one.period):
        sales = list(found)
        listed = [one for one in sales if one.id]
        others = listed[MOST_SALES:]
        shown += listed[:MOST_SALES]
        if others:
            commission, homes = (_sum(others, name) for name in ("commission", "homes"))
            shown.append(Sale(others[0].period, _so_many(others), commission=commission, homes=homes))
        shown += [one for one in sales if not one.id]
    return shown


def _fewer_changes(rows: Sequence[NumberChange]) -> list[NumberChange]:
    """The first changes with their reasons, and what the others come to."""
    others = rows[MOST_CHANGES:]
    if not others:
        return [*rows]
    difference = _sum([one for one in others if one.kind == "total"], "difference")
    rest = NumberChange(
        others[0].noted_on, others[0].month, "others", _so_many(others), difference=difference
    )
    return [*rows[:MOST_CHANGES], rest]


def _sum(rows: Sequence[object], name: str) -> Decimal | None:
    found = sum_of(getattr(one, name) for one in rows)
    return None if found is None else Decimal(found)


def _so_many(rows: Sequence[object]) -> str:
    return f"{count(len(rows))} others"


_SHORTENED: Mapping[str, Callable[[Any], list[Any]]] = {"sales": _fewer_sales, "changes": _fewer_changes}


def is_remembered(number: TracedNumber) -> bool:
    """Whether changes of the measure are known."""
    return number.measure in REMEMBERED or (number.measure, number.kind) == ("sold_commission", "user")


def print_rows(head: str, note: str, rows: Sequence[Any]) -> None:
    """Rows of one kind, without the columns that are empty in all of them."""
    shown = [
        name
        for name in (one.name for one in fields(rows[0]))
        if any(getattr(row, name) not in (None, "", False) for row in rows)
    ]
    numeric = [
        place
        for place, name in enumerate(shown)
        if all(isinstance(getattr(row, name), Decimal | int | None) for row in rows)
    ]
    heads = [name.removeprefix("is_").replace("_", " ") for name in shown]
    table(head, note, heads, [[_cell(name, getattr(row, name)) for name in shown] for row in rows], numeric)


def _cell(name: str, value: Decimal | date | bool | int | str | None) -> str:
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
        case _:
            return value
