"""What surrounds an explained number, in words: other months, budgets, changes, sales, agents and leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.cli.number_changes import print_budget_changes, print_changes, print_kinds
from pipelines.cli.number_lines import MOST_ROWS, brief, counted, line, parts, signed, table
from pipelines.cli.number_of_chain import print_office_budgets_changed, print_offices, print_offices_changed
from pipelines.cli.output import count
from pipelines.operations.explain import NEVER_ADDED, Around, Explanation
from warehouse.marts.lineage import SOURCES, TracedNumber

Row = Mapping[str, Any]
DECEMBER = 12
HOMES = ("homes", "homes_year_before")
EARNED = frozenset(
    name for name, source in SOURCES.items() if source.report in ("commission_office", "commission_user")
)
"""Measures that sales and agents explain."""
BUDGETED = {"commission": "commission", "sold_estate_parts": "sold estates"}
"""The budget that a measure is held against."""


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
    if number.kind == "chain":
        _print_chain(number, around, is_year)
    elif number.measure in EARNED:
        print_changes(number, around["changes"], around["agent_changes"], is_year)
        print_kinds(number, around["kinds"])
        _print_agents(around, is_year)
        _print_sales(number, around, is_year)
    if number.source.report == "tips_and_leads" and number.kind != "chain":
        _print_leads(number, around["leads"])


def _print_chain(number: TracedNumber, around: Around, is_year: bool) -> None:
    """The offices beside the chain's number, and of commissions what changed and which work it is."""
    found = {one["month"]: one for one in around["months"]}
    month = number.month
    year_before = month.replace(year=month.year - 1)
    if is_year:
        wholes = {
            "number": _year_to_date(found, month, month.year),
            "year_before": _year_to_date(found, month, month.year - 1),
        }
    else:
        of_months = {"number": month, "year_before": year_before, "month_before": _month_before(month)}
        wholes = {name: found.get(one, {}).get("number") for name, one in of_months.items()}
    print_offices(number, around["offices"], wholes, is_year, is_open=found[month]["is_open"])
    if number.measure in EARNED:
        print_offices_changed(number, around["office_changes"], is_year)
        print_kinds(number, around["kinds"])


def _month_before(month: date) -> date:
    return month.replace(month=month.month - 1) if month.month > 1 else date(month.year - 1, 12, 1)


def _print_months(number: TracedNumber, months: Sequence[Row], is_year: bool) -> None:
    """The month before, the same month a year before, and the year to date beside the year before."""
    found = {one["month"]: one for one in months}
    month = number.month
    now = found.get(month)
    if now is None or now["number"] is None:
        return
    for other in () if is_year else (_month_before(month), month.replace(year=month.year - 1)):
        line(f"{other:%Y-%m}", _beside_month(now, found.get(other)))
    if number.measure not in NEVER_ADDED:
        this_year, year_before = (_year_to_date(found, month, year) for year in (month.year, month.year - 1))
        text = "not every month is held" if this_year is None else brief(this_year)
        if this_year is not None:
            text += _beside_year(now, this_year, year_before)
        line("year to date", text)


def _beside_month(now: Row, then: Row | None) -> str:
    """The number beside that of an earlier month, if that is held and was not before the user began."""
    if then is None or then["number"] is None:
        return "not held"
    if _is_before_first_seen(now, then["month"]):
        return f"not there yet, {_first_seen(now)}"
    return _compared(now["number"], then["number"]) + _unlike(now, then)


def _beside_year(now: Row, this_year: Decimal, year_before: Decimal | None) -> str:
    """The year to date of the year before; a share only where somebody worked from its January on."""
    month = now["month"]
    if year_before is None:
        return "; not every month of the year before is held"
    if _is_before_first_seen(now, month.replace(year=month.year - 1)):
        return f"; not there yet the year before, {_first_seen(now)}"
    beside = f"; the year before {brief(year_before)}"
    if _is_before_first_seen(now, date(month.year - 1, 1, 1)):
        return f"{beside}, {_first_seen(now)}"
    if year_before and not now["is_open"]:
        beside += f" ({_percent(this_year / year_before - 1)})"
    return beside


def _is_before_first_seen(now: Row, month: date) -> bool:
    return now["first_seen_month"] is not None and month < now["first_seen_month"]


def _first_seen(now: Row) -> str:
    return f"first seen in {now['first_seen_month']:%Y-%m}"


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
    return f"{brief(then)}: {signed(now - then)}{change}"


def _print_budgets(number: TracedNumber, around: Around, is_year: bool) -> None:
    """The budget that belongs to the measure: of the month, the year to date and the year, as it is now."""
    budget = number.source.budget or BUDGETED.get(number.measure)
    for one in around["budgets"]:
        if one["measure"] != budget:
            continue
        said = f"none of {budget} in this month"
        if one["budget"] is not None:
            said = f"{brief(one['budget'])} of {budget}{_reached(one['attainment_share'])}"
        line("budget", f"of {budget}" if is_year else said)
        if one["year_to_date_budget"] is not None:
            budgeted = one["year_to_date_budget_month_count"]
            months = "" if budgeted is None else f" in {counted(budgeted, 'month')} with a budget"
            reached = _reached(one["year_to_date_attainment_share"])
            line("", f"year to date {brief(one['year_to_date_budget'])}{months}{reached}")
        line("", f"year {brief(one['year_budget'])}{_forecast(one)}")
        if one["basis_note"]:
            line("", str(one["basis_note"]))
    changed = [one for one in around["budget_changes"] if one["measure"] == budget]
    of_month = _budget_of(around, budget)
    if number.kind == "chain":
        print_office_budgets_changed(changed, of_month, is_year)
    else:
        print_budget_changes(changed, of_month, is_year)


