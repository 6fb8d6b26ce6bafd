"""What changed since last week and why, in three sentences and more to unfold, and the sales behind them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.budget_news import (
    by_office_and_year,
    changed_budget,
    entered_budget,
    on_budgets_so_far,
    on_changed_budgets,
    on_entered_budgets,
)
from pipelines.page.closed_months import (
    are_large,
    closed_month,
    closed_months,
    day_of,
    elsewhere,
    home_in_full,
    home_of,
    on_closed_months,
    on_the_rest,
    sale_of,
)
from pipelines.page.downloads import download
from pipelines.page.facts import Facts, Row
from pipelines.page.figures import Shown, named_and_others, remainder, sum_of
from pipelines.page.language import Language

CHANGES = {"gone": ("gone",), "amount": ("amount",), "moved": ("moved", "moved here", "moved away")}
"""Changes of sales that were known before, by their words, and the kinds of rows that each counts."""
KINDS = {"moved here": "here", "moved away": "away", "new share": "new"}
"""The words of kinds of rows that are not their own."""
COLUMNS = ("sale", "what", "office", "agent", "before", "after", "effect")
OF_NO_SALE = ("since", "closed", "reason", "work", "price", "budget", "entered", "budgeted", "left")
OF_OFFICES, OF_THE_CHAIN = ("moved away", "new share"), ("new",)
"""Kinds of rows that are told at an office alone, and of the chain alone."""
MOST_NAMED = 2
MOST_LISTED = 12
MOST_SHOWN, MOST_PLACES = 3, 3


def news_section(facts: Facts, words: Language, timezone: ZoneInfo, *, is_chain: bool) -> Shown:
    """Sentences on new sales, closed months, changed sales and budgets, and the largest of the sales.

    Three sentences are shown, the others wait behind a click. Within a chain a sale that moved from one
    office to another is told once; at an office it came, or went. A new sale counts at an office by the
    shares of its agents, and is told whole in the table of the chain.
    """
    since = next((row["at_utc"] for row in facts.news if row["kind"] == "since"), None)
    if since is None:
        key = "unknown" if "news" in facts.missing else "first"
        sentences = [words.text(f"news.{key}")]
        return {"sentences": sentences, "more": [], "sales": [], "count": 0, "download": None}
    sales = [
        _sale(row, words, is_chain=is_chain)
        for row in facts.news
        if row["kind"] not in (*OF_NO_SALE, *(OF_OFFICES if is_chain else OF_THE_CHAIN))
    ]
    sales.sort(key=lambda one: -abs(one["effect"]))
    closed = closed_months(facts.news)
    left = {one["name"] for one in facts.agents if one["has_left"]}
    entered, budgets = (
        by_office_and_year({**row, "has_left": row["agent"] in left} for row in _of_kind(facts.news, kind))
        for kind in ("entered", "budget")
    )
    day = day_of(since, words, timezone)
    sentences = _sentences(facts.news, sales, closed, entered, budgets, words, day, is_chain=is_chain)
    details = _details(closed, entered, budgets, words, timezone, is_chain=is_chain)
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


def _of_kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _details(
    closed: Sequence[Shown],
    entered: Sequence[Shown],
    budgets: Sequence[Shown],
    words: Language,
    timezone: ZoneInfo,
    *,
    is_chain: bool,
) -> list[str]:
    """A sentence for each closed month, and for each office's budgets that no sentence told in full."""
    small = closed if len(closed) > 1 and not are_large(closed, is_chain=is_chain) else ()
    details = [on_closed_months(small, words, is_chain=is_chain)] if small else []
    details += [closed_month(one, words, timezone, is_chain=is_chain) for one in closed[:MOST_LISTED]]
    if others := closed[MOST_LISTED:]:
        total = sum_of(one["change"] for one in closed)
        rest = remainder(total, (one["change"] for one in closed[:MOST_LISTED]))
        details.append(words.text("news.closed_rest", len(others), amount=words.signed(rest)))
    if len(entered) > 1:
        details += [entered_budget(one, words, is_chain=is_chain) for one in entered[:MOST_LISTED]]
    return details + [changed_budget(one, words, is_chain=is_chain) for one in budgets[1:MOST_LISTED]]


def _sentences(
    rows: Sequence[Row],
    sales: Sequence[Shown],
    closed: Sequence[Shown],
    entered: Sequence[Shown],
    budgets: Sequence[Shown],
    words: Language,
    day: str,
    *,
    is_chain: bool,
) -> list[str]:
    """The most important first; a changed sale that is told as a reason of a closed month is told once."""
    left = _of_kind(rows, "left")
    prices = _of_kind(rows, "price")
    if not (sales or closed or budgets or entered or left or prices):
        return [words.text("news.nothing", day=day)]
    has_large = are_large(closed, is_chain=is_chain)
    reasons = {sale_of(one) for month in closed if has_large for one in month["reasons"]}
    new = [one for one in sales if one["kind"] in ("new", "new share")]
    changed = [one for one in sales if one not in new and one["told_as"] not in reasons]
    shares = [_sale(row, words, is_chain=False) for row in _of_kind(rows, "new share")]
    sentences = [_on_new_sales(new, shares, words, day, is_chain=is_chain)]
    if left:
        sentences.append(_on_those_who_left(left, words, is_chain=is_chain))
    if has_large:
        sentences.append(on_closed_months(closed, words, is_chain=is_chain))
        sentences += on_the_rest(closed, words)
    if entered:
        so_far = on_budgets_so_far(_of_kind(rows, "budgeted"), words)
        sentences.append(" ".join([on_entered_budgets(entered, words, is_chain=is_chain), *so_far]))
    if budgets:
        sentences.append(on_changed_budgets(budgets, words, is_chain=is_chain))
    if changed:
        place = len(sentences) if has_large else 1 + bool(left)
        sentences.insert(
            place,
            _on_changed_sales(
                changed, words, is_chain=is_chain, known="other_sales_known" if reasons else "sales_known"
            ),
        )
    elif (new or prices or closed) and not has_large:
        sentences.insert(1 + bool(left), _on_no_changed_sale(prices, words))
    return sentences


