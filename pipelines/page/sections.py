"""Sections of the pages: rows of sql/page as cards, charts and tables; none where there is no row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.months import Month as CalendarMonth
from pipelines.page.charts import Chart, ChartMonth, chart
from pipelines.page.facts import (
    Agent,
    BudgetChange,
    ChangedMonth,
    ChangeReason,
    Doubt,
    DueSale,
    Earner,
    Facts,
    Leads,
    Month,
    Period,
    Receivable,
)
from pipelines.page.language import Language, Number, local_day
from pipelines.page.tables import Cell, Column, Table, Writer

PERIODS = ("running", "month", "year", "twelve")
BOARDS = {"year": 0, "month": 1, "quarter": 0, "twelve months": 12}
"""The periods of the leaderboard, and their months; none where these depend on the month."""


@dataclass(frozen=True)
class Figure:
    """A headline figure, and its change on the year before."""

    name: str
    cell: Cell
    change: float | None


@dataclass(frozen=True)
class Card:
    """A period: the commission, what it is made of, the budget, and what to know of them."""

    title: str
    period: str
    commission: Figure
    factors: list[Figure]
    more: list[Figure]
    progress: Cell | None
    goal: str
    notes: list[str]


def cards(facts: Facts, writer: Writer) -> list[Card]:
    """One card per period; a file without a month has none."""
    found = {one.period: one for one in facts.periods if one.office_id is None}
    return [
        _card(found[name], writer)
        for name in PERIODS
        if name in found and (found[name].is_over or name == "running")
    ]


def _card(row: Period, writer: Writer) -> Card:
    words = writer.words

    def figure(name: str, kind: str, value: Number | None, change: float | None) -> Figure:
        return Figure(words.text(f"figures.{name}"), writer.cell(kind, value), change)

    progress = None
    goal = ""
    if row.budget is not None and row.actual is not None:
        share = row.actual / row.budget
        progress = writer.cell("share", share, writer.without(share))
        goal = words.text("cards.of_budget", budget=words.brief(row.budget)) + _of_offices(
            row.budgeted, row, words
        )
    return Card(
        title=words.text(f"cards.{row.period}"),
        period=words.period(row.first_month, row.last_month),
        commission=figure("commission", "money", row.commission, row.commission_change),
        factors=[
            figure("homes", "parts", row.homes, row.homes_change),
            figure("average_price", "brief", row.average_price, row.average_price_change),
            Figure(
                words.text("figures.fee"),
                writer.cell("percent", row.fee_share, writer.without(row.fee_share)),
                row.fee_share_change,
            ),
        ],
        more=[
            figure("average", "money", row.average_commission, row.average_commission_change),
            figure("beside_sales", "money", row.beside_sales, row.beside_sales_change),
            figure("per_agent", "money", row.per_agent, row.per_agent_change),
        ],
        progress=progress,
        goal=goal,
        notes=_notes(row, writer),
    )


def _notes(row: Period, writer: Writer) -> list[str]:
    """What to know of a period: how far it is known, and what it is compared with."""
    words, notes = writer.words, []
    if row.unheld:
        notes.append(words.text("cards.unheld", row.unheld))
    if row.cut_short:
        notes.append(words.text("cards.cut", row.cut_short))
    if row.first_month > row.wanted_month:
        notes.append(words.text("cards.held_since", month=words.month(row.first_month)))
    if not row.is_over:
        notes.append(words.text("cards.running_note"))
    elif not row.compared:
        key = "began" if row.offices == 1 and row.began_month else "no_year_before"
        month = words.month(row.began_month) if row.began_month else ""
        notes.append(words.text(f"cards.{key}", month=month))
    elif row.compared < row.offices:
        notes.append(words.text("cards.compared", known=row.compared, all=row.offices))
    return notes


def _of_offices(known: int, row: Period, words: Language) -> str:
    return words.text("cards.of_offices", known=known, all=row.offices) if known < row.offices else ""


def year_end(facts: Facts, writer: Writer) -> tuple[Cell, Cell, str] | None:
    """Where the year will end and its share of the year's budget; none where no office has a forecast."""
    row = _year(facts)
    if row is None or row.year_forecast is None or row.year_budget is None:
        return None
    share = row.year_forecast / row.year_budget
    return (
        writer.cell("brief", row.year_forecast, writer.without(row.year_forecast)),
        writer.cell("share", share, writer.without(share)),
        _of_offices(row.forecast, row, writer.words),
    )


