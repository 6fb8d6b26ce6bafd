"""Sections about people: headcount, largest declines and gains, an office's agents, and leaderboards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipelines.months import Month
from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language
from pipelines.page.tables import PageColumn, PageTable, Section, Writer, budget_columns, period_name

LEADERBOARDS = {"year": 0, "month": 1, "quarter": 0, "twelve months": 12}
"""The length in months of each leaderboard's period, or 0 if the length depends on the last month."""
MAX_TRENDS = 10
MAX_PLACES = 10  # a shared tenth place can add rows
HEADCOUNT = (
    PageColumn("page.month", kind="month"),
    *(PageColumn(name, kind="count") for name in ("agents", "joined", "back", "gone", "quiet")),
)
MOVES = tuple(PageColumn(name, kind="count", is_minor=True) for name in ("moved_in", "moved_out"))
TRENDS = (
    PageColumn("agent", "name"),
    PageColumn("office", "office_name"),
    PageColumn("before", "commission_before", "money"),
    PageColumn("now", "commission", "money"),
    PageColumn("difference", kind="signed money"),
    PageColumn("change", "commission_change", "change"),
)


def people_section(facts: Facts, writer: Writer) -> Section | None:
    """Headcount, and the agents whose commission fell or rose the most. None if there is no headcount."""
    words, rows = writer.words, facts.headcount
    if not rows:
        return None
    figures = [words.text("people.newest", rows[0].agents, month=words.month(rows[0].month))]
    is_chain, newest_year = rows[0].kind == "chain", rows[:12]
    if len(newest_year) == 12 and None not in [row.joined for row in newest_year]:
        names = ("joined", "gone", "moved_in", "moved_out")
        sums = {name: words.number(sum(getattr(row, name) for row in newest_year)) for name in names}
        figures.append(words.text("people.year" if is_chain else "people.year_with_moves", **sums))
    columns = HEADCOUNT if is_chain else (*HEADCOUNT, *MOVES)  # moves within the chain do not alter its count
    falling = [row for row in facts.trends if row.difference < 0]
    rising = [row for row in facts.trends if row.difference > 0][::-1]
    last = max((row.last_month for row in facts.trends), default=rows[0].month)
    period = words.period(Month.of(last).plus(-2).first_day, last)
    return Section(
        "people",
        words.text("people.heading"),
        ("agents", "directory"),
        is_open=False,
        figures=figures,
        collapsed=[
            writer.table(words.text("people.months"), "people", columns, rows),
            *(
                writer.table(words.text(key, period=period), "people", TRENDS, agents, limit=MAX_TRENDS)
                for key, agents in (("people.falling", falling), ("people.rising", rising))
            ),
        ],
    )


def agents_section(facts: Facts, writer: Writer) -> Section | None:
    """One office's agents, this year and by month. None if no commission or budget of this year is known."""
    words, (share, gap) = writer.words, budget_columns("actual")
    known = [row for row in facts.agents if row.commission is not None or row.budget is not None]
    rows = [row for row in known if row.period == "year"]
    if not rows:
        return None

    def budget_note(row: Row) -> str:
        budgeted, months = row.budget_months, Month.of(last).since(Month.of(first)) + 1
        return "" if (budgeted or months) >= months else words.text("offices.no_budget", budgeted, all=months)

    columns = [
        PageColumn("agent", "name", note=lambda row: agent_note(row, words)),
        PageColumn("commission", kind="money", has_bar=True),
        PageColumn("before", "commission_before", "money", is_minor=True),
        PageColumn("last_year", "commission_change", "change"),
        PageColumn("budget", kind="money", is_minor=True),
        replace(share, note=budget_note),
        gap,
        PageColumn("homes", kind="parts"),
        PageColumn("a_month", kind="money"),
    ]
    last = rows[0].month
    starts = [row.began_month or row.first_month for row in facts.periods if row.period == "year"]
    first = max([last.replace(month=1), *starts])
    name = words.text("agents.heading", period=words.period(min(first, last), last))
    so_far = {row.month: f", {words.text('page.so_far')}" for row in facts.months if row.is_open}
    months: list[PageTable | None] = []
    for month in sorted({row.month for row in known if row.period == "month"}, reverse=True):
        title = words.text("agents.heading", period=words.month(month) + so_far.get(month, ""))
        of_month = [row for row in known if (row.period, row.month) == ("month", month)]
        months.append(writer.table(title, "agents", columns, of_month))
    return Section(
        "ranked", name, ("agents", "budgets"), collapsed=months,
        table=writer.table(name, "agents", columns, rows), notes=[words.text("agents.note")],
    )  # fmt: skip


def agent_note(agent: Row, words: Language) -> str:
    """Notes on an agent's status, such as `left`, `new` or `moved to`, and on incomplete commission."""
    notes = [] if agent.is_complete else [words.text("page.in_part")]
    if agent.status:
        key = f"agents.{agent.status.replace(' ', '_')}{'' if agent.status_month else '_once'}"
        month = words.month(agent.status_month) if agent.status_month else ""
        notes.append(words.text(key, month=month, office=agent.status_office))
    return ", ".join(notes)


def leaders_section(facts: Facts, writer: Writer) -> Section | None:
    """The leaderboards of agents, or None if all are empty."""
    words = writer.words
    boards = [_leaderboard(facts, writer, name) for name in LEADERBOARDS]
    if not any(boards):
        return None
    return Section(
        "leaders", words.text("leaders.heading"), ("agents", "commission"), is_open=False,
        collapsed=boards, notes=[words.text("leaders.note")],
    )  # fmt: skip


def _leaderboard(facts: Facts, writer: Writer, name: str) -> PageTable | None:
    words = writer.words
    rows = [row for row in facts.earners if row.period == name]
    if not rows:
        return None
    last = rows[0].month
    months = LEADERBOARDS[name] or (last.month if name == "year" else (last.month - 1) % 3 + 1)
    if (name == "quarter" and months == 1) or (name == "twelve months" and last.month == 12):
        return None  # the leaderboard of the month or year shows the same
    first = Month.of(last).plus(1 - months).first_day
    values = {"period": words.period(first, last), "year": period_name("year", last, words)}
    title = words.text(f"leaders.{name.replace(' ', '_')}", **values)
    columns: Sequence[PageColumn] = [
        PageColumn("place", kind="count", note=lambda row: _rank_change(row, words)),
        PageColumn("name", note=lambda row: words.text("leaders.left") if row.has_left else ""),
        PageColumn("people.office", "office_name"),
        PageColumn("figures.commission", kind="money", has_bar=True),
        PageColumn("figures.homes", kind="parts"),
    ]
    limit = sum(row.place <= MAX_PLACES for row in rows)
    return writer.table(title, "leaders", columns, rows, limit=limit)


def _rank_change(earner: Row, words: Language) -> str:
    """Places gained or lost since the period that ended a month earlier, or a note on a new agent."""
    if earner.is_new:
        return words.text("leaders.new")
    return f"{'▲' if earner.rank_change > 0 else '▼'}{abs(earner.rank_change)}" if earner.rank_change else ""