def _budget_of(around: Around, measure: str | None) -> Decimal:
    """The month's budget of a measure, zero where it has none any more."""
    return next((one["budget"] for one in around["budgets"] if one["measure"] == measure), None) or Decimal(0)


def _forecast(budget: Row) -> str:
    """Where the year will end, as it is known today and not as it was in the explained month."""
    if budget["year_forecast"] is None:
        return ""
    end = brief(budget["year_forecast"])
    if budget["seen_from_month"].month == DECEMBER:
        return f"; it ended with {end}"
    if budget["has_left"]:
        return f"; has left, so nothing more is forecast than the {end} so far"
    return f"; the forecast, with what is signed so far, says {end}"


def _print_agents(around: Around, is_year: bool) -> None:
    """The agents, what is in the office's number beside theirs, and whose work was no sale."""
    agents = around["agents"]
    if not agents:
        return
    columns = ["commission", *([] if is_year else ["month_before"]), "year_before"]
    periods = dict(zip(columns, ["now", *([] if is_year else ["month before"]), "year before"], strict=True))
    amounts = {one["period"]: one["commission"] for one in around["kinds"]}
    found = [
        {**{name: one[name] for name in (*columns, *HOMES)}, "head": one["user_label"], "end": one["remark"]}
        for one in agents
    ]
    beside = {
        name: (amounts.get(period) or 0) - sum(one[name] or 0 for one in agents)
        for name, period in periods.items()
    }
    if any(abs(amount) >= 1 for amount in beside.values()):
        found.append({**beside, "head": "in no agent's total"})
    active = sum(bool(one["is_active"]) for one in agents)
    since = "year" if is_year else "month"
    table(
        "the agents",
        f"{active} active, the largest loss since the {since} before first",
        ["agent", *(name.replace("_", " ") for name in (*columns, *HOMES)), ""],
        [
            [
                str(one["head"]),
                *(brief(one[name]) for name in columns),
                *(parts(one.get(name)) for name in HOMES),
                str(one.get("end") or ""),
            ]
            for one in found
        ],
        right=range(1, 1 + len(columns) + len(HOMES)),
        most=len(found),
    )
    other = [
        f"{one['user_label']} {brief(one['unsold_commission'])}{_other_work(one)}"
        for one in agents
        if abs(one["unsold_commission"] or 0) >= 1
    ]
    if other:
        line("not from sales", ", ".join(other))


def _other_work(agent: Row) -> str:
    kinds = [
        counted(agent[f"{name}_parts"], name) for name in ("writing", "valuation") if agent[f"{name}_parts"]
    ]
    return f" ({', '.join(kinds)})" if kinds else ""


def _print_sales(number: TracedNumber, around: Around, is_year: bool) -> None:
    """The sales by their share, those of a year before, and what of the numbers is in none of them."""
    periods = {one["period"]: one for one in around["kinds"]}
    for head, period, is_before in (("the sales", "now", False), ("a year before", "year before", True)):
        sales = [one for one in around["sales"] if one["is_year_before"] is is_before]
        whole = periods.get(period)
        if whole is None or not (sales or whole["commission"]):
            continue
        of_months = " in these months" if is_year else ""
        homes = f"{counted(whole['sold_estate_parts'], 'home')}{of_months}, by the shares that count here"
        measure = number.measure if number.measure in ("commission", "sold_commission") else "commission"
        table(
            head,
            homes,
            ["sale", "contract", "share", "possession", "commission", "agents", "id"],
            _with_sums(sales, whole[measure], measure),
            right=(2,),
            most=MOST_ROWS + 3,
        )


def _with_sums(sales: Sequence[Row], whole: Decimal | None, measure: str) -> list[list[str]]:
    """The largest sales, the others as one row, what is in no listed sale, and the sum."""
    rows = [
        [
            str(one["street_address"] or one["estate_id"]),
            str(one["contract_on"]),
            brief(one["commission"]),
            str(one["access_on"] or "not known"),
            _payment(one),
            str(one["agents"]),
            str(one["estate_id"]),
        ]
        for one in sales[:MOST_ROWS]
    ]
    empty = [""] * 4
    if more := sales[MOST_ROWS:]:
        rows.append([f"and {count(len(more))} more", "", brief(_summed(more)), *empty])
    if whole is not None:
        beside = whole - _summed(sales)
        if abs(beside) >= 1:
            kinds = "writings, valuations and others" if measure == "commission" else "in no listed sale"
            rows.append([kinds, "", brief(beside), *empty])
        rows.append(["in all", "", brief(whole), *empty])
    return rows


def _payment(sale: Row) -> str:
    """How far the commission of a sale is, and a receipt that is noted for a day to come."""
    if sale["state"] == "received" or not sale["commission_received_on"]:
        to_come = ""
    else:
        to_come = f", receipt noted for {sale['commission_received_on']}"
    state = f"due since {count(sale['days_due'])} d" if sale["state"] == "due" else str(sale["state"] or "")
    return state + to_come


def _summed(sales: Sequence[Row]) -> Decimal:
    return sum((one["commission"] or Decimal(0) for one in sales), Decimal(0))


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


def _percent(share: Decimal) -> str:
    return f"{100 * share:+.1f} %"


def _reached(share: Decimal | None) -> str:
    return "" if share is None else f", {100 * share:.1f} % reached"