def _year(facts: Facts) -> Period | None:
    return next((one for one in facts.periods if one.period == "year" and one.office_id is None), None)


@dataclass(frozen=True)
class Months:
    """Charts of the same months, and their numbers; charts of amounts once for each reading."""

    charts: list[Chart]
    less: list[Chart]
    others: list[Chart]
    table: Table | None
    pale: str

    @property
    def drawn(self) -> list[Chart]:
        return [*self.charts, *self.others]


def months_section(facts: Facts, writer: Writer) -> Months | None:
    """Commission, homes, commission per agent, price and fee by month; none without a month."""
    rows, words = facts.months, writer.words
    if not rows:
        return None

    def drawn(
        name: str,
        value: Callable[[Month], Number | None],
        before: Callable[[Month], Number | None],
        budget: Callable[[Month], Number | None] = lambda _: None,
        write: Callable[[Number | None], str] = words.brief,
        finest: float = 0,
    ) -> Chart:
        shown = [ChartMonth(r.month, value(r), before(r), budget(r), r.is_open, r.is_part) for r in rows]
        return chart(words.text(f"figures.{name}"), shown, words, write, finest=finest)

    less = writer.without
    amounts = [
        drawn("commission", lambda r: r.commission, lambda r: r.commission_before, lambda r: r.budget),
        drawn("per_agent", lambda r: r.per_agent, lambda r: r.per_agent_before),
    ]
    pale = [
        words.text(f"months.{kind}")
        for kind, has in (("open", any(r.is_open for r in rows)), ("part", any(r.is_part for r in rows)))
        if has
    ]
    columns = [
        Column[Month](words.text("page.month"), lambda r: r.month, "month", note=lambda r: _part(r, words)),
        Column[Month](words.text("figures.commission"), lambda r: r.commission, "money"),
        Column[Month](words.text("months.before"), lambda r: r.commission_before, "money"),
        Column[Month](words.text("months.budget"), lambda r: r.budget, "stated money"),
        Column[Month](words.text("figures.homes"), lambda r: r.homes, "parts"),
        Column[Month](words.text("months.before"), lambda r: r.homes_before, "parts"),
        Column[Month](words.text("months.budget"), lambda r: r.homes_budget, "parts"),
        Column[Month](words.text("figures.average_price"), lambda r: r.average_price, "stated money"),
        Column[Month](
            words.text("figures.fee"), lambda r: r.fee_share, "percent", lambda r: less(r.fee_share)
        ),
        Column[Month](words.text("figures.per_agent"), lambda r: r.per_agent, "money"),
    ]
    return Months(
        charts=amounts,
        less=[
            drawn(
                "commission",
                lambda r: less(r.commission),
                lambda r: less(r.commission_before),
                lambda r: r.budget,
            ),
            drawn("per_agent", lambda r: less(r.per_agent), lambda r: less(r.per_agent_before)),
        ]
        if writer.vat_rate is not None
        else [],
        others=[
            drawn(
                "homes", lambda r: r.homes, lambda r: r.homes_before, lambda r: r.homes_budget, words.short, 1
            ),
        ],
        table=writer.table(words.text("months.heading"), columns, rows[::-1]),
        pale=", ".join(pale),
    )


def _part(row: Month, words: Language) -> str:
    return words.text("page.so_far" if row.is_open else "page.in_part") if row.is_open or row.is_part else ""


