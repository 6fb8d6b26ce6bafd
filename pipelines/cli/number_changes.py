"""What changed an explained number: later readings, budgets, and the kinds of work beside earlier months."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.cli.number_lines import brief, counted, line, parts, signed, table
from warehouse.marts.lineage import TracedNumber

Row = Mapping[str, Any]
ZERO = Decimal(0)
REMEMBERED = {
    "commission": "commission",
    "sold_commission": "commission of sales",
    "sold_total_price": "prices",
    "sold_estate_parts": "homes sold",
}
"""Measures whose earlier totals are remembered, as a row calls them; `sold_commission` is of users alone."""


def is_remembered(number: TracedNumber) -> bool:
    """Whether earlier totals of the measure are remembered, so that its changes are known."""
    return number.measure in REMEMBERED and (number.measure != "sold_commission" or number.kind == "user")


def print_not_remembered(number: TracedNumber) -> None:
    """That changes of the measure are not known, and of which they are."""
    known = [name for name in REMEMBERED if is_remembered(replace(number, measure=name))]
    line("changed since", f"not known: earlier totals of {number.measure} are not kept")
    line("", f"those of {', '.join(known)} are")


def _is_felt(number: TracedNumber, amount: Decimal) -> bool:
    """Whether an amount is more than rounding."""
    return abs(amount) >= (Decimal("0.005") if number.measure == "sold_estate_parts" else 1)


def print_changes(number: TracedNumber, changes: Sequence[Row], agents: Sequence[Row], is_year: bool) -> None:
    """What was restated, and by what: sales by their share, other work by agent, and what neither shows."""
    if not is_remembered(number):
        print_not_remembered(number)
        return
    months = sorted({one["month"] for one in changes} | {one["month"] for one in agents})
    rows = [row for month in months for row in _changes_of(number, month, changes, agents)]
    if not rows:
        line("changed since", "nothing, as far as was read")
        return
    place = 1 if is_year else None
    if not is_year:
        rows = [[row[0], *row[2:]] for row in rows]
    heads = [
        "noted",
        *(["month"] if place else []),
        "what",
        "before",
        "after",
        "change",
        "of it",
        "agents",
        "id",
    ]
    numbers = [heads.index(name) for name in ("before", "after", "change", "of it")]
    text = "noted by us after the month was over; sales by the shares that count here"
    table("changed since", text, heads, rows, right=numbers, most=len(rows))
    if number.kind == "office":
        _print_agents_changed(number, months, changes, agents)


def _changes_of(
    number: TracedNumber, month: date, changes: Sequence[Row], agents: Sequence[Row]
) -> list[list[str]]:
    """The rows of one month; the last two columns of amounts have the same sum."""
    found = [one for one in changes if one["month"] == month]
    totals = [one for one in found if not one["estate_id"]]
    sales = [one for one in found if one["estate_id"]]
    unsold = [one for one in agents if one["month"] == month and abs(one["unsold_change"] or 0) >= 1]
    if not (totals or sales or unsold):
        return []
    whole = sum((one["amount_change"] for one in totals), ZERO)
    explained = sum((one["amount_change"] * one["share"] for one in sales), ZERO)
    explained += sum((one["unsold_change"] for one in unsold), ZERO)
    what = f"{REMEMBERED[number.measure]} of the month"
    rows = [_total_changed(one, what) for one in totals] + [_sale_changed(one) for one in sales]
    rows += [
        [*_noted(one), _other_work(one), "", "", "", signed(one["unsold_change"]), one["user_label"], ""]
        for one in unsold
    ]
    if _is_felt(number, whole - explained):
        words = "no changed sale shows" if totals else f"not in the {what}"
        rows.append(["", f"{month:%Y-%m}", words, "", "", "", signed(whole - explained), "", ""])
    if len(rows) > 1:
        rows.append(["", f"{month:%Y-%m}", "in all", "", "", signed(whole), signed(whole), "", ""])
    return rows


def _other_work(one: Row) -> str:
    """That a change is of no sale, and by how many writings and valuations."""
    kinds = [
        f", {counted(abs(change), name)} {'more' if change > 0 else 'fewer'}"
        for name in ("writing", "valuation")
        if (change := one[f"{name}_change"])
    ]
    return "".join(["not from sales", *kinds])


def _total_changed(one: Row, what: str) -> list[str]:
    before, after = brief(one["amount_before"]), brief(one["amount_after"])
    return [
        *(*_noted(one), what, before, after),
        *(signed(one["amount_change"]), "", "", ""),
    ]


def _sale_changed(one: Row) -> list[str]:
    before, after = (
        brief(one[name] * one["share"]) if one[name] is not None else "-"
        for name in ("amount_before", "amount_after")
    )
    change = signed(one["amount_change"] * one["share"])
    agents = str(one["agents"] or "")
    return [*_noted(one), _sale(one), before, after, "", change, agents, str(one["estate_id"])]


def _noted(one: Row) -> list[str]:
    return [str(one["noted_on"]), f"{one['month']:%Y-%m}"]


def _sale(one: Row) -> str:
    """A sale by its street, and by what is known besides where it is listed no more or has no street."""
    known = []
    if one["estate_number"] and (one["change"] == "vanished" or not one["street_address"]):
        known.append(f"no. {one['estate_number']}")
    if one["contract_on"] and known:
        known.append(f"contract {one['contract_on']}")
    if one["price_before"] and known and not one["street_address"]:
        known.append(f"price {brief(one['price_before'])}")
    name = one["street_address"] or ("" if known else one["estate_id"])
    beside = f"({', '.join(known)})" if name and known else ", ".join(known)
    places = [f"{one['other_month']:%Y-%m}"] if one["other_month"] else []
    places += [one["other_office"]] if one["other_office"] else []
    way = "to" if one["change"] == "moved away" else "from"
    moved = f" {way} {', '.join(places)}" if places else ""
    return " ".join(part for part in ("sale", name, beside, one["change"] + moved) if part)


def _print_agents_changed(
    number: TracedNumber, months: Sequence[date], changes: Sequence[Row], agents: Sequence[Row]
) -> None:
    """Whose part changed in each restated month, and what is in nobody's."""
    for month in months:
        whole = sum(
            (one["amount_change"] for one in changes if one["month"] == month and not one["estate_id"]),
            ZERO,
        )
        summed: dict[str, Decimal] = defaultdict(Decimal)
        for one in agents:
            if one["month"] == month:
                summed[one["user_label"]] += one["amount_change"] or ZERO
        named = [
            f"{name} {signed(amount)}" for name, amount in sorted(summed.items(), key=lambda one: one[1])
        ]
        beside = whole - sum(summed.values(), ZERO)
        if _is_felt(number, beside):
            named.append(f"nobody can be named for {signed(beside)}")
        if named:
            line("by agent", f"{month:%Y-%m}: {', '.join(named)}")


