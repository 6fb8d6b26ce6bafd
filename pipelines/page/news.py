"""What changed since last week and why, in three sentences and more to unfold, and the sales behind them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
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
OF_NO_SALE = ("since", "closed", "budget", "entered")
MOST_NAMED = 2
MOST_LISTED = 12
MOST_SHOWN, MOST_PLACES = 3, 3
LEAST_UNEXPLAINED = 1
"""Less than this is rounding."""


def news_section(facts: Facts, words: Language, timezone: ZoneInfo, *, is_chain: bool) -> Shown:
    """Sentences on new sales, closed months, changed sales and budgets, and the largest of the sales.

    Three sentences are shown, the others wait behind a click. Within a chain a sale that moved from one
    office to another is told once; at an office it came, or went.
    """
    since = next((row["at_utc"] for row in facts.news if row["kind"] == "since"), None)
    if since is None:
        key = "unknown" if "news" in facts.missing else "first"
        sentences = [words.text(f"news.{key}")]
        return {"sentences": sentences, "more": [], "sales": [], "count": 0, "download": None}
    sales = [
        _sale(row, words, is_chain=is_chain)
        for row in facts.news
        if row["kind"] not in OF_NO_SALE and not (is_chain and row["kind"] == "moved away")
    ]
    sales.sort(key=lambda one: -abs(one["effect"]))
    sentences = _sentences(facts.news, sales, words, _day(since, words, timezone), is_chain=is_chain)
    closed = _of_kind(facts.news, "closed")
    details = [_closed_month(row, words, timezone, is_chain=is_chain) for row in closed[:MOST_LISTED]]
    columns = [one for one in COLUMNS if is_chain or one != "office"]
    head = [words.text(f"news.{one}") for one in columns]
    rows = [[one[column] for column in columns] for one in sales]
    return {
        "sentences": sentences[:MOST_SHOWN],
        "more": sentences[MOST_SHOWN:] + details,
        "sales": sales[:MOST_LISTED],
        "count": len(sales),
        "download": download(words, words.text("news.heading"), head, rows) if sales else None,
    }


def _day(at_utc: datetime, words: Language, timezone: ZoneInfo) -> str:
    return words.day(at_utc.replace(tzinfo=UTC).astimezone(timezone).date())


def _of_kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _sentences(
    rows: Sequence[Row], sales: Sequence[Shown], words: Language, day: str, *, is_chain: bool
) -> list[str]:
    """The most important first."""
    closed, budgets, entered = (_of_kind(rows, kind) for kind in ("closed", "budget", "entered"))
    if not (sales or closed or budgets or entered):
        return [words.text("news.nothing", day=day)]
    new = [one for one in sales if one["kind"] == "new"]
    changed = [one for one in sales if one["kind"] != "new"]
    sentences = [_on_new_sales(new, words, day, is_chain=is_chain)]
    if closed:
        sentences.append(_on_closed_months(closed, words, is_chain=is_chain))
        unexplained = sum((row["unexplained"] for row in closed), Decimal(0))
        if abs(unexplained) >= LEAST_UNEXPLAINED:
            sentences.append(words.text("news.unexplained", amount=words.signed(unexplained)))
    if entered:
        sentences.append(_on_entered_budgets(entered, words, is_chain=is_chain))
    if budgets:
        sentences.append(_on_budgets(budgets, words, is_chain=is_chain))
    if changed:
        place = len(sentences) if closed else 1
        sentences.insert(place, _on_changed_sales(changed, words, is_chain=is_chain))
    elif new and not closed:
        sentences.insert(1, words.text("news.unchanged"))
    return sentences


def _sale(row: Row, words: Language, *, is_chain: bool) -> Shown:
    """A sale with what its change added to the commission of the chain, or of the office."""
    before, after = row["amount_before"], row["amount"]
    if not is_chain:  # what another office had before, or has now, is no matter of this one
        before = None if row["kind"] == "moved here" else before
        after = None if row["kind"] == "moved away" else after
    return {
        "kind": row["kind"],
        "what": words.text(f"news.kind_{KINDS.get(row['kind'], row['kind'])}"),
        "home": _home(row, words),
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
    key = "changed_one" if len(changed) == 1 else "changed" if round(total) else "changed_even"
    return words.text(f"news.{key}", parts=parts, amount=words.signed(total), names="; ".join(names))


def _on_closed_months(closed: Sequence[Row], words: Language, *, is_chain: bool) -> str:
    """What closed months gained or lost, the largest of them, and the sale that changed the first most."""
    named: list[str] = []
    for row in closed[:MOST_PLACES]:
        is_named = row["home_number"] and not (is_chain and named)
        home = _home(row, words) if is_named else ""
        effect = words.signed(row["amount"] - row["amount_before"])
        named.append(f"{_place(row, words, is_chain=is_chain)} {effect}" + (f" ({home})" if home else ""))
    if others := len(closed) - len(named):
        named.append(words.text("news.more_months", others))
    total = sum((row["amount"] - row["amount_before"] for row in closed), Decimal(0))
    return words.text("news.closed", len(closed), amount=words.signed(total), names=words.listed(named))


def _place(row: Row, words: Language, *, is_chain: bool) -> str:
    """A month, and whose it is."""
    month = words.month(row["month"], known_year=row["at_utc"].year)
    return words.text("news.month_of", month=month, name=row["office_name"]) if is_chain else month


def _home(row: Row, words: Language) -> str:
    return row["home"] or words.text("news.numbered", number=row["home_number"])


def _closed_month(row: Row, words: Language, timezone: ZoneInfo, *, is_chain: bool) -> str:
    """What became of a closed month, through which sale, and when that was noted."""
    reasons = []
    if row["home_number"]:
        what = row["kind_of_change"].replace(" ", "_")
        noted = _day(row["noted_at_utc"], words, timezone)
        reasons.append(
            words.text("news.reason", home=_home(row, words), what=words.text(f"news.was_{what}"), day=noted)
        )
    if abs(row["unexplained"]) >= LEAST_UNEXPLAINED:
        reasons.append(words.text("news.no_reason", amount=words.signed(row["unexplained"])))
    return words.text(
        "news.closed_month",
        place=_place(row, words, is_chain=is_chain),
        before=words.number(row["amount_before"]),
        after=words.number(row["amount"]),
        amount=words.signed(row["amount"] - row["amount_before"]),
        reasons="; ".join(reasons),
    )


def _on_entered_budgets(entered: Sequence[Row], words: Language, *, is_chain: bool) -> str:
    first, *others = entered
    sentence = words.text(
        "news.entered" if is_chain else "news.own_entered",
        first["agent_count"],
        name=first["office_name"],
        period=_budget_months(first, words),
    )
    return sentence + _other_offices(others, "also_entered", words) + "."


def _on_budgets(budgets: Sequence[Row], words: Language, *, is_chain: bool) -> str:
    first, *others = budgets
    key = "raised" if first["amount"] > first["amount_before"] else "lowered"
    sentence = words.text(
        f"news.{key}" if is_chain else f"news.own_{key}",
        name=first["office_name"],
        period=_budget_months(first, words),
        before=words.sek(first["amount_before"]),
        after=words.sek(first["amount"]),
    )
    return sentence + _other_offices(others, "also_changed", words) + "."


def _budget_months(row: Row, words: Language) -> str:
    """A year by its number, where it is whole."""
    first, last = row["month"], row["until"]
    if (first.year, first.month, last.month) == (last.year, 1, 12):
        return str(first.year)
    return words.period(first, last)


def _other_offices(others: Sequence[Row], key: str, words: Language) -> str:
    if not others:
        return ""
    names = [row["office_name"] for row in others[:MOST_PLACES]]
    if left := len(others) - len(names):
        names.append(words.text("news.more_offices", left))
    return words.text(f"news.{key}", names=words.listed(names))