def offices_section(facts: Facts, writer: Writer, files: Mapping[str, str]) -> Table | None:
    """The year of each office in one table, those furthest behind their budget first."""
    rows = [one for one in facts.periods if one.office_id is not None]
    if not rows:
        return None
    words, less = writer.words, writer.without
    page = facts.scopes[0]
    names = dict(zip(page.office_ids, page.office_names, strict=True))

    def gap(
        row: Period, reading: Callable[[Decimal | None], Decimal | None] = lambda one: one
    ) -> Decimal | None:
        actual = reading(row.actual)
        return None if actual is None or row.budget is None else actual - row.budget

    def share(part: Decimal | None, whole: Decimal | None) -> Decimal | None:
        return None if part is None or not whole else part / whole

    def note(row: Period) -> str:
        if row.cut_short or (row.until_on and row.until_on < row.last_month):
            return words.text("offices.until", day=words.day(row.until_on))
        if row.unheld:
            return words.text("offices.months_missing")
        return words.text("page.active_since", month=words.month(row.began_month)) if row.began_month else ""

    def text(key: str) -> str:
        return words.text(f"offices.{key}")

    columns = [
        Column[Period](
            text("office"), lambda r: names.get(r.office_id or "", r.office_id), note=note,
            link=lambda r: files.get(r.office_id or "", ""),
        ),
        Column[Period](text("gap"), gap, "signed money", lambda r: gap(r, less)),
        Column[Period](
            text("of_budget"), lambda r: share(r.actual, r.budget), "share",
            lambda r: share(less(r.actual), r.budget),
        ),
        Column[Period](text("commission"), lambda r: r.commission, "money", has_bar=True),
        Column[Period](text("last_year"), lambda r: r.commission_change, "change"),
        Column[Period](text("year_end"), lambda r: r.year_forecast, "money", is_minor=True),
        Column[Period](
            text("year_end_share"), lambda r: share(r.year_forecast, r.year_budget), "share",
            lambda r: share(less(r.year_forecast), r.year_budget),
        ),
        Column[Period](text("homes"), lambda r: r.homes, "parts"),
        Column[Period](text("price"), lambda r: r.average_price, "brief", is_minor=True),
        Column[Period](
            text("fee"), lambda r: r.fee_share, "percent", lambda r: less(r.fee_share), is_minor=True
        ),
        Column[Period](text("agents"), lambda r: r.agents, "parts", is_minor=True),
        Column[Period](text("per_agent"), lambda r: r.per_agent, "money"),
    ]  # fmt: skip
    if all(one.budget is None for one in rows):
        columns = [one for one in columns if one.head not in {text("gap"), text("of_budget")}]
    if all(one.year_forecast is None for one in rows):
        columns = [one for one in columns if one.head not in {text("year_end"), text("year_end_share")}]
    nothing = Decimal(0)
    rows.sort(key=lambda r: (gap(r) if gap(r) is not None else nothing, -(r.commission or nothing)))
    return writer.table(text("heading"), columns, rows)


def agents_section(facts: Facts, writer: Writer) -> Table | None:
    """What each agent of an office earned this year, and of an own budget; none without any."""
    words = writer.words
    rows = [one for one in facts.agents if one.commission is not None or one.budget is not None]

    def gap(
        row: Agent, reading: Callable[[Decimal | None], Decimal | None] = lambda one: one
    ) -> Decimal | None:
        reached = reading(row.reached)
        return None if reached is None or row.budget is None else reached - row.budget

    def text(key: str) -> str:
        return words.text(f"agents.{key}")

    columns = [
        Column[Agent](text("agent"), lambda r: r.name, note=lambda r: note_on_agent(r, words)),
        Column[Agent](text("commission"), lambda r: r.commission, "money", has_bar=True),
        Column[Agent](text("last_year"), lambda r: r.commission_change, "change"),
        Column[Agent](text("gap"), gap, "signed money", lambda r: gap(r, writer.without)),
        Column[Agent](text("homes"), lambda r: r.homes, "parts"),
        Column[Agent](text("a_month"), lambda r: r.a_month, "money"),
    ]
    if all(one.budget is None for one in rows):
        columns = [one for one in columns if one.head != text("gap")]
    return writer.table(text("heading"), columns, rows)


def note_on_agent(agent: Agent, words: Language) -> str:
    """Who has left or was not seen lately, who is new, and whose commission is known in part."""
    notes = [] if agent.is_complete else [words.text("page.in_part")]
    if agent.has_left:
        notes.append(words.text("agents.left"))
    if agent.last_seen:
        notes.append(words.text("agents.last_seen", month=words.month(agent.last_seen)))
    elif agent.new_since:
        notes.append(words.text("agents.new_since", month=words.month(agent.new_since)))
    return ", ".join(notes)


