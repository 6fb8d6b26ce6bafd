"""Sentences on the same months of last year: offices of a chain, months of an office, and its agents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from pipelines.page.figures import LEAST_UNEXPLAINED, OfficeMonths, Shown, last_months, remainder, sum_of
from pipelines.page.language import Language, capitalized

MOST_BELOW, MOST_ABOVE, MOST_MONTHS, MOST_NEW = 3, 2, 2, 3
LEAST_CHANGE = Decimal("0.01")
"""An office is off last year from this part of it on."""
MOST_WITH, MOST_AGAINST = 3, 2
"""So many are named of a month's difference that go its way, and the other way."""


def offices_on_last_month(months: OfficeMonths, words: Language) -> list[str]:
    """The last whole month against the same of last year, and the offices that made the difference."""
    month = months.last_whole
    pairs = [(office, months.compared([office], [month])) for office in months.offices if month]
    offices = [
        {"name": months.names[office], "now": pair[0].commission, "before": pair[1].commission, "note": ""}
        for office, pair in pairs
        if pair
    ]
    return _on_month(months, month, offices, "news.more_offices", words) if month else []


def agents_on_last_month(
    months: OfficeMonths, month: date, agents: Sequence[Shown], words: Language
) -> list[str]:
    """A month of an office against the same of last year, and the agents who made the difference.

    `agents` have the name, now, before and a note; none where the month is not over, or an agent is unknown.
    """
    is_over = months.last_whole is not None and month <= months.last_whole
    return _on_month(months, month, agents, "news.more_agents", words) if is_over and agents else []


def _on_month(
    months: OfficeMonths, month: date, parts: Sequence[Shown], others: str, words: Language
) -> list[str]:
    """The difference of a month, and whose it is; with the others, and what is nobody's, it adds up."""
    compared = months.compared(months.offices, [month])
    if compared is None or not compared[1].commission:
        return []
    now, before = (one.commission for one in compared)
    name = words.month(month)
    sentence = words.text(
        "last_year.month",
        month=capitalized(name),
        **_difference(now, before, words),
        names=words.listed(_made_by(now - before, parts, others, words)),
    )
    if (known := compared[0].offices) == len(months.offices):
        return [sentence]
    note = words.text("cards.compared", known=known, all=len(months.offices))
    return [f"{sentence} {capitalized(note)}."]


def _made_by(total: Decimal, parts: Sequence[Shown], others: str, words: Language) -> list[str]:
    """Those who made most of a difference, the sum of the others, and what is nobody's."""
    changes = sorted(
        ((one["now"] - one["before"], one) for one in parts), key=lambda one: (-abs(one[0]), one[1]["name"])
    )
    changes = [one for one in changes if round(one[0])]
    with_it = [one for one in changes if (one[0] > 0) == (total > 0)]
    against = [one for one in changes if one not in with_it]
    named = with_it[:MOST_WITH] + against[:MOST_AGAINST]
    left = with_it[MOST_WITH:] + against[MOST_AGAINST:]
    if len(left) == 1:  # it is named as well
        named, left = with_it + against, []
    found = [_part(change, one, words) for change, one in named]
    nobodys = total - sum_of(change for change, _ in changes)
    if left:
        rest = remainder(total, [*(change for change, _ in named), nobodys])
        found.append(words.text(others, len(left), amount=words.signed(rest)))
    if abs(nobodys) >= LEAST_UNEXPLAINED:
        found.append(words.text("last_year.nobodys", amount=words.signed(nobodys)))
    return found


def _part(change: Decimal, one: Shown, words: Language) -> str:
    return words.text(
        "last_year.part",
        name=one["name"],
        change=words.signed(change),
        now=words.number(one["now"]),
        before=words.number(one["before"]),
        note=f", {one['note']}" if one["note"] else "",
    )


