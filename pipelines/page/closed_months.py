"""Months that were over and got another commission since: by how much, and through which sales and work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.facts import Row
from pipelines.page.figures import LEAST_UNEXPLAINED, Shown, named_and_others, remainder, sum_of
from pipelines.page.language import Language, capitalized, local_day

MOST_NAMED, MOST_PLACES, MOST_REASONS = 2, 3, 3
LEAST_SHARE, LEAST_SHARE_OF_OFFICE = Decimal("0.01"), Decimal("0.001")
"""The part of a month's commission from which on a change is told openly, to the chain and to an office."""


def closed_months(rows: Sequence[Row]) -> list[Shown]:
    """Closed months that changed, each with its reasons, the largest first.

    `reasons` are sales, `work` the writings and valuations of agents, and `rest` is of neither; they add up.
    A sale `is_new` that is also told among the new ones.
    """
    new = {sale_of(one) for one in rows if one["kind"] in ("new", "new share")}
    found: list[Shown] = []
    for row in (one for one in rows if one["kind"] == "closed"):
        own = [one for one in rows if (one["office_id"], one["month"]) == (row["office_id"], row["month"])]
        work = [one for one in own if one["kind"] == "work"]
        found.append(
            {
                **row,
                "change": row["amount"] - row["amount_before"],
                "reasons": [{**one, "is_new": sale_of(one) in new} for one in own if one["kind"] == "reason"],
                "work": work,
                "rest": row["unexplained"] - sum_of(one["amount"] for one in work),
            }
        )
    return found


def are_large(closed: Sequence[Shown], part: str = "change", *, is_chain: bool = True) -> bool:
    """Whether the change of one of the months, or a part of it, is to be told openly."""
    least = LEAST_SHARE if is_chain else LEAST_SHARE_OF_OFFICE
    return any(abs(one[part]) >= max(least * abs(one["amount_before"]), LEAST_UNEXPLAINED) for one in closed)


def on_closed_months(closed: Sequence[Shown], words: Language, *, is_chain: bool) -> str:
    """What closed months gained or lost, the largest of them, and what changed these."""
    total = sum_of(one["change"] for one in closed)
    named: list[str] = []
    for one in closed[:MOST_PLACES]:
        why = _briefly(one, words)
        place = f"{_place(one, words, is_chain=is_chain)} {words.signed(one['change'])}"
        named.append(place + (f" ({', '.join(why)})" if why else ""))
    if others := closed[MOST_PLACES:]:
        rest = remainder(total, (one["change"] for one in closed[:MOST_PLACES]))
        named.append(words.text("news.more_months", len(others), amount=words.signed(rest)))
    return words.text("news.closed", len(closed), amount=words.signed(total), names=words.listed(named))


def on_the_rest(closed: Sequence[Shown], words: Language) -> list[str]:
    """How much neither sales nor the work of agents explain, where that is a large part of a month."""
    if not are_large(closed, "rest"):
        return []
    causes = {_possible(one) for one in closed if abs(one["rest"]) >= LEAST_UNEXPLAINED}
    cause = words.text(f"news.perhaps_{causes.pop() if len(causes) == 1 else 'any'}")
    amount = words.signed(sum_of(one["rest"] for one in closed))
    return [words.text("news.unexplained", amount=amount, cause=cause)]


def _possible(closed: Shown) -> str:
    """What the rest of a change may be, as far as the totals of the office's agents tell."""
    if closed["agents_change"] is None:
        return "any"
    nobodys = closed["change"] - closed["agents_change"]
    if abs(nobodys) < LEAST_UNEXPLAINED:
        return "share"
    return "nobodys" if abs(nobodys - closed["rest"]) < LEAST_UNEXPLAINED else "share_or_nobodys"


def _briefly(closed: Shown, words: Language) -> list[str]:
    """What explains a closed month, with what each added where it is not all of it."""
    reasons, work, rest = closed["reasons"], closed["work"], closed["rest"]
    if len(reasons) + len(work) == 1 and abs(rest) < LEAST_UNEXPLAINED:
        return [_sale(reasons[0], words) if reasons else ", ".join(_of_work(work[0], words))]
    found = [f"{_sale(one, words)} {words.signed(one['amount'])}" for one in reasons[:MOST_NAMED]]
    if others := reasons[MOST_NAMED:]:
        amount = words.signed(_of_other_sales(closed, MOST_NAMED))
        found.append(words.text("news.more_sales", len(others), amount=amount))
    best, more = named_and_others(work, MOST_NAMED)
    found += [f"{one['agent']} {words.signed(one['amount'])}" for one in best]
    if more:
        found.append(_more_agents(more, words))
    if found and abs(rest) >= LEAST_UNEXPLAINED:
        key = "something_else" if work else "no_sale"
        found.append(words.text(f"news.{key}", amount=words.signed(rest)))
    return found


