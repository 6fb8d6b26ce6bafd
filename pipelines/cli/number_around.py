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


def print_around(explanation: Explanation, *, is_year: bool = False) -> None:
    """What speaks for and against the number, what it is compared with, and what it is made of.

    Of a year to date (`is_year`) all of it covers the months from January on.
    """
    number, around = explanation.trace.number, explanation.around
    for one in around["trust"]:
        line("mind" if one["is_doubt"] else "can I trust it", str(one["sentence"]))
    if not number.source.budget:
        _print_months(number, around["months"], is_year)
    _print_budgets(number, around, is_year)
    if number.measure in EARNED:
        _print_changes(around["changes"], is_year)
        _print_agent_changes(number, around["agent_changes"])
        _print_agents(around["agents"], is_year)
        _print_sales(around["sales"], is_year)
    if number.source.report == "tips_and_leads":
        _print_leads(number, around["leads"])


def _print_months(number: TracedNumber, months: Sequence[Row], is_year: bool) -> None:
    """The month before, the same month a year before, and the year to date beside the year before."""
    found = {one["month"]: one for one in months}
    month = number.month
    now = found.get(month)
    if now is None or now["number"] is None:
        return
    earlier = month.replace(month=month.month - 1) if month.month > 1 else date(month.year - 1, 12, 1)
    for other in () if is_year else (earlier, month.replace(year=month.year - 1)):
        then = found.get(other)
        line(
            f"{other:%Y-%m}",
            _compared(now["number"], then["number"]) + _unlike(now, then)
            if then and then["number"] is not None
            else "not held",
        )
    if number.measure not in NEVER_ADDED:
        this_year, year_before = (_year_to_date(found, month, year) for year in (month.year, month.year - 1))
        beside = "; not every month of the year before is held"
        if year_before is not None:
            beside = f"; the year before {brief(year_before)}"
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


def _print_budgets(number: TracedNumber, around: Around, is_year: bool) -> None:
    """The budget that belongs to the measure: of the month, the year to date and the year."""
    budget = number.source.budget or BUDGETED.get(number.measure)
    for one in around["budgets"]:
        if one["measure"] != budget:
            continue
        of_month = f"{brief(one['budget'])} of {budget}{_reached(one['attainment_share'])}"
        line("budget", f"of {budget}" if is_year else of_month)
        if one["year_to_date_budget"] is not None:
            months = f"in {one['year_to_date_budget_month_count']} months with a budget"
            reached = _reached(one["year_to_date_attainment_share"])
            line("", f"year to date {brief(one['year_to_date_budget'])} {months}{reached}")
        forecast = f"; the forecast says {brief(one['year_forecast'])}" if one["year_forecast"] else ""
        line("", f"year {brief(one['year_budget'])}{forecast}")
        if one["basis_note"]:
            line("", str(one["basis_note"]))
    for one in around["budget_changes"]:
        if one["measure"] == budget:
            change = f"{brief(one['amount_before'])} -> {brief(one['amount_after'])}"
            month = f"{one['month']:%Y-%m}, " if is_year else ""
            noted = f"noted {one['noted_at_utc']:%Y-%m-%d}"
            line("budget changed", f"{month}{one['user_label']}: {change}, {noted}")


def _print_changes(changes: Sequence[Row], is_year: bool) -> None:
    """What was restated, and by which sales; nothing where nothing changed."""
    if not changes:
        line("changed since", "nothing, as far as was read")
        return
    rows = [
        [
            f"{one['noted_at_utc']:%Y-%m-%d}",
            *([f"{one['month']:%Y-%m}"] if is_year else []),
            f"sale {one['street_address'] or one['estate_id']} {one['change']}"
            if one["estate_id"]
            else "commission of the month",
            brief(one["commission_before"]),
            brief(one["commission_after"]),
            _signed(one["commission_change"]),
            str(one["agents"] or ""),
            str(one["estate_id"] or ""),
        ]
        for one in changes
    ]
    heads = ["noted", *(["month"] if is_year else []), "what", "before", "after", "change", "agents", "id"]
    numbers = [heads.index(name) for name in ("before", "after", "change")]
    table("changed since", "noted by us, whole commissions of sales", heads, rows, right=numbers)


def _print_agent_changes(number: TracedNumber, changes: Sequence[Row]) -> None:
    """Whose commission changed in each restated month, and what of it came from no sale."""
    for month in sorted({one["month"] for one in changes}):
        found = [one for one in changes if one["month"] == month]
        agents = [one for one in found if one["commission_change"] is not None]
        has_sales = any(one["commission_change"] != one["unsold_change"] for one in agents)
        if number.kind == "office" and has_sales:
            line("by agent", f"{month:%Y-%m}: {_named(agents, 'commission_change')}")
        unsold = [one for one in found if abs(one["unsold_change"] or 0) >= 1]
        if unsold:
            total = sum((one["unsold_change"] for one in unsold), Decimal(0))
            whose = f": {_named(unsold, 'unsold_change')}" if number.kind == "office" else ""
            line("not from sales", f"{_signed(total)} in {month:%Y-%m}{whose}")


def _named(changes: Sequence[Row], column: str) -> str:
    """The agents with what changed, and in words what no agent's total shows."""
    return ", ".join(
        f"{one['user_label'] or 'nobody can be named for'} {_signed(one[column])}" for one in changes
    )


def _print_agents(agents: Sequence[Row], is_year: bool) -> None:
    if not agents:
        return
    columns = ["commission", *([] if is_year else ["month_before"]), "year_before"]
    rows = [
        [str(one["user_label"]), *(brief(one[name]) for name in columns), str(one["remark"] or "")]
        for one in agents
    ]
    active = sum(bool(one["is_active"]) for one in agents)
    since = "year" if is_year else "month"
    table(
        "the agents",
        f"{active} active, the largest loss since the {since} before first",
        ["agent", *(name.replace("_", " ") for name in columns), ""],
        rows,
        right=range(1, 1 + len(columns)),
    )


def _print_sales(sales: Sequence[Row], is_year: bool) -> None:
    """The sales by their share, and what of them is not received."""
    rows = [
        [
            str(one["street_address"] or one["estate_id"]),
            str(one["contract_on"]),
            brief(one["commission"]),
            str(one["access_on"] or "not known"),
            f"due since {count(one['days_due'])} d" if one["state"] == "due" else str(one["state"] or ""),
            str(one["agents"]),
            str(one["estate_id"]),
        ]
        for one in sales
    ]
    if rows:
        heads = ["sale", "contract", "share", "possession", "commission", "agents", "id"]
        of_months = " in these months" if is_year else ""
        table(
            "the sales",
            f"by the shares that count here{of_months}, writings and valuations aside",
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


def _reached(share: Decimal | None) -> str:
    return "" if share is None else f", {100 * share:.1f} % reached"