def offices_on_last_year(months: OfficeMonths, words: Language) -> list[str]:
    """The offices furthest off the same months of last year, and the month of each that is."""
    year = _year_to_date(months)
    found = []
    for office in months.offices:
        if year and (compared := months.compared([office], year)):
            now, before = (one.commission for one in compared)
            if before and abs(now - before) >= LEAST_CHANGE * abs(before):
                found.append((now - before, before, office))
    sentences = []
    for way, sign, most in (("below", -1, MOST_BELOW), ("above", 1, MOST_ABOVE)):
        furthest = sorted((one for one in found if one[0] * sign > 0), key=lambda one: -abs(one[0]))[:most]
        named = [
            words.text(
                "offices.off",
                name=months.names[office],
                change=words.signed(change),
                share=words.change(change / before),
                months=_furthest_months(months, office, year, sign, words),
            )
            for change, before, office in furthest
        ]
        if named:
            sentences.append(
                words.text(f"offices.{way}", period=words.period(year[0], year[-1]), names="; ".join(named))
            )
    return sentences


def office_on_last_year(months: OfficeMonths, words: Language) -> list[str]:
    """What the only office earned against the same months of last year, and the months that made it."""
    year = _year_to_date(months)
    compared = months.compared(months.offices, year) if year else None
    if compared is None or not compared[1].commission:
        return []
    [office] = months.offices
    now, before = (one.commission for one in compared)
    period = words.period(year[0], year[-1])
    sentences = [
        words.text(
            "months.against",
            period=capitalized(period),
            **_difference(now, before, words),
        )
    ]
    ways = [("above", 1), ("below", -1)]
    for way, sign in ways if now >= before else ways[::-1]:
        if named := _furthest_months(months, office, year, sign, words):
            sentences.append(words.text(f"months.{way}", months=named))
    return sentences


def _difference(now: Decimal, before: Decimal, words: Language) -> dict[str, str]:
    """Two amounts, and how far the first is off the second, as sentences name them."""
    return {
        "now": words.number(now),
        "before": words.number(before),
        "change": words.signed(now - before),
        "share": words.change((now - before) / before),
    }


def _furthest_months(
    months: OfficeMonths, office: str, year: Sequence[date], sign: int, words: Language
) -> str:
    """The two months that lost or gained most, with what they earned in both years."""
    pairs = [(month, months.compared([office], [month])) for month in year]
    known = [(month, pair[0].commission, pair[1].commission) for month, pair in pairs if pair]
    off = sorted(
        (one for one in known if sign * (one[1] - one[2]) > 0), key=lambda one: sign * (one[2] - one[1])
    )
    named = [
        words.text(
            "offices.off_month",
            month=words.month(month, known_year=month.year),
            now=words.number(now),
            before=words.number(before),
        )
        for month, now, before in off[:MOST_MONTHS]
    ]
    return words.listed(named)


def agents_on_last_year(rows: Sequence[Shown], words: Language) -> list[str]:
    """Who is furthest off the same months of last year, with the homes of both, and who is new since.

    Who began in between is neither: part of a year is compared with nothing.
    """
    sentences = []
    for way, sign in (("below", -1), ("above", 1)):
        known = [one for one in rows if one["before"] is not None and not one["new_since"]]
        off = [one for one in known if round(sign * (one["commission"] - one["before"])) > 0]
        off.sort(key=lambda one: sign * (one["before"] - one["commission"]))
        named = [
            words.text(
                "agents.off",
                one["homes_before"],
                name=one["name"],
                change=words.signed(one["commission"] - one["before"]),
                homes=words.short(one["homes"]),
                homes_before=words.short(one["homes_before"]),
                left=f", {one['left']}" if one["left"] else "",
            )
            for one in off[:MOST_ABOVE]
        ]
        if named:
            sentences.append(words.text(f"agents.{way}", names="; ".join(named)))
    new = sorted((one for one in rows if one["is_newcomer"]), key=lambda one: -one["commission"])
    named = [
        words.text(
            "agents.newcomer",
            one["homes"],
            name=one["name"],
            amount=words.number(one["commission"]),
            month=words.month(one["new_since"]),
            homes=words.short(one["homes"]),
            left=f", {one['left']}" if one["left"] else "",
        )
        for one in new[:MOST_NEW]
        if one["commission"]
    ]
    return [*sentences, words.text("agents.newcomers", names="; ".join(named))] if named else sentences


def _year_to_date(months: OfficeMonths) -> tuple[date, ...]:
    last = months.last_whole
    return months.since_held(last_months(last, last.month)) if last else ()
