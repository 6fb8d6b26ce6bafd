"""What changed since last week and why, in two or three sentences, and the sales behind them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.downloads import download
from pipelines.page.facts import Facts, Row
from pipelines.page.figures import Shown
from pipelines.page.language import Language

CHANGES = {"gone": ("gone",), "amount": ("amount",), "moved": ("moved", "moved here", "moved away")}
"""Changes of sales that were known before, by their words, and the kinds of rows that each counts."""
KINDS = {"moved here": "here", "moved away": "away"}
"""The words of kinds of rows that are not their own."""
COLUMNS = ("home", "what", "office", "agent", "before", "after", "effect")
MOST_NAMED = 2
MOST_LISTED = 12


def news_section(facts: Facts, words: Language, timezone: ZoneInfo, *, is_chain: bool) -> Shown:
    """Sentences on new sales, changed sales and changed budgets, and the largest of the sales.

    Within a chain a sale that moved from one office to another is told once; at an office it came, or went.
    """
    since = next((row["at_utc"] for row in facts.news if row["kind"] == "since"), None)
    if since is None:
        key = "unknown" if "news" in facts.missing else "first"
        return {"sentences": [words.text(f"news.{key}")], "sales": [], "count": 0, "download": None}
    day = words.day(since.replace(tzinfo=UTC).astimezone(timezone).date())
    skipped = ("since", "budget", "moved away") if is_chain else ("since", "budget")
    sales = [_sale(row, words, is_chain=is_chain) for row in facts.news if row["kind"] not in skipped]
    sales.sort(key=lambda one: -abs(one["effect"]))
    new = [one for one in sales if one["kind"] == "new"]
    changed = [one for one in sales if one["kind"] != "new"]
    budgets = [row for row in facts.news if row["kind"] == "budget"]
    if sales or budgets:
        sentences = [_on_new_sales(new, words, day, is_chain=is_chain)]
    else:
        sentences = [words.text("news.nothing", day=day)]
    if changed:
        sentences.append(_on_changed_sales(changed, words, is_chain=is_chain))
    elif new:
        sentences.append(words.text("news.unchanged"))
    if budgets:
        sentences.append(_on_budgets(budgets, words, is_chain=is_chain))
    columns = [one for one in COLUMNS if is_chain or one != "office"]
    head = [words.text(f"news.{one}") for one in columns]
    rows = [[one[column] for column in columns] for one in sales]
    return {
        "sentences": sentences,
        "sales": sales[:MOST_LISTED],
        "count": len(sales),
        "download": download(words, words.text("news.heading"), head, rows) if sales else None,
    }


def _sale(row: Row, words: Language, *, is_chain: bool) -> Shown:
    """A sale with what its change added to the commission of the chain, or of the office."""
    before, after = row["amount_before"], row["amount"]
    if not is_chain:  # what another office had before, or has now, is no matter of this one
        before = None if row["kind"] == "moved here" else before
        after = None if row["kind"] == "moved away" else after
    return {
        "kind": row["kind"],
        "what": words.text(f"news.kind_{KINDS.get(row['kind'], row['kind'])}"),
        "home": row["home"] or words.text("news.numbered", number=row["home_number"]),
        "month": words.month(row["month"]),
        "office": row["office_name"],
        "agent": row["agent"],
        "before": before,
        "after": after,
        "effect": (after or Decimal(0)) - (before or Decimal(0)),
    }


def _on_new_sales(new: Sequence[Shown], words: Language, day: str, *, is_chain: bool) -> str:
    if not new:
        return words.text("news.none_new", day=day)
    sums: dict[str, Decimal] = {}
    for one in new:
        name = one["office"] if is_chain else one["home"]
        sums[name] = sums.get(name, Decimal(0)) + one["effect"]
    named = sorted(sums.items(), key=lambda one: -one[1])[:MOST_NAMED]
    total = sum(sums.values(), Decimal(0))
    sentence = words.text("news.new", len(new), day=day, amount=words.number(total))
    names = words.listed([f"{name} ({words.number(amount)})" for name, amount in named])
    if len(sums) == 1:
        return sentence + words.text("news.single", names=named[0][0]) + "."
    key = "largest" if not is_chain else "most" if _is_most(named, total) else "top"
    return sentence + words.text(f"news.{key}", names=names) + "."


def _is_most(named: Sequence[tuple[str, Decimal]], total: Decimal) -> bool:
    return 2 * sum((amount for _, amount in named), Decimal(0)) > total


def _on_changed_sales(changed: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    counts = {what: sum(one["kind"] in kinds for one in changed) for what, kinds in CHANGES.items()}
    parts = words.listed([words.text(f"news.{what}", count) for what, count in counts.items() if count])
    total = sum((one["effect"] for one in changed), Decimal(0))
    names = []
    for one in changed[:MOST_NAMED]:
        place = [one["home"], *([one["office"]] if is_chain else []), one["month"]]
        names.append(f"{', '.join(place)} ({words.signed(one['effect'])})")
    key = "news.changed" if round(total) else "news.changed_even"
    return words.text(key, parts=parts, amount=words.signed(total), names="; ".join(names))


def _on_budgets(budgets: Sequence[Row], words: Language, *, is_chain: bool) -> str:
    first, *others = budgets
    key = "raised" if first["amount"] > first["amount_before"] else "lowered"
    sentence = words.text(
        f"news.{key}" if is_chain else f"news.own_{key}",
        name=first["office_name"],
        period=words.period(first["month"], first["until"]),
        before=words.sek(first["amount_before"]),
        after=words.sek(first["amount"]),
    )
    return sentence + (words.text("news.more", len(others)) if others else "") + "."
