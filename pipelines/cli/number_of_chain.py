"""What surrounds a number of the whole chain, in words: its offices, and what changed in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.cli.number_changes import is_remembered, print_not_remembered
from pipelines.cli.number_lines import brief, counted, line, parts, signed, table
from warehouse.marts.lineage import TracedNumber

Row = Mapping[str, Any]
ZERO = Decimal(0)
PERIODS = ("number", "year_before", "month_before")


def print_offices(
    number: TracedNumber,
    offices: Sequence[Row],
    wholes: Mapping[str, Decimal | None],
    is_year: bool,
    *,
    is_open: bool = False,
) -> None:
    """The offices by what they changed since the year before, what is in none of them, and the chain.

    `wholes` has the numbers of the chain that the offices are held against, by the names of PERIODS.
    """
    periods = [name for name in PERIODS if wholes.get(name) is not None]
    with_homes = number.source.report == "commission_office"
    rows = [
        [
            str(one["office_name"] or one["office_id"]),
            *_amounts(one, periods),
            *([parts(one["homes"]), parts(one["homes_year_before"])] if with_homes else []),
            str(one["remark"] or ""),
        ]
        for one in offices
    ]
    beside = {
        name: (wholes[name] or ZERO) - sum((one[name] or ZERO for one in offices), ZERO) for name in periods
    }
    empty = [""] * (3 if with_homes else 1)
    if any(abs(amount) >= 1 for amount in beside.values()):
        rows.append(["in no office", *_amounts(beside, periods), *empty])
    rows.append(["in all", *_amounts(wholes, periods), *empty])
    heads = [
        "office",
        *_heads(number, periods, is_year),
        *(["homes", "homes year before"] if with_homes else []),
    ]
    text = f"the largest {'change since the year before' if 'year_before' in periods else 'number'} first"
    if number.source.report == "commission_office":
        text += "; `brokerbi explain --office` says why"
    text += "; this month is not over" if is_open else ""
    table("the offices", text, [*heads, ""], rows, right=range(1, len(heads)), most=len(rows))


def _heads(number: TracedNumber, periods: Sequence[str], is_year: bool) -> list[str]:
    year, month = number.month.year, number.month.month
    before = date(year - (month == 1), 12 if month == 1 else month - 1, 1)
    names = {
        "number": [f"to {number.month:%Y-%m}" if is_year else f"{number.month:%Y-%m}"],
        "year_before": [f"{'to ' if is_year else ''}{year - 1}-{month:02d}", "change"],
        "month_before": [f"{before:%Y-%m}", "change"],
    }
    return [head for name in periods for head in names[name]]


def _amounts(one: Mapping[str, Any], periods: Sequence[str]) -> list[str]:
    """The number, and each it is compared with, beside the change since."""
    now = one["number"] or ZERO
    found = []
    for name in periods:
        found.append(brief(one[name]))
        if name != "number":
            found.append(signed(now - (one[name] or ZERO)))
    return found


def print_offices_changed(number: TracedNumber, changes: Sequence[Row], is_year: bool) -> None:
    """Which offices' totals changed after the months were over, and the sum."""
    if not is_remembered(number):
        print_not_remembered(number)
        return
    if not changes:
        line("changed since", "nothing, as far as was read")
        return
    rows = [
        [
            str(one["noted_on"]),
            *([f"{one['month']:%Y-%m}"] if is_year else []),
            str(one["office_name"]),
            *(brief(one["amount_before"]), brief(one["amount_after"])),
            signed(one["amount_change"]),
        ]
        for one in changes
    ]
    place = 3 if is_year else 2
    in_all = sum((one["amount_change"] for one in changes), ZERO)
    rows.append(["", *[""] * (place - 2), "in all", "", "", signed(in_all)])
    heads = ["noted", *(["month"] if is_year else []), "office", "before", "after", "change"]
    text = "noted by us after the month was over; `brokerbi explain --office` says by which sales"
    table("changed since", text, heads, rows, right=range(place, place + 3), most=len(rows))


def print_office_budgets_changed(changes: Sequence[Row], budget: Decimal | None, is_year: bool) -> None:
    """By how much the offices' budgets were changed after they were first read, and the sum."""
    if not changes:
        return
    summed: dict[tuple[date, str], list[Decimal]] = defaultdict(list)
    for one in changes:
        summed[one["noted_on"], str(one["office_name"])].append(one["amount_change"])
    rows = [
        [str(day), office, counted(len(amounts), "budget"), signed(sum(amounts, ZERO))]
        for (day, office), amounts in summed.items()
    ]
    in_all = sum((one["amount_change"] for one in changes), ZERO)
    before = "" if is_year else f"from {brief((budget or ZERO) - in_all)} to {brief(budget or ZERO)}"
    rows.append(["", "in all", before, signed(in_all)])
    heads = ["noted", "office", "", "change"]
    table("budget changed", "after it was first read", heads, rows, right=(3,), most=len(rows))
