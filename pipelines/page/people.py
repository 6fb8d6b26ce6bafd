"""Sections about people: headcount, who is falling and rising, an office's agents, and leaderboards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pipelines.months import Month
from pipelines.page.facts import Agent, Earner, Facts, Headcount, Trend
from pipelines.page.language import Language
from pipelines.page.tables import PageTable, TableColumn, Writer

BOARDS = {"year": 0, "month": 1, "quarter": 0, "twelve months": 12}
"""The periods of the leaderboard, and their months; none where these depend on the month."""
MOST_TRENDS = 10
MOST_PLACES = 10


@dataclass(frozen=True)
class People:
    """Headcount in a line and by month, and the agents who changed most on last year."""

    figures: list[str]
    months: PageTable | None
    falling: PageTable | None
    rising: PageTable | None


def people_section(facts: Facts, writer: Writer) -> People | None:
    """None where nobody knows who was at work."""
    words, rows = writer.words, facts.headcount
    if not rows:
        return None
    text = words.of("people")
    columns = [
        TableColumn[Headcount](words.text("page.month"), lambda r: r.month, "month"),
        TableColumn[Headcount](text("agents"), lambda r: r.agents, "count"),
        TableColumn[Headcount](text("joined"), lambda r: r.joined, "count"),
        TableColumn[Headcount](text("back"), lambda r: r.back, "count"),
        TableColumn[Headcount](text("gone"), lambda r: r.gone, "count"),
        TableColumn[Headcount](text("quiet"), lambda r: r.quiet, "count"),
        TableColumn[Headcount](text("moved_in"), lambda r: r.moved_in, "count", is_minor=True),
        TableColumn[Headcount](text("moved_out"), lambda r: r.moved_out, "count", is_minor=True),
    ]
    figures = [words.text("people.newest", rows[0].agents, month=words.month(rows[0].month))]
    year = rows[:12]
    joined, gone = [one.joined for one in year], [one.gone for one in year]
    if len(year) == 12 and None not in joined and None not in gone:
        joined_sum, gone_sum = (sum(one or 0 for one in some) for some in (joined, gone))
        figures.append(
            words.text("people.year", joined=words.number(joined_sum), gone=words.number(gone_sum))
        )
    falling = [one for one in facts.trends if one.difference < 0]
    rising = [one for one in facts.trends if one.difference > 0][::-1]
    return People(
        figures,
        writer.table(text("months"), columns, rows),
        _trends(falling, text("falling"), writer),
        _trends(rising, text("rising"), writer),
    )


def _trends(rows: Sequence[Trend], name: str, writer: Writer) -> PageTable | None:
    text = writer.words.of("people")
    columns = [
        TableColumn[Trend](text("agent"), lambda r: r.name),
        TableColumn[Trend](text("office"), lambda r: r.office_name),
        TableColumn[Trend](text("before"), lambda r: r.commission_before, "money"),
        TableColumn[Trend](text("now"), lambda r: r.commission, "money"),
        TableColumn[Trend](text("difference"), lambda r: r.difference, "signed money"),
        TableColumn[Trend](text("change"), lambda r: r.commission_change, "change"),
    ]
    return writer.table(name, columns, rows, most=MOST_TRENDS)


def agents_section(facts: Facts, writer: Writer) -> PageTable | None:
    """What each agent of an office earned this year, and of an own budget; none without any."""
    words, less, text = writer.words, writer.without, writer.words.of("agents")
    rows = [one for one in facts.agents if one.commission is not None or one.budget is not None]

    def gap(
        row: Agent, reading: Callable[[Decimal | None], Decimal | None] = lambda one: one
    ) -> Decimal | None:
        reached = reading(row.reached)
        return None if reached is None or row.budget is None else reached - row.budget

    def share(reached: Decimal | None, budget: Decimal | None) -> Decimal | None:
        return None if reached is None or not budget else reached / budget

    of_budget = [
        TableColumn[Agent](text("budget"), lambda r: r.budget, "stated money", is_minor=True),
        TableColumn[Agent](
            text("of_budget"),
            lambda r: share(r.reached, r.budget),
            "share",
            lambda r: share(less(r.reached), r.budget),
        ),
        TableColumn[Agent](text("gap"), gap, "signed money", lambda r: gap(r, less)),
    ]
    columns = [
        TableColumn[Agent](text("agent"), lambda r: r.name, note=lambda r: note_on_agent(r, words)),
        TableColumn[Agent](text("commission"), lambda r: r.commission, "money", has_bar=True),
        TableColumn[Agent](text("before"), lambda r: r.commission_before, "money", is_minor=True),
        TableColumn[Agent](
            text("last_year"),
            lambda r: r.commission_change,
            "change",
            note=lambda r: (
                text("not_compared") if r.stay and r.commission_before and r.commission_change is None else ""
            ),
        ),
        *(of_budget if any(one.budget is not None for one in rows) else []),
        TableColumn[Agent](text("homes"), lambda r: r.homes, "parts"),
        TableColumn[Agent](text("a_month"), lambda r: r.a_month, "money"),
    ]
    if not rows:
        return None
    last = rows[0].month
    first = next((one.first_month for one in facts.periods if one.period == "year"), last.replace(month=1))
    heading = words.text("agents.heading", period=words.period(min(first, last), last))
    return writer.table(heading, columns, rows)


def note_on_agent(agent: Agent, words: Language) -> str:
    """Who has left, moved, is quiet or new, and whose commission is known in part."""
    notes = [] if agent.is_complete else [words.text("page.in_part")]
    if agent.stay:
        known = "" if agent.stay_month else "_once"
        key = f"agents.{agent.stay.replace(' ', '_')}{known}"
        month = words.month(agent.stay_month) if agent.stay_month else ""
        notes.append(words.text(key, month=month, office=agent.stay_office))
    return ", ".join(notes)


@dataclass(frozen=True)
class Board:
    """The best of a period."""

    title: str
    table: PageTable


def boards(facts: Facts, writer: Writer, kind: str) -> list[Board]:
    """The boards of users or offices that the file has something for; who has left says so."""
    words, found, text = writer.words, [], writer.words.of("leaders")
    for name, count in BOARDS.items():
        rows = [one for one in facts.earners if (one.kind, one.period) == (kind, name)]
        if not rows:
            continue
        last = rows[0].month
        months = count or (last.month if name == "year" else (last.month - 1) % 3 + 1)
        if name == "quarter" and months == 1:  # the month once more
            continue
        first = Month.of(last).plus(1 - months).first_day
        title = words.text(f"leaders.{name.replace(' ', '_')}", period=words.period(first, last))
        columns = [
            TableColumn[Earner](text("place"), lambda r: r.place, "count", note=lambda r: _moved(r, words)),
            TableColumn[Earner](
                text("name"), lambda r: r.name, note=lambda r: text("left") if r.has_left else ""
            ),
            TableColumn[Earner](
                words.text("figures.commission"), lambda r: r.commission, "money", has_bar=True
            ),
            TableColumn[Earner](words.text("figures.homes"), lambda r: r.homes, "parts"),
        ]
        table = writer.table(title, columns, rows, most=sum(one.place <= MOST_PLACES for one in rows))
        if table:
            found.append(Board(title, table))
    return found


def _moved(earner: Earner, words: Language) -> str:
    """By how many places an earner moved since the period that ended a month earlier."""
    if earner.is_new:
        return words.text("leaders.new")
    return f"{'▲' if earner.rank_change > 0 else '▼'}{abs(earner.rank_change)}" if earner.rank_change else ""
