"""What changed since last week and why, in three sentences and more to unfold, and the sales behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

from pipelines.page.downloads import download
from pipelines.page.facts import Facts, Row
from pipelines.page.figures import Shown
from pipelines.page.language import Language

CHANGES = {"gone": ("gone",), "amount": ("amount",), "moved": ("moved", "moved here", "moved away")}
"""Changes of sales that were known before, by their words, and the kinds of rows that each counts."""
KINDS = {"moved here": "here", "moved away": "away"}
"""The words of kinds of rows that are not their own."""
COLUMNS = ("sale", "what", "office", "agent", "before", "after", "effect")
OF_NO_SALE = ("since", "closed", "reason", "budget", "entered")
MOST_NAMED = 2
MOST_LISTED = 12
MOST_SHOWN, MOST_PLACES, MOST_REASONS = 3, 3, 3
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
    details = _details(facts.news, words, timezone, is_chain=is_chain)
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


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, Decimal(0))


def _rest(amounts: Sequence[Decimal], named: int) -> Decimal:
    """What is left of a sum after the first ones, so that what is shown adds up in whole numbers."""
    first = [one.quantize(Decimal(1), ROUND_HALF_UP) for one in (_sum(amounts), *amounts[:named])]
    return first[0] - _sum(first[1:])


def _of_kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _closed(rows: Sequence[Row]) -> list[Shown]:
    """Closed months that changed, each with its reasons, the largest first."""
    reasons = _of_kind(rows, "reason")
    return [
        {
            **row,
            "change": row["amount"] - row["amount_before"],
            "reasons": [one for one in reasons if _whose(one) == _whose(row)],
        }
        for row in _of_kind(rows, "closed")
    ]


def _whose(row: Row) -> tuple[str, date]:
    return row["office_id"], row["month"]


def _budgets(rows: Sequence[Row], kind: str) -> list[Shown]:
    """Changed budgets by office and year, those that changed most first, each with its agents' changes."""
    found: dict[tuple[str, date], Shown] = {}
    for row in _of_kind(rows, kind):
        whole = found.setdefault(_whose(row), {**row, "agents": []})
        change = (row["amount"] or Decimal(0)) - (row["amount_before"] or Decimal(0))
        whole["agents"].append({**row, "change": change})
    for whole in found.values():
        whole["change"] = _sum(one["change"] for one in whole["agents"])
    return sorted(found.values(), key=lambda one: -abs(one["change"]))


def _details(rows: Sequence[Row], words: Language, timezone: ZoneInfo, *, is_chain: bool) -> list[str]:
    """A sentence for each closed month, and for each office's budgets that no sentence told in full."""
    closed = _closed(rows)
    details = [_closed_month(one, words, timezone, is_chain=is_chain) for one in closed[:MOST_LISTED]]
    if others := closed[MOST_LISTED:]:
        rest = _sum(one["change"] for one in others)
        details.append(words.text("news.closed_rest", len(others), amount=words.signed(rest)))
    entered, budgets = (_budgets(rows, kind) for kind in ("entered", "budget"))
    if len(entered) > 1:
        details += [_entered_budget(one, words, is_chain=is_chain) for one in entered[:MOST_LISTED]]
    return details + [_changed_budget(one, words, is_chain=is_chain) for one in budgets[1:MOST_LISTED]]


