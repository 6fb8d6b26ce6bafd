"""Who explains the gap to budget, and what is signed and not received: offices, or agents of one office."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from pipelines.page.downloads import download
from pipelines.page.facts import Facts, Row
from pipelines.page.figures import (
    LEAST_UNEXPLAINED,
    VAT,
    BudgetProgress,
    OfficeMonths,
    Shown,
    last_months,
    ratio,
)
from pipelines.page.language import Language, capitalized

MOST_NAMED = 3
DOWNLOADED = ("name", "gap", "reached", "budget", "share", "less", "less_share")
"""The columns of the download, the last two where VAT may be in the commission."""


def gap_section(
    facts: Facts, months: OfficeMonths, name: str, words: Language, *, is_chain: bool
) -> Shown | None:
    """The year to date against its budget, and whose part of the gap each is; none where no month is over.

    The rows add up to the gap: of an office its agents with budgets of their own, and the rest.
    """
    last = months.last_whole
    if last is None:
        return None
    year = months.since_held(last_months(last, last.month))
    progress = months.progress(months.offices, year)
    if progress is None:
        return {"sentences": [words.text("gap.none")], "rows": [], "notes": [], "download": None}
    gap = progress.actual - progress.budget
    rows = _offices(months, year) if is_chain else _agents(facts, progress, last, words)
    for row in rows:
        reached = months.if_vat(row["reached"])
        row["less"] = None if reached is None else reached - row["budget"]
        row["of_budget"] = months.of_budget(row["share"], words)
        row["less_share"] = months.if_vat(row["share"])
    rows.sort(key=lambda one: (one["is_rest"], one["gap"] if gap < 0 else -one["gap"]))
    period = words.period(year[0], last)
    whose = "office" if is_chain else "agent"
    head = [words.text(f"gap.{one}") for one in (whose, "gap", "reached", "budget", "share")]
    head += months.heads_if_vat((head[1], head[-1]), words)
    numbers = [[one[field] for field in DOWNLOADED[: len(head)]] for one in rows]
    return {
        "sentences": _on_the_gap(months, progress, rows, name, period, words),
        "rows": rows,
        "longest": max(
            (abs(gap) for one in rows for gap in (one["gap"], one["less"] or 0)), default=Decimal(0)
        ),
        "caption": words.text("gap.caption", period=period),
        "notes": _notes(months, rows, progress.offices, words),
        "download": download(words, words.text("gap.heading"), head, numbers) if rows else None,
    }


def _on_the_gap(
    months: OfficeMonths,
    progress: BudgetProgress,
    rows: Sequence[Shown],
    name: str,
    period: str,
    words: Language,
) -> list[str]:
    gap = progress.actual - progress.budget
    way = "behind" if round(gap) < 0 else "ahead" if round(gap) > 0 else "even"
    sentence = words.text(
        f"gap.{way}",
        period=capitalized(period),
        name=name,
        gap=words.number(abs(gap)),
        budget=words.sek(progress.budget),
        share=words.percent(progress.share),
    )
    sentences = [sentence]
    share, reached = months.if_vat(progress.share), months.if_vat(progress.actual)
    if share is not None and reached is not None:
        vat, left = words.percent(VAT), words.signed(reached - progress.budget)
        sentences.append(words.text("gap.if_vat", vat=vat, share=words.percent(share), gap=left))
    if way == "even" or len(rows) < 2:
        return sentences
    for one, which, part in ((gap, "mostly", Decimal("0.5")), (-gap, "against", Decimal(1))):
        if named := _explaining(rows, one, part, words):
            sentences.append(words.text(f"gap.{which}_{way}", names=words.listed(named)))
    return sentences


def _offices(months: OfficeMonths, year: Sequence[date]) -> list[Shown]:
    return [
        _row(months.names[office], one.actual, one.budget)
        for office in months.offices
        if (one := months.progress([office], year))
    ]


def _agents(facts: Facts, progress: BudgetProgress, last: date, words: Language) -> list[Shown]:
    """Agents with budgets of their own, and what is left of the gap; none where they are of other months."""
    agents = [
        one for one in facts.agents if one["budget"] and one["reached"] is not None and one["month"] == last
    ]
    found = [
        {**_row(one["name"], one["reached"], one["budget"]), **_presence(one, last, words)} for one in agents
    ]
    reached = progress.actual - sum((one["reached"] for one in found), Decimal(0))
    budget = progress.budget - sum((one["budget"] for one in found), Decimal(0))
    if found and abs(reached - budget) >= LEAST_UNEXPLAINED:
        found.append({**_row(words.text("gap.rest"), reached, budget), "share": None, "is_rest": True})
    return found


def _presence(agent: Row, last: date, words: Language) -> Shown:
    """Whether an agent has left, or came after the last month; of a budget before that nobody is short."""
    if agent["new_since"] and agent["new_since"] > last:
        month = words.month(agent["new_since"])
        return {"note": words.text("agents.new_since", month=month), "is_new": True}
    return {"note": note_on_leaving(agent, words)}


def note_on_leaving(agent: Row, words: Language) -> str:
    """When an agent was last seen who has left, or was not active for two months; empty of the others."""
    seen = agent["last_seen"]
    if not seen:
        return words.text("gap.left") if agent["has_left"] else ""
    return words.text("gap.left_seen" if agent["has_left"] else "gap.last_seen", month=words.month(seen))


def _row(name: str, reached: Decimal, budget: Decimal) -> Shown:
    return {
        "name": name,
        "gap": reached - budget,
        "reached": reached,
        "budget": budget,
        "share": ratio(reached, budget),
        "is_rest": False,
        "is_new": False,
        "note": "",
    }


def _explaining(rows: Sequence[Shown], gap: Decimal, part: Decimal, words: Language) -> list[str]:
    """The fewest that together make more than a part of what goes the way of the gap, three at most."""
    same_way = [one for one in rows if one["gap"] * gap > 0 and not (one["is_rest"] or one["is_new"])]
    whole = sum((one["gap"] for one in same_way), Decimal(0))
    named, so_far = [], Decimal(0)
    for one in sorted(same_way, key=lambda one: -abs(one["gap"]))[:MOST_NAMED]:
        notes = [words.signed(one["gap"]), *([one["note"]] if one["note"] else [])]
        named.append(f"{one['name']} ({', '.join(notes)})")
        so_far += one["gap"]
        if abs(so_far) > part * abs(whole):
            break
    return named


def _notes(months: OfficeMonths, rows: Sequence[Shown], budgeted: int, words: Language) -> list[str]:
    notes = []
    if without := len(months.offices) - budgeted:
        notes.append(words.text("gap.unbudgeted", without))
    if any(one["note"] and not one["is_new"] for one in rows):
        notes.append(words.text("gap.left_note"))
    if any(one["is_rest"] for one in rows):
        notes.append(words.text("gap.rest_note"))
    bases = sorted({row.vat for row in months.budgets.values() if row.vat})
    return notes + [
        words.text("gap.basis", note=words.text(f"gap.vat_{one}", vat=words.percent(VAT))) for one in bases
    ]


def owed_section(facts: Facts, words: Language, *, is_chain: bool) -> Shown:
    """Commission that is signed and not received: sums in sentences, and offices or the longest due sales."""
    noted = [one for one in facts.receivables if one["is_receipt_noted"]]
    unnoted = [one["office_name"] for one in facts.receivables if not one["is_receipt_noted"]]
    if not noted:
        key = "unnoted" if unnoted else "unknown"
        return {"sentences": [words.text(f"owed.{key}")], "offices": [], "sales": [], "download": None}
    newest = max(one["counted_on"] for one in noted)
    sentences = _on_what_is_owed(noted, words.day(newest), words)
    if unnoted:
        names = words.listed(unnoted[:MOST_NAMED] + (["…"] if len(unnoted) > MOST_NAMED else []))
        sentences.append(words.text("owed.some_unnoted", len(unnoted), names=names))
    offices = [
        {
            **one,
            "note": ""
            if one["counted_on"] == newest
            else words.text("owed.stopped", day=words.day(one["counted_on"])),
        }
        for one in noted
        if one["homes"]
    ]
    sales = [] if is_chain else [{**one, "note": _receipt_to_come(one, words)} for one in facts.due_sales]
    return {
        "sentences": sentences,
        "counted": words.text("owed.counted", day=words.day(newest)),
        "offices": offices if is_chain else [],
        "sales": sales,
        "longest": max((one["outstanding"] for one in offices), default=Decimal(0)),
        "download": _owed_download(offices, sales, words, is_chain=is_chain),
    }


def _on_what_is_owed(noted: Sequence[Row], day: str, words: Language) -> list[str]:
    homes, due_homes, undated = (
        sum(one[name] for one in noted) for name in ("homes", "due_homes", "undated_homes")
    )
    if not homes:
        return [words.text("owed.none")]
    outstanding, due = (sum((one[name] for one in noted), Decimal(0)) for name in ("outstanding", "due"))
    total = words.text("owed.total", homes, amount=words.number(outstanding))
    if due_homes:
        total += words.text("owed.due", due_homes, amount=words.number(due), day=day)
    else:
        total += "." if undated else words.text("owed.not_due")
    sentences = [total]
    if due_homes and (longest := max(one["longest_days_due"] or 0 for one in noted)):
        sentences.append(words.text("owed.longest", longest))
    if undated:
        sentences.append(words.text("owed.undated", undated))
    return sentences


def _receipt_to_come(sale: Row, words: Language) -> str:
    day = sale["to_be_received_on"]
    return words.text("owed.to_come", day=words.day(day)) if day else ""


def _owed_download(
    offices: Sequence[Shown], sales: Sequence[Row], words: Language, *, is_chain: bool
) -> dict[str, str] | None:
    names = (
        ("office", "homes", "outstanding", "of_it_due", "days")
        if is_chain
        else ("home", "agent", "possession", "due_days", "amount")
    )
    fields = (
        ("office_name", "homes", "outstanding", "due", "longest_days_due")
        if is_chain
        else ("home", "agent", "access_on", "days_due", "due")
    )
    rows = offices if is_chain else sales
    if not rows:
        return None
    head = [words.text(f"owed.{one}") for one in names]
    return download(
        words, words.text("owed.heading"), head, [[one[field] for field in fields] for one in rows]
    )