def _on_no_changed_sale(prices: Sequence[Row], words: Language) -> str:
    """That no commission of a sale is another, and which prices are."""
    if not prices:
        return words.text("news.unchanged")
    best, others = named_and_others(prices, MOST_NAMED)
    names = [f"{home_of(one, words)} ({words.signed(one['amount'] - one['amount_before'])})" for one in best]
    if others:
        amount = words.signed(sum_of(one["amount"] - one["amount_before"] for one in others))
        names.append(words.text("news.more_sales", len(others), amount=amount))
    return words.text("news.unchanged_but_prices", len(prices), names=words.listed(names))


def _sale(row: Row, words: Language, *, is_chain: bool) -> Shown:
    """A sale with what its change added to the commission of the chain, or of the office."""
    before, after = row["amount_before"], row["amount"]
    if not is_chain:  # what another office had before, or has now, is no matter of this one
        before = None if row["kind"] == "moved here" else before
        after = None if row["kind"] == "moved away" else after
    way = "to" if row["kind"] == "moved away" else "from"
    moved = [words.text(f"news.{way}", where=where)] if (where := elsewhere(row, words)) else []
    is_share = row["kind"] == "new share"
    what = "new_share" if is_share and row["is_part"] else KINDS.get(row["kind"], row["kind"])
    is_whole_of_shared = row["is_part"] and not is_share and not is_chain
    whole = [words.text("news.whole_sale")] if is_whole_of_shared else []
    return {
        "kind": row["kind"],
        "what": ", ".join([" ".join([words.text(f"news.kind_{what}"), *moved]), *whole]),
        "from_or_to": "".join(moved),
        "told_as": sale_of(row),
        "home": home_of(row, words),
        "sale": home_in_full(row, words),
        "month": words.month(row["month"]),
        "office": row["office_name"],
        "agent": row["agent"],
        "before": before,
        "after": after,
        "effect": (after or Decimal(0)) - (before or Decimal(0)),
    }


def _on_new_sales(
    new: Sequence[Shown], shares: Sequence[Shown], words: Language, day: str, *, is_chain: bool
) -> str:
    """New sales of a chain by the offices of their agents, or those of an office by their homes."""
    if not new:
        return words.text("news.none_new", day=day)
    sums: dict[str, Decimal] = {}
    for one in shares:
        name = one["office"] if is_chain else one["home"]
        sums[name] = sums.get(name, Decimal(0)) + one["effect"]
    named = sorted(sums.items(), key=lambda one: -one[1])[:MOST_NAMED]
    total = sum_of(one["effect"] for one in new)
    sentence = words.text("news.new", len(new), day=day, amount=words.number(total))
    names = words.listed([f"{name} ({words.number(amount)})" for name, amount in named])
    if len(sums) == 1:
        return sentence + words.text("news.single", names=named[0][0]) + "."
    if not is_chain and len(sums) <= MOST_NAMED:
        return sentence + words.text("news.single", names=names) + "."
    key = "largest" if not is_chain else "most" if _is_most(named, total) else "top"
    return sentence + words.text(f"news.{key}", names=names) + "."


def _is_most(named: Sequence[tuple[str, Decimal]], total: Decimal) -> bool:
    return 2 * sum_of(amount for _, amount in named) > total


def _on_those_who_left(left: Sequence[Row], words: Language, *, is_chain: bool) -> str:
    """Agents among the best of their offices who are not in the directory any more."""
    best, others = named_and_others(left, MOST_PLACES)
    named = [
        f"{one['agent']}{', ' + one['office_name'] if is_chain else ''} ({words.number(one['amount'])})"
        for one in best
    ]
    if others:
        amount = words.number(sum_of(one["amount"] for one in others))
        named.append(words.text("news.more_agents", len(others), amount=amount))
    period = words.period(left[0]["month"], left[0]["until"])
    return words.text("news.left", len(left), period=period, names="; ".join(named))


def _on_changed_sales(changed: Sequence[Shown], words: Language, *, is_chain: bool, known: str) -> str:
    counts = {what: sum(one["kind"] in kinds for one in changed) for what, kinds in CHANGES.items()}
    parts = words.listed([words.text(f"news.{what}", count) for what, count in counts.items() if count])
    total = sum_of(one["effect"] for one in changed)
    names = []
    for one in changed[:MOST_NAMED]:
        place = [one["home"], *([one["office"]] if is_chain else []), one["month"]]
        moved = [one["from_or_to"]] if one["from_or_to"] else []
        names.append(f"{', '.join(place + moved)} ({words.signed(one['effect'])})")
    if others := changed[MOST_NAMED:]:
        rest = remainder(total, (one["effect"] for one in changed[:MOST_NAMED]))
        names.append(words.text("news.more_sales", len(others), amount=words.signed(rest)))
    key = "changed_one" if len(changed) == 1 else "changed" if round(total) else "changed_even"
    sales = words.text(f"news.{known}")
    return words.text(
        f"news.{key}", sales=sales, parts=parts, amount=words.signed(total), names="; ".join(names)
    )
