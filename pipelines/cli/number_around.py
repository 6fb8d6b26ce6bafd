"""What surrounds an explained number, in words: other months, budgets, changes, sales, agents and leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.cli.output import count, print_table
from pipelines.operations.explain import NEVER_ADDED, Around, Explanation
from warehouse.lineage import SOURCES, TracedNumber

Row = Mapping[str, Any]
MOST_ROWS = 12
INDENT = " " * 19
EARNED = frozenset(
    name for name, source in SOURCES.items() if source.report in ("commission_office", "commission_user")
)
"""Measures that sales and agents explain."""
BUDGETED = {"commission": "commission", "sold_estate_parts": "sold estates"}
"""The budget that a measure is held against."""


def line(head: str, text: str) -> None:
    """One line of an explanation, under its head."""
    print(f"  {head:<17}{text}")


def written(number: Decimal | int | None) -> str:
    """As SQL writes it, without zeros at the end."""
    return "unknown" if number is None else f"{Decimal(number):.8f}".rstrip("0").rstrip(".")


def brief(number: Decimal | int | None) -> str:
    """As people read it: from a thousand on without fractions, in groups of three."""
    if number is None:
        return "-"
    return count(round(number)) if abs(Decimal(number)) >= 1000 else written(number)


def table(
    head: str, text: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> None:
    """A table of an explanation under a line of text, its first rows alone where there are many."""
    more = f", the first {MOST_ROWS} of {count(len(rows))}" if len(rows) > MOST_ROWS else ""
    line(head, text + more)
    print_table(heads, rows[:MOST_ROWS], right=right, indent=INDENT)


def print_around(explanation: Explanation) -> None:
    """What speaks for and against the number, what it is compared with, and what it is made of."""
    number, around = explanation.trace.number, explanation.around
    for one in around["trust"]:
        line("mind" if one["is_doubt"] else "can I trust it", str(one["sentence"]))
    if not number.source.budget:
        _print_months(number, around["months"])
    _print_budgets(number, around)
    if number.measure in EARNED:
        _print_changes(around["changes"])
        _print_agents(around["agents"])
        _print_sales(around["sales"])
    if number.source.report == "tips_and_leads":
        _print_leads(number, around["leads"])


def _print_months(number: TracedNumber, months: Sequence[Row]) -> None:
    """The month before, the same month a year before, and the year to date beside the year before."""
    found = {one["month"]: one for one in months}
    month = number.month
    now = found.get(month)
    if now is None or now["number"] is None:
        return
    earlier = month.replace(month=month.month - 1) if month.month > 1 else date(month.year - 1, 12, 1)
    for other in (earlier, month.replace(year=month.year - 1)):
        then = found.get(other)
        line(
            f"{other:%Y-%m}",
            _compared(now["number"], then["number"]) + _unlike(now, then)
            if then and then["number"] is not None
            else "not held",
        )
    if number.measure not in NEVER_ADDED:
        this_year, year_before = (_year_to_date(found, month, year) for year in (month.year, month.year - 1))
        beside = "" if year_before is None else f"; the year before {brief(year_before)}"
        if this_year is not None and year_before and not now["is_open"]:
            beside += f" ({_percent(this_year / year_before - 1)})"
        line("year to date", "not every month is held" if this_year is None else brief(this_year) + beside)


def _year_to_date(found: Mapping[date, Row], month: date, year: int) -> Decimal | None:
    """The sum from January to the month; unknown unless every month of these is."""
    held = [found.get(date(year, one, 1), {}).get("number") for one in range(1, month.month + 1)]
    numbers = [Decimal(one) for one in held if one is not None]
    return sum(numbers, Decimal(0)) if len(numbers) == len(held) else None


def _unlike(now: Row, then: Row) -> str:
    """Why the two months cannot be compared as they are."""
    if not (now["is_commission_complete"] and then["is_commission_complete"]):
        return "; one of the two was not read to its end"
    return "; this month is not over" if now["is_open"] else ""


def _compared(now: Decimal, then: Decimal) -> str:
    change = f", {_percent(now / then - 1)} since" if then > 0 else ""
    return f"{brief(then)}: {_signed(now - then)}{change}"


def _print_budgets(number: TracedNumber, around: Around) -> None:
    """The budget that belongs to the measure: of the month, the year to date and the year."""
    budget = number.source.budget or BUDGETED.get(number.measure)
    for one in around["budgets"]:
        if one["measure"] != budget:
            continue
        reached = (
            f", {_share(one['attainment_share'])} reached" if one["attainment_share"] is not None else ""
        )
        line("budget", f"{brief(one['budget'])} of {budget}{reached}")
        if one["year_to_date_budget"] is not None:
            share = one["year_to_date_attainment_share"]
            reached = f", {_share(share)} reached" if share is not None else ""
            months = f"in {one['year_to_date_budget_month_count']} months with a budget"
            line("", f"year to date {brief(one['year_to_date_budget'])} {months}{reached}")
        forecast = f"; the forecast says {brief(one['year_forecast'])}" if one["year_forecast"] else ""
        line("", f"year {brief(one['year_budget'])}{forecast}")
        if one["basis_note"]:
            line("", str(one["basis_note"]))
    for one in around["budget_changes"]:
        if one["measure"] == budget:
            change = f"{brief(one['amount_before'])} -> {brief(one['amount_after'])}"
            line("budget changed", f"{one['user_label']}: {change}, noted {one['noted_at_utc']:%Y-%m-%d}")


def _print_changes(changes: Sequence[Row]) -> None:
    """What was restated, and by which sales; nothing where nothing changed."""
    if not changes:
        line("changed since", "nothing, as far as was read")
        return
    rows = [
        [
            f"{one['noted_at_utc']:%Y-%m-%d}",
            f"sale {one['estate_id']} {one['change']}" if one["estate_id"] else "commission of the month",
            brief(one["commission_before"]),
            brief(one["commission_after"]),
            _signed(one["commission_change"]),
        ]
        for one in changes
    ]
    table(
        "changed since",
        "noted by us, whole commissions of sales",
        ["noted", "what", "before", "after", "change"],
        rows,
        right=(2, 3, 4),
    )


def _print_agents(agents: Sequence[Row]) -> None:
    if agents:
        rows = [
            [
                str(one["user_label"]),
                *(brief(one[name]) for name in ("commission", "month_before", "year_before")),
                str(one["remark"] or ""),
            ]
            for one in agents
        ]
        heads = ["agent", "commission", "month before", "year before", ""]
        active = sum(bool(one["is_active"]) for one in agents)
        table(
            "the agents",
            f"{active} active, the largest loss since the month before first",
            heads,
            rows,
            right=(1, 2, 3),
        )


def _print_sales(sales: Sequence[Row]) -> None:
    """The sales by their share, and what of them is not received."""
    rows = [
        [
            str(one["estate_id"]),
            str(one["contract_on"]),
            brief(one["commission"]),
            str(one["access_on"] or "not known"),
            f"due since {count(one['days_due'])} d" if one["state"] == "due" else str(one["state"] or ""),
            str(one["agents"]),
        ]
        for one in sales
    ]
    if rows:
        heads = ["sale", "contract", "share", "possession", "commission", "agents"]
        table(
            "the sales",
            "by the shares that count here, writings and valuations aside",
            heads,
            rows,
            right=(2,),
        )


def _print_leads(number: TracedNumber, leads: Sequence[Row]) -> None:
    rows = [
        [str(one["way"]), str(one["lead_type"] or "-"), str(one["state"] or "-"), *_counts(one)]
        for one in leads
        if number.source.way in ("", one["way"]) and (number.source.way or one["removed"])
    ]
    if rows:
        table(
            "the leads", "by kind and state", ["way", "kind", "state", "leads", "removed"], rows, right=(3, 4)
        )


def _counts(one: Row) -> list[str]:
    return [count(one["leads"]), count(one["removed"])]


def _signed(number: Decimal) -> str:
    return f"{'+' if number > 0 else ''}{brief(number)}"


def _percent(share: Decimal) -> str:
    return f"{100 * share:+.1f} %"


def _share(share: Decimal) -> str:
    return f"{100 * share:.1f} %"