@dataclass(frozen=True)
class Changes:
    """What changed since an earlier publication: figures in one line, and two tables."""

    since: str
    figures: list[str]
    months: Table | None
    budgets: Table | None


def changes_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Changes | None:
    """None where there is no earlier publication."""
    words = writer.words
    if not facts.basis or facts.basis[0].since_utc is None:
        return None
    figures = [
        words.text(f"changes.{name}", count, amount=words.brief(amount, has_plus=True))
        for row in facts.sales_since
        for name, count, amount in (
            ("new", row.new_count, row.new_commission),
            ("gone", row.gone_count, row.gone_commission),
            ("changed", row.changed_count, row.changed_commission),
        )
        if count
    ]
    if facts.changes:
        total = sum((one.difference for one in facts.changes), Decimal(0))
        figures.append(
            words.text("changes.months", len(facts.changes), amount=words.brief(total, has_plus=True))
        )
    if facts.budget_changes:
        figures.append(words.text("changes.budgets", len(facts.budget_changes)))
    return Changes(
        since=words.day(local_day(facts.basis[0].since_utc, timezone)),
        figures=figures or [words.text("changes.nothing")],
        months=_changed_months(facts, writer, timezone),
        budgets=_changed_budgets(facts, writer),
    )


@dataclass(frozen=True)
class Explained:
    """A changed month with one of its reasons."""

    month: ChangedMonth
    reason: ChangeReason | None

    @property
    def amount(self) -> Decimal | None:
        return self.reason.amount if self.reason else None