def print_budget_changes(changes: Sequence[Row], budget: Decimal, is_year: bool) -> None:
    """Whose budget was changed, entered or taken back, and what that made of the month's budget."""
    if not changes:
        return
    rows = [
        [
            str(one["noted_on"]),
            *([f"{one['month']:%Y-%m}"] if is_year else []),
            str(one["user_label"]),
            "entered" if one["amount_before"] is None else brief(one["amount_before"]),
            "taken back" if one["amount_after"] is None else brief(one["amount_after"]),
            signed(one["amount_change"]),
        ]
        for one in changes
    ]
    in_all = sum((one["amount_change"] for one in changes), ZERO)
    whole = ["", "in all", "", ""] if is_year else ["in all", brief(budget - in_all), brief(budget)]
    rows.append(["", *whole, signed(in_all)])
    heads = ["noted", *(["month"] if is_year else []), "agent", "before", "after", "change"]
    last = len(heads)
    text = "after it was first read"
    table("budget changed", text, heads, rows, right=range(last - 3, last), most=len(rows))


def print_kinds(number: TracedNumber, kinds: Sequence[Row]) -> None:
    """Homes, writings and valuations beside earlier months, and what of the change each of them makes."""
    held = [one for one in kinds if one["is_held"]]
    if not held or held[0]["period"] != "now":
        return
    heads = [f"{one['month']:%Y-%m}" for one in held]
    if held[0]["first_month"] != held[0]["month"]:
        heads = [f"{one['first_month']:%Y-%m} to {one['month']:%Y-%m}" for one in held]
    amounts = {
        "homes sold": [parts(one["sold_estate_parts"]) for one in held],
        "commission of a home sold": [brief(_average(one)) for one in held],
        "commission of sales": [brief(one["sold_commission"]) for one in held],
        "writings": [parts(one["writing_parts"]) for one in held],
        "valuations": [parts(one["valuation_parts"]) for one in held],
        "commission of these two": [brief(_of_others(one)) for one in held],
        "commission": [brief(one["commission"]) for one in held],
    }
    right = range(1, 1 + len(held))
    rows = [[name, *found] for name, found in amounts.items()]
    table("made of", "homes are counted by shares", ["", *heads], rows, right=right)
    causes = [_causes(held[0], one) for one in held[1:] if _of_others(held[0]) is not None]
    if number.measure == "commission" and causes and all(causes):
        names = list(causes[0])
        rows = [[name, *(signed(one[name]) for one in causes)] for name in names]
        doubt = "" if all(one["is_commission_complete"] for one in held) else "; not all was read to its end"
        doubt += "; this month is not over" if held[0]["is_open"] else ""
        table("the reasons", f"of the change since{doubt}", ["", *heads[1:]], rows, right=right[:-1])


def _average(kind: Row) -> Decimal | None:
    """Commission of one home sold; unknown without a home."""
    sold, homes = kind["sold_commission"], kind["sold_estate_parts"]
    return sold / homes if sold is not None and homes else None


def _of_others(kind: Row) -> Decimal | None:
    """Commission that is of no sale."""
    sold: Decimal | None = kind["sold_commission"]
    return None if sold is None else kind["commission"] - sold


def _causes(now: Row, then: Row) -> dict[str, Decimal]:
    """The change of commission in three parts that add up; nothing where sales are not known apart."""
    beside, beside_then = _of_others(now), _of_others(then)
    if beside is None or beside_then is None:
        return {}
    of_sales = now["sold_commission"] - then["sold_commission"]
    average = _average(then)
    homes = of_sales
    if average is not None and _average(now) is not None:
        homes = (now["sold_estate_parts"] - then["sold_estate_parts"]) * average
    return {
        "more or fewer homes": homes,
        "more or less for a home": of_sales - homes,
        "writings and valuations": beside - beside_then,
        "in all": now["commission"] - then["commission"],
    }