def _sentences(
    rows: Sequence[Row], sales: Sequence[Shown], words: Language, day: str, *, is_chain: bool
) -> list[str]:
    """The most important first."""
    closed, budgets, entered = _closed(rows), _budgets(rows, "budget"), _budgets(rows, "entered")
    if not (sales or closed or budgets or entered):
        return [words.text("news.nothing", day=day)]
    new = [one for one in sales if one["kind"] == "new"]
    changed = [one for one in sales if one["kind"] != "new"]
    sentences = [_on_new_sales(new, words, day, is_chain=is_chain)]
    if closed:
        sentences.append(_on_closed_months(closed, words, is_chain=is_chain))
        unexplained = _sum(row["unexplained"] for row in closed)
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
    way = "to" if row["kind"] == "moved away" else "from"
    moved = [words.text(f"news.{way}", where=where)] if (where := _elsewhere(row, words)) else []
    return {
        "kind": row["kind"],
        "what": " ".join([words.text(f"news.kind_{KINDS.get(row['kind'], row['kind'])}"), *moved]),
        "from_or_to": "".join(moved),
        "home": _home(row, words),
        "sale": _home_in_full(row, words),
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
    return 2 * _sum(amount for _, amount in named) > total


def _on_changed_sales(changed: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    counts = {what: sum(one["kind"] in kinds for one in changed) for what, kinds in CHANGES.items()}
    parts = words.listed([words.text(f"news.{what}", count) for what, count in counts.items() if count])
    total = _sum(one["effect"] for one in changed)
    names = []
    for one in changed[:MOST_NAMED]:
        place = [one["home"], *([one["office"]] if is_chain else []), one["month"]]
        moved = [one["from_or_to"]] if one["from_or_to"] else []
        names.append(f"{', '.join(place + moved)} ({words.signed(one['effect'])})")
    if others := changed[MOST_NAMED:]:
        rest = _rest([one["effect"] for one in changed], MOST_NAMED)
        names.append(words.text("news.more_sales", len(others), amount=words.signed(rest)))
    key = "changed_one" if len(changed) == 1 else "changed" if round(total) else "changed_even"
    return words.text(f"news.{key}", parts=parts, amount=words.signed(total), names="; ".join(names))


def _on_closed_months(closed: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    """What closed months gained or lost, the largest of them, and the sales that changed the first."""
    named: list[str] = []
    for one in closed[:MOST_PLACES]:
        why = [] if is_chain and named else _briefly(one, words)
        place = f"{_place(one, words, is_chain=is_chain)} {words.signed(one['change'])}"
        named.append(place + (f" ({', '.join(why)})" if why else ""))
    if others := closed[MOST_PLACES:]:
        rest = _rest([one["change"] for one in closed], MOST_PLACES)
        named.append(words.text("news.more_months", len(others), amount=words.signed(rest)))
    total = _sum(one["change"] for one in closed)
    return words.text("news.closed", len(closed), amount=words.signed(total), names=words.listed(named))


def _briefly(closed: Shown, words: Language) -> list[str]:
    """The sales that explain a closed month, with what each added where it is not all of it."""
    reasons, unexplained = closed["reasons"], closed["unexplained"]
    if len(reasons) == 1 and abs(unexplained) < LEAST_UNEXPLAINED:
        return [_home(reasons[0], words)]
    found = [f"{_home(one, words)} {words.signed(one['amount'])}" for one in reasons[:MOST_NAMED]]
    if others := reasons[MOST_NAMED:]:
        rest = _rest([one["amount"] for one in reasons], MOST_NAMED)
        found.append(words.text("news.more_sales", len(others), amount=words.signed(rest)))
    if reasons and abs(unexplained) >= LEAST_UNEXPLAINED:
        found.append(words.text("news.no_sale", amount=words.signed(unexplained)))
    return found


def _place(row: Row, words: Language, *, is_chain: bool) -> str:
    """A month, and whose it is."""
    month = words.month(row["month"], known_year=row["at_utc"].year)
    return words.text("news.month_of", month=month, name=row["office_name"]) if is_chain else month


def _home(row: Row, words: Language) -> str:
    return row["home"] or words.text("news.numbered", number=row["home_number"])


def _home_in_full(row: Row, words: Language) -> str:
    """A home, and of a sale that is listed no more its number and day of contract."""
    if not (row["home"] and row["contract_on"]):
        return _home(row, words)
    number = words.text("news.numbered", number=row["home_number"])
    day = words.day(row["contract_on"])
    return words.text("news.last_listed", home=row["home"], number=number, day=day)


def _closed_month(closed: Shown, words: Language, timezone: ZoneInfo, *, is_chain: bool) -> str:
    """What became of a closed month, through which sales, and when those were noted; it adds up."""
    reasons = [_reason(one, words, timezone) for one in closed["reasons"][:MOST_REASONS]]
    if others := closed["reasons"][MOST_REASONS:]:
        rest = _rest([one["amount"] for one in closed["reasons"]], MOST_REASONS)
        reasons.append(words.text("news.more_sales", len(others), amount=words.signed(rest)))
    if abs(closed["unexplained"]) >= LEAST_UNEXPLAINED:
        reasons.append(words.text("news.no_reason", amount=words.signed(closed["unexplained"])))
    place = _place(closed, words, is_chain=is_chain)
    return words.text(
        "news.closed_month",
        place=place[:1].upper() + place[1:],
        before=words.number(closed["amount_before"]),
        after=words.number(closed["amount"]),
        amount=words.signed(closed["change"]),
        reasons="; ".join(reasons),
    )


def _reason(row: Row, words: Language, timezone: ZoneInfo) -> str:
    what = words.text(f"news.was_{row['kind_of_change'].replace(' ', '_')}", where=_elsewhere(row, words))
    return words.text(
        "news.reason_share" if row["is_part"] else "news.reason",
        home=_home_in_full(row, words),
        what=what,
        amount=words.signed(row["amount"]),
        day=_day(row["noted_at_utc"], words, timezone),
    )


def _elsewhere(row: Row, words: Language) -> str:
    """Where a sale that moved came from, or went to: another office, another month, or both."""
    month = row["other_month"]
    return ", ".join(
        [*([row["other_office"]] if row["other_office"] else []), *([words.month(month)] if month else [])]
    )


def _on_entered_budgets(entered: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    """Budgets of agents who had none: of one office in full, else the offices with the largest."""
    if len(entered) == 1:
        return _entered_budget(entered[0], words, is_chain=is_chain)
    whole = {"month": min(one["month"] for one in entered), "until": max(one["until"] for one in entered)}
    places = _by_place(entered, words, is_chain=is_chain)
    named = [f"{one['place']} ({_agents_and_sum(one, words)})" for one in places[:MOST_PLACES]]
    if others := places[MOST_PLACES:]:
        rest = _sum(one["change"] for one in others)
        named.append(words.text("news.more_offices", len(others), amount=words.sek(rest)))
    return words.text(
        "news.entered" if is_chain else "news.own_entered",
        period=_budget_months(whole, words),
        amount=words.sek(_sum(one["change"] for one in entered)),
        names=words.listed(named),
    )


def _by_place(budgets: Sequence[Shown], words: Language, *, is_chain: bool) -> list[Shown]:
    """Budgets of all years by office, or those of one office by their months, the largest first."""
    found: dict[str, Shown] = {}
    for one in budgets:
        place = one["office_name"] if is_chain else _budget_months(one, words)
        whole = found.setdefault(
            one["office_id"] if is_chain else place, {"place": place, "agents": [], "change": Decimal(0)}
        )
        whole["agents"] += one["agents"]
        whole["change"] += one["change"]
    return sorted(found.values(), key=lambda one: -abs(one["change"]))


def _agents_and_sum(entered: Shown, words: Language) -> str:
    agents = len({one["agent"] for one in entered["agents"]} - {None})
    amount = words.sek(entered["change"])
    return f"{words.text('news.agents', agents)}, {amount}" if agents else amount


def _entered_budget(entered: Shown, words: Language, *, is_chain: bool) -> str:
    """Whose budgets were entered, and the office's sum over the same months before and after."""
    names = [
        f"{_budget_of(one, words)} ({words.sek(one['change'])})" for one in entered["agents"][:MOST_REASONS]
    ]
    if others := entered["agents"][MOST_REASONS:]:
        rest = _sum(one["change"] for one in others)
        names.append(words.text("news.more_agents", len(others), amount=words.sek(rest)))
    key = "entered_more" if entered["office_before"] else "entered_first"
    return words.text(
        f"news.{key}" if is_chain else f"news.own_{key}",
        name=entered["office_name"],
        period=_budget_months(entered, words),
        names=words.listed(names),
        before=words.sek(entered["office_before"]),
        after=words.sek(entered["office_after"]),
    )


def _on_budgets(budgets: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    """The largest change in full, and the other offices with theirs."""
    first, *others = budgets
    sentence = _changed_budget(first, words, is_chain=is_chain)
    if not others:
        return sentence
    places = _by_place(others, words, is_chain=is_chain)
    named = [f"{one['place']} ({words.signed(one['change'])})" for one in places[:MOST_PLACES]]
    if left := places[MOST_PLACES:]:
        rest = _sum(one["change"] for one in left)
        named.append(words.text("news.more_offices", len(left), amount=words.signed(rest)))
    return f"{sentence} {words.text('news.also_changed', names=words.listed(named))}"


def _changed_budget(budget: Shown, words: Language, *, is_chain: bool) -> str:
    """The office's budget of some months before and after, and by whom it changed; it adds up."""
    before, after = budget["office_before"] or Decimal(0), budget["office_after"] or Decimal(0)
    key = "raised" if after > before else "lowered" if after < before else "kept"
    names = [_budget_change(one, words) for one in budget["agents"][:MOST_REASONS]]
    if others := budget["agents"][MOST_REASONS:]:
        rest = _sum(one["change"] for one in others)
        names.append(words.text("news.more_agents", len(others), amount=words.signed(rest)))
    return words.text(
        f"news.{key}" if is_chain else f"news.own_{key}",
        name=budget["office_name"],
        period=_budget_months(budget, words),
        before=words.sek(before),
        after=words.sek(after),
        names=words.listed(names),
    )


def _budget_change(agent: Shown, words: Language) -> str:
    notes = [words.signed(agent["change"])]
    if agent["amount"] is None:
        notes.append(words.text("news.withdrawn"))
    elif agent["amount_before"] is None:
        notes.append(words.text("news.kind_new"))
    return f"{_budget_of(agent, words)} ({', '.join(notes)})"


def _budget_of(agent: Shown, words: Language) -> str:
    return agent["agent"] or words.text("news.nobodys")


def _budget_months(row: Row, words: Language) -> str:
    """A year by its number, where it is whole."""
    first, last = row["month"], row["until"]
    if (first.year, first.month, last.month) == (last.year, 1, 12):
        return str(first.year)
    return words.period(first, last)