def _changed_months(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Table | None:
    """Closed months that changed, each with a row for each of its reasons."""
    words, less = writer.words, writer.without
    rows: list[Explained] = []
    for month in facts.changes:
        key = (month.office_id, month.month)
        reasons = [one for one in facts.change_reasons if (one.office_id, one.month) == key]
        rows += [Explained(month, one) for one in reasons] or [Explained(month, None)]

    def noted(row: Explained) -> date | None:
        at_utc = row.reason.noted_at_utc if row.reason else None
        return local_day(at_utc, timezone) if at_utc else None

    def text(key: str) -> str:
        return words.text(f"changes.{key}")

    columns = [
        Column[Explained](text("office"), lambda r: r.month.office_name),
        Column[Explained](text("month"), lambda r: r.month.month, "month"),
        Column[Explained](text("before"), lambda r: r.month.amount_before, "money", is_minor=True),
        Column[Explained](text("after"), lambda r: r.month.amount_after, "money", is_minor=True),
        Column[Explained](
            text("difference"),
            lambda r: r.month.difference,
            "signed money",
            lambda r: less(r.month.difference),
        ),
        Column[Explained](text("reason"), lambda r: _reason(r.reason, words) if r.reason else None, "words"),
        Column[Explained](text("explains"), lambda r: r.amount, "signed money", lambda r: less(r.amount)),
        Column[Explained](text("noted"), noted, "day", is_minor=True),
    ]
    return writer.table(text("closed"), columns, rows)


def _reason(reason: ChangeReason, words: Language) -> str:
    """What explains a part of a change, by its kind: a sale, an agent, nobody, or what is still awaited."""
    kind = words.label("reasons", reason.kind)
    if reason.estate_id:
        home = reason.home or words.text("changes.numbered", number=reason.home_number)
        month = words.month(reason.other_month) if reason.other_month else None
        other = ", ".join(filter(None, (reason.other_office, month)))
        return f"{home}: {kind} ({other})" if other else f"{home}: {kind}"
    if reason.agent:
        return f"{reason.agent}: {kind}"
    return f"{kind} {reason.awaited_reports}" if reason.awaited_reports else kind


def _changed_budgets(facts: Facts, writer: Writer) -> Table | None:
    words = writer.words

    def text(key: str) -> str:
        return words.text(f"changes.{key}")

    columns = [
        Column[BudgetChange](text("office"), lambda r: r.office_name),
        Column[BudgetChange](text("period"), lambda r: words.period(r.first_month, r.last_month)),
        Column[BudgetChange](text("before"), lambda r: r.amount_before, "stated money"),
        Column[BudgetChange](text("after"), lambda r: r.amount_after, "stated money"),
        Column[BudgetChange](text("difference"), lambda r: r.difference, "signed money"),
        Column[BudgetChange](text("agents"), lambda r: r.agents, "count"),
    ]
    return writer.table(text("budget_table"), columns, facts.budget_changes)


@dataclass(frozen=True)
class Owed:
    """Commission that is signed and not received: sums by age, offices, and the sales due longest."""

    bands: list[tuple[str, str]]
    offices: Table | None
    sales: Table | None
    unnoted: int
    counted: str


def owed_section(facts: Facts, writer: Writer) -> Owed:
    """By how long it has been due, the most overdue office first."""
    words = writer.words
    noted = [one for one in facts.receivables if one.is_receipt_noted]

    def text(key: str) -> str:
        return words.text(f"owed.{key}")

    bands: list[tuple[str, Callable[[Receivable], Decimal | None]]] = [
        ("outstanding", lambda r: r.outstanding),
        ("not_due", lambda r: r.not_due),
        ("to_30", lambda r: r.due_to_30),
        ("to_60", lambda r: r.due_to_60),
        ("longer", lambda r: r.due_longer),
        ("undated", lambda r: r.undated),
    ]
    sums = [(name, sum((value(one) or Decimal(0) for one in noted), Decimal(0))) for name, value in bands]
    offices = [
        Column[Receivable](text("office"), lambda r: r.office_name),
        Column[Receivable](text("homes"), lambda r: r.homes, "count", is_minor=True),
        *(Column[Receivable](text(name), value, "stated money") for name, value in bands),
    ]
    sales = [
        Column[DueSale](text("home"), lambda r: r.home),
        Column[DueSale](text("agent"), lambda r: r.agent),
        Column[DueSale](text("possession"), lambda r: r.access_on, "day"),
        Column[DueSale](text("days"), lambda r: r.days_due, "count"),
        Column[DueSale](text("to_come"), lambda r: r.to_be_received_on, "day", is_minor=True),
        Column[DueSale](text("amount"), lambda r: r.due, "stated money"),
    ]
    return Owed(
        bands=[(text(name), words.brief(amount)) for name, amount in sums if amount or name != "undated"]
        if noted
        else [],
        offices=writer.table(text("caption"), offices, noted) if len(facts.receivables) > 1 else None,
        sales=writer.table(
            text("caption_due"), sales, sorted(facts.due_sales, key=lambda r: (-r.days_due, -r.due))
        ),
        unnoted=len(facts.receivables) - len(noted),
        counted=words.day(max(one.counted_on for one in noted)) if noted else "",
    )


@dataclass(frozen=True)
class Board:
    """The best of a period."""

    title: str
    table: Table


def boards(facts: Facts, writer: Writer, kind: str) -> list[Board]:
    """The boards of users or offices that the file has something for; who has left says so."""
    words, found = writer.words, []
    for name, count in BOARDS.items():
        rows = [one for one in facts.earners if (one.kind, one.period) == (kind, name)]
        if not rows:
            continue
        last = rows[0].month
        months = count or (last.month if name == "year" else (last.month - 1) % 3 + 1)
        if name == "quarter" and months == 1:  # the month once more
            continue
        first = CalendarMonth.of(last).plus(1 - months).first_day
        title = words.text(f"leaders.{name.replace(' ', '_')}", period=words.period(first, last))
        columns = [
            Column[Earner](
                words.text("leaders.place"), lambda r: r.place, "count", note=lambda r: _moved(r, words)
            ),
            Column[Earner](
                words.text("leaders.name"), lambda r: r.name,
                note=lambda r: words.text("agents.left") if r.has_left else "",
            ),
            Column[Earner](words.text("figures.commission"), lambda r: r.commission, "money", has_bar=True),
            Column[Earner](words.text("figures.homes"), lambda r: r.homes, "parts"),
        ]  # fmt: skip
        table = writer.table(title, columns, rows)
        if table:
            found.append(Board(title, table))
    return found


def _moved(earner: Earner, words: Language) -> str:
    """By how many places an earner moved since the period that ended a month earlier."""
    if earner.rank_change is None:
        return words.text("leaders.new")
    return f"{'▲' if earner.rank_change > 0 else '▼'}{abs(earner.rank_change)}" if earner.rank_change else ""


@dataclass(frozen=True)
class LeadsSection:
    """Leads by side and way, by month, kind, state and office."""

    sides: Table | None
    chart: Chart | None
    tables: list[Table]


def leads_section(facts: Facts, writer: Writer) -> LeadsSection | None:
    """None when there is no lead."""
    words = writer.words
    if not facts.leads:
        return None
    incoming = [one for one in facts.leads if one.way == "incoming lead"]
    by_month = {one.name: one.leads for one in incoming if one.part == "month"}
    months = [one.month for one in facts.months]
    shown = [ChartMonth(one, by_month.get(f"{one:%Y-%m}"), is_open=one == months[-1]) for one in months]

    def table(part: str, rows: Iterable[Leads], name: Callable[[Leads], str]) -> Table | None:
        columns = [
            Column[Leads](words.text(f"leads.{part}"), name),
            Column[Leads](words.text("leads.leads"), lambda r: r.leads, "count", has_bar=True),
            Column[Leads](words.text("leads.removed"), lambda r: r.removed, "count", is_minor=True),
            Column[Leads](words.text("leads.without_home"), lambda r: r.without_home, "count"),
            Column[Leads](words.text("leads.homes"), lambda r: r.homes, "count"),
            Column[Leads](words.text("leads.sold"), lambda r: r.sold, "count"),
            Column[Leads](words.text("leads.days"), lambda r: r.days, "count"),
        ]
        return writer.table(words.text(f"leads.by_{part}"), columns, list(rows))

    sides = [
        *(one for one in incoming if one.part == "side" and one.leads),
        *(one for one in facts.leads if one.part == "all" and one.way != "incoming lead" and one.leads),
    ]
    tables = [
        table(part, (one for one in incoming if one.part == part), lambda r: _named(r, words))
        for part in ("kind", "office", "state")
        if part != "office" or sum(one.part == part for one in incoming) > 1
    ]
    return LeadsSection(
        sides=table("side", sides, lambda r: words.label("sides", r.name if r.part == "side" else r.way)),
        chart=chart(words.text("leads.chart"), shown, words, words.number, finest=1) if by_month else None,
        tables=[one for one in tables if one],
    )


def _named(row: Leads, words: Language) -> str:
    """A documented state in words, and a kind such as AskedForPrice as Asked for price; all else as it is."""
    if not row.name:
        return words.text(f"leads.unnamed_{row.part}")
    if row.part == "state":
        return words.label("lead_states", row.name)
    if row.part == "kind" and re.fullmatch(r"([A-Z][a-z]+){2,}", row.name):
        return re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", row.name)
    return row.name


@dataclass(frozen=True)
class Verdict:
    """Whether there is something to mind of the figures, and what."""

    level: str  # well, warning or error
    text: str
    doubts: Table | None


def verdict(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Verdict:
    """One line, and a table of what is doubtful: causes and remedies are for operators."""
    words = writer.words
    rows = facts.doubts

    def since(row: Doubt) -> str:
        if row.first_month and row.last_month:
            return words.period(row.first_month, row.last_month)
        return words.day(local_day(row.since_utc, timezone)) if row.since_utc else ""

    columns = [
        Column[Doubt](
            words.text("doubts.figures"), lambda r: words.label("subjects", r.subject or "all"), "words"
        ),
        Column[Doubt](words.text("doubts.what"), lambda r: words.label("conditions", r.kind), "words"),
        Column[Doubt](words.text("doubts.office"), lambda r: r.office_name),
        Column[Doubt](words.text("doubts.since"), since, "words"),
    ]
    if rows or facts.missing:
        text = words.text("verdict.doubts", len(rows)) if rows else words.text("page.missing")
        level = "error" if any(one.severity == "error" for one in rows) else "warning"
        return Verdict(level, text, writer.table(words.text("doubts.heading"), columns, rows))
    if not facts.scopes:
        return Verdict("warning", words.text("verdict.nothing"), None)
    is_compared = any(one.compared_count for one in facts.agreements)
    return Verdict("well", words.text(f"verdict.{'well' if is_compared else 'fresh'}"), None)