def _sale(reason: Shown, words: Language) -> str:
    home = home_of(reason, words)
    return words.text("news.counted_as_new", home=home) if reason["is_new"] else home


def _more_agents(more: Sequence[Row], words: Language) -> str:
    amount = words.signed(sum_of(one["amount"] for one in more))
    return words.text("news.more_agents", len(more), amount=amount)


def _of_work(work: Row, words: Language) -> list[str]:
    """An agent, and by how many writings and valuations more or fewer."""
    kinds = [
        words.text(f"news.{kind}_{'more' if work[kind] > 0 else 'fewer'}", parts, parts=words.short(parts))
        for kind in ("writings", "valuations")
        if (parts := abs(work[kind] or 0))
    ]
    if not kinds:
        is_known = work["writings"] is not None and work["valuations"] is not None
        kinds = [words.text("news.as_many" if is_known else "news.other_work")]
    return [work["agent"], words.listed(kinds)]


def _of_other_sales(closed: Shown, named: int) -> Decimal:
    """The part of a closed month's change that is of none of the sales named and of nothing else said."""
    said = [one["amount"] for one in closed["work"]]
    said += [closed["rest"]] if abs(closed["rest"]) >= LEAST_UNEXPLAINED else []
    return remainder(closed["change"], [*said, *(one["amount"] for one in closed["reasons"][:named])])


def _place(row: Row, words: Language, *, is_chain: bool) -> str:
    """A month, and whose it is."""
    month = words.month(row["month"], known_year=row["at_utc"].year)
    return words.text("news.month_of", month=month, name=row["office_name"]) if is_chain else month


def sale_of(row: Row) -> tuple[object, ...]:
    """What a sale is known by within an office and month, as a new or changed one or as a reason."""
    return row["office_id"], row["month"], row["home_number"]


def home_of(row: Row, words: Language) -> str:
    """The home of a sale, or its number."""
    return row["home"] or words.text("news.numbered", number=row["home_number"])


def home_in_full(row: Row, words: Language) -> str:
    """A home, and of a sale that is listed no more its number and day of contract."""
    if not (row["home"] and row["contract_on"]):
        return home_of(row, words)
    number = words.text("news.numbered", number=row["home_number"])
    day = words.day(row["contract_on"])
    return words.text("news.last_listed", home=row["home"], number=number, day=day)


def closed_month(closed: Shown, words: Language, timezone: ZoneInfo, *, is_chain: bool) -> str:
    """What became of a closed month, through which sales and work, and when those were noted; it adds up."""
    reasons = [_reason(one, words, timezone) for one in closed["reasons"][:MOST_REASONS]]
    if others := closed["reasons"][MOST_REASONS:]:
        amount = words.signed(_of_other_sales(closed, MOST_REASONS))
        reasons.append(words.text("news.more_sales", len(others), amount=amount))
    best, more = named_and_others(closed["work"], MOST_REASONS)
    for one in best:
        amount, day = words.signed(one["amount"]), day_of(one["noted_at_utc"], words, timezone)
        reasons.append(
            words.text(
                "news.reason", home="", what=": ".join(_of_work(one, words)), amount=amount, day=day
            ).strip()
        )
    if more:
        reasons.append(_more_agents(more, words))
    if abs(closed["rest"]) >= LEAST_UNEXPLAINED:
        cause = words.text(f"news.perhaps_{_possible(closed)}")
        key = "something_else_perhaps" if closed["work"] else "no_reason"
        reasons.append(words.text(f"news.{key}", amount=words.signed(closed["rest"]), cause=cause))
    place = _place(closed, words, is_chain=is_chain)
    return words.text(
        "news.closed_month",
        place=capitalized(place),
        before=words.number(closed["amount_before"]),
        after=words.number(closed["amount"]),
        amount=words.signed(closed["change"]),
        reasons="; ".join(reasons),
    )


def _reason(row: Row, words: Language, timezone: ZoneInfo) -> str:
    what = words.text(f"news.was_{row['kind_of_change'].replace(' ', '_')}", where=elsewhere(row, words))
    return words.text(
        "news.reason_share" if row["is_part"] else "news.reason",
        home=home_in_full(row, words),
        what=what,
        amount=words.signed(row["amount"]),
        day=day_of(row["noted_at_utc"], words, timezone),
    )


def elsewhere(row: Row, words: Language) -> str:
    """Where a sale that moved came from, or went to: another office, another month, or both."""
    month = row["other_month"]
    return ", ".join(
        [*([row["other_office"]] if row["other_office"] else []), *([words.month(month)] if month else [])]
    )


def day_of(at_utc: datetime, words: Language, timezone: ZoneInfo) -> str:
    """The day of an instant on the brokerage's clock, in words."""
    return words.day(local_day(at_utc, timezone))
