"""Budgets entered or changed since last week, in sentences: whose, of which months, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from pipelines.page.facts import Row
from pipelines.page.figures import Shown, named_and_others, remainder, sum_of, whole
from pipelines.page.language import Language

MOST_PLACES, MOST_AGENTS = 3, 3


def by_office_and_year(rows: Iterable[Row]) -> list[Shown]:
    """Changed budgets by office and year, those that changed most first, each with its agents' changes."""
    found: dict[tuple[str, date], Shown] = {}
    for row in rows:
        office = found.setdefault((row["office_id"], row["month"]), {**row, "agents": []})
        change = (row["amount"] or Decimal(0)) - (row["amount_before"] or Decimal(0))
        office["agents"].append({**row, "change": change})
    for office in found.values():
        office["change"] = sum_of(one["change"] for one in office["agents"])
    return sorted(found.values(), key=lambda one: -abs(one["change"]))


def on_entered_budgets(entered: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    """Budgets of agents who had none: of one office in full, else the offices with the largest."""
    if len(entered) == 1:
        return entered_budget(entered[0], words, is_chain=is_chain)
    total = sum_of(one["change"] for one in entered)
    months = {"month": min(one["month"] for one in entered), "until": max(one["until"] for one in entered)}
    places = _by_place(entered, words, is_chain=is_chain)
    largest, others = named_and_others(places, MOST_PLACES)
    named = [f"{one['place']} ({_agents_and_sum(one, words)})" for one in largest]
    if others:
        rest = remainder(total, (one["change"] for one in largest))
        named.append(words.text("news.more_offices", len(others), amount=words.sek(rest)))
    return words.text(
        "news.entered" if is_chain else "news.own_entered",
        period=_budget_months(months, words),
        amount=words.sek(total),
        names=words.listed(named),
    )


def on_budgets_so_far(budgeted: Iterable[Row], words: Language) -> list[str]:
    """How many agents have a budget of the months asked for of a year to come, and of those a year before."""
    years: dict[date, list[Row]] = {}
    for row in budgeted:
        years.setdefault(row["month"], []).append(row)
    return [
        words.text(
            "news.so_far",
            sum(row["agent_count"] for row in rows),
            period=_budget_months({"month": first, "until": _last_asked(first, rows)}, words),
            amount=words.sek(sum_of(row["amount"] or Decimal(0) for row in rows)),
            year_before=first.year - 1,
            count_before=words.number(sum(row["agent_count_before"] for row in rows)),
            before=words.sek(sum_of(row["amount_before"] or Decimal(0) for row in rows)),
        )
        for first, rows in sorted(years.items())
    ]


def _last_asked(first: date, rows: Iterable[Row]) -> date:
    return max((row["until"] for row in rows if row["until"]), default=first.replace(month=12))


def _by_place(budgets: Sequence[Shown], words: Language, *, is_chain: bool) -> list[Shown]:
    """Budgets of all years by office, or those of one office by their months, the largest first."""
    found: dict[str, Shown] = {}
    for one in budgets:
        place = one["office_name"] if is_chain else _budget_months(one, words)
        budget = found.setdefault(
            one["office_id"] if is_chain else place, {"place": place, "agents": [], "change": Decimal(0)}
        )
        budget["agents"] += one["agents"]
        budget["change"] += one["change"]
    return sorted(found.values(), key=lambda one: -abs(one["change"]))


def _agents_and_sum(entered: Shown, words: Language) -> str:
    agents = len({one["agent"] for one in entered["agents"]} - {None})
    amount = words.sek(entered["change"])
    return f"{words.text('news.agents', agents)}, {amount}" if agents else amount


def entered_budget(entered: Shown, words: Language, *, is_chain: bool) -> str:
    """Whose budgets were entered, and the office's sum over the same months before and after; it adds up."""
    named, others = named_and_others(entered["agents"], MOST_AGENTS)
    names = [f"{_budget_of(one, words)} ({words.sek(one['change'])})" for one in named]
    if others:
        names.append(words.text("news.more_agents", len(others), amount=words.sek(_of_others(entered))))
    key = "entered_more" if entered["office_before"] else "entered_first"
    return words.text(
        f"news.{key}" if is_chain else f"news.own_{key}",
        name=entered["office_name"],
        period=_budget_months(entered, words),
        names=words.listed(names),
        before=words.sek(entered["office_before"]),
        after=words.sek(entered["office_after"]),
    )


def on_changed_budgets(budgets: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    """The largest change in full, and the other offices with theirs."""
    first, *others = budgets
    sentence = changed_budget(first, words, is_chain=is_chain)
    if not others:
        return sentence
    places = _by_place(others, words, is_chain=is_chain)
    largest, left = named_and_others(places, MOST_PLACES)
    named = [f"{one['place']} ({words.signed(one['change'])})" for one in largest]
    if left:
        rest = sum_of(one["change"] for one in left)
        named.append(words.text("news.more_offices", len(left), amount=words.signed(rest)))
    return f"{sentence} {words.text('news.also_changed', names=words.listed(named))}"


def changed_budget(budget: Shown, words: Language, *, is_chain: bool) -> str:
    """The office's budget of some months before and after, and by whom it changed; it adds up."""
    before, after = _before_and_after(budget)
    key = "raised" if after > before else "lowered" if after < before else "kept"
    named, others = named_and_others(budget["agents"], MOST_AGENTS)
    names = [_budget_change(one, words) for one in named]
    if others:
        names.append(words.text("news.more_agents", len(others), amount=words.signed(_of_others(budget))))
    return words.text(
        f"news.{key}" if is_chain else f"news.own_{key}",
        name=budget["office_name"],
        period=_budget_months(budget, words),
        before=words.sek(before),
        after=words.sek(after),
        names=words.listed(names),
    )


def _before_and_after(budget: Shown) -> tuple[Decimal, Decimal]:
    return budget["office_before"] or Decimal(0), budget["office_after"] or Decimal(0)


def _of_others(budget: Shown) -> Decimal:
    """The part of an office's change, as it is shown, that is of the agents who are not named."""
    before, after = _before_and_after(budget)
    named, _ = named_and_others(budget["agents"], MOST_AGENTS)
    return remainder(whole(after) - whole(before), (one["change"] for one in named))


def _budget_change(agent: Shown, words: Language) -> str:
    notes = [words.signed(agent["change"])]
    if agent["amount"] is None:
        notes.append(words.text("news.withdrawn"))
    elif agent["amount_before"] is None:
        notes.append(words.text("news.kind_new"))
    if agent["has_left"]:
        notes.append(words.text("gap.left"))
    return f"{_budget_of(agent, words)} ({', '.join(notes)})"


def _budget_of(agent: Shown, words: Language) -> str:
    return agent["agent"] or words.text("news.nobodys")


def _budget_months(row: Row, words: Language) -> str:
    """A year by its number, where it is whole."""
    first, last = row["month"], row["until"]
    if (first.year, first.month, last.month) == (last.year, 1, 12):
        return str(first.year)
    return words.period(first, last)
