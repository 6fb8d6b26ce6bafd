"""Sections about earnings: cards of periods, months in charts, what changed commission, and offices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.charts import Chart, ChartMonth, chart
from pipelines.page.facts import Drift, Driver, Facts, Forecast, MonthFigures, Period, SameDays
from pipelines.page.language import Language, Number, local_day
from pipelines.page.tables import Cell, PageTable, TableColumn, Writer

PERIODS = ("running", "month", "year", "twelve")
Reading = Callable[[Decimal | None], Decimal | None]


@dataclass(frozen=True)
class Figure:
    """A headline figure, and its change on the year before."""

    name: str
    cell: Cell
    change: Cell | None


@dataclass(frozen=True)
class Card:
    """A period: the commission, what it is made of, the budget, and what to know of them."""

    title: str
    period: str
    subjects: list[str]  # what its figures are of, as in doubts
    commission: Figure
    factors: list[Figure]
    more: list[Figure]
    progress: Cell | None
    gap: Cell | None
    goal: str
    notes: list[str]


def _gap(row: Period, reading: Reading = lambda one: one) -> Decimal | None:
    """How far what was reached is above the budget, or below it."""
    actual = reading(row.actual)
    return None if actual is None or row.budget is None else actual - row.budget


def cards(facts: Facts, writer: Writer) -> list[Card]:
    """One card per period; a file without a month has none."""
    found = {one.period: one for one in facts.periods if one.office_id is None}
    same_days = facts.same_days[0] if facts.same_days else None
    drift = facts.drift[0] if facts.drift else None
    return [
        _card(found[name], writer, same_days if name == "running" else None, drift)
        for name in PERIODS
        if name in found and (found[name].is_over or name == "running")
    ]


def _card(row: Period, writer: Writer, same_days: SameDays | None, drift: Drift | None) -> Card:
    """A period; of the month that runs only sales have a day to be compared by."""
    words = writer.words

    def trend(change: float | None, kind: str = "change") -> Cell | None:
        return None if change is None else writer.cell(kind, change)

    def figure(name: str, kind: str, value: Number | None, change: Cell | None) -> Figure:
        return Figure(words.text(f"figures.{name}"), writer.cell(kind, value), change)

    progress = gap = None
    goal = ""
    if row.budget is not None and row.actual is not None:
        share = row.actual / row.budget
        progress = writer.cell("share", share, writer.without(share))
        gap = writer.cell("signed money", _gap(row), _gap(row, writer.without))
        goal = words.text("cards.of_budget", budget=words.brief(row.budget)) + _of_offices(
            row.budgeted, row, words
        )
    more = [
        figure("average", "money", row.average_commission, trend(row.average_commission_change)),
        figure("beside_sales", "money", row.beside_sales, trend(row.beside_sales_change)),
        figure("per_agent", "money", row.per_agent, trend(row.per_agent_change)),
    ]
    if same_days:
        before = same_days.commission_before
        change = float(same_days.commission / before - 1) if before else None
        name = words.text("figures.same_days", day=same_days.until_on.day)
        more.append(Figure(name, writer.cell("money", same_days.commission), trend(change)))
    return Card(
        title=words.text(f"cards.{row.period}"),
        period=words.period(row.first_month, row.last_month),
        subjects=["commission", "agents", *(["sales"] if same_days else [])],
        commission=figure("commission", "money", row.commission, trend(row.commission_change)),
        factors=[
            figure("homes", "parts", row.homes, trend(row.homes_change)),
            figure("average_price", "brief", row.average_price, trend(row.average_price_change)),
            figure("fee", "fee", row.fee_share, trend(row.fee_share_difference, "points")),
        ],
        more=more,
        progress=progress,
        gap=gap,
        goal=goal,
        notes=_notes(row, writer, has_trend=any(one.change for one in more))
        + _on_drift(row, drift, words)
        + _on_same_days(same_days, words),
    )


def _notes(row: Period, writer: Writer, *, has_trend: bool) -> list[str]:
    """What to know of a period: how far it is known, and what it is compared with."""
    words, notes = writer.words, []
    if row.unheld:
        notes.append(words.text("cards.unheld", row.unheld))
    if row.cut_short:
        notes.append(words.text("cards.cut", row.cut_short))
    if row.first_month > row.wanted_month:
        notes.append(words.text("cards.held_since", month=words.month(row.first_month)))
    if not row.is_over:
        notes.append(words.text("cards.running_rest" if has_trend else "cards.running_note"))
    elif not row.compared:
        key = "began" if row.offices == 1 and row.began_month else "no_year_before"
        month = words.month(row.began_month) if row.began_month else ""
        notes.append(words.text(f"cards.{key}", month=month))
    elif on_offices := _on_offices(row, words):
        notes.append(on_offices)
    return notes


def _on_offices(row: Period, words: Language) -> str:
    """That not all offices are compared with the year before, so that the change is not that of the sums."""
    if not row.is_over or not 0 < row.compared < row.offices:
        return ""
    return words.text("cards.compared", known=row.compared, all=row.offices)


def _on_drift(row: Period, drift: Drift | None, words: Language) -> list[str]:
    """That a fresh month is compared with a settled one, and what months as fresh have changed by since."""
    if drift is None or (row.period, row.last_month) != ("month", drift.month):
        return []
    changes = {name: words.change(getattr(drift, name)) for name in ("change", "least", "greatest")}
    return [words.text("cards.fresh", months=drift.months, **changes)]


def _on_same_days(same_days: SameDays | None, words: Language) -> list[str]:
    """Offices whose sales are compared to an earlier day, and those whose sales are not compared."""
    notes = []
    if same_days and same_days.earlier_offices:
        days = zip(same_days.earlier_offices, same_days.earlier_days, strict=True)
        notes.append(
            words.text("cards.earlier", offices=", ".join(f"{name} {day.day}" for name, day in days))
        )
    if same_days and same_days.missing_offices:
        notes.append(words.text("cards.not_compared", offices=same_days.missing_offices))
    return notes


def _of_offices(known: int, row: Period, words: Language) -> str:
    return words.text("cards.of_offices", known=known, all=row.offices) if known < row.offices else ""


@dataclass(frozen=True)
class YearEnd:
    """Where the year will end, its share of the budget, its range, and how good past forecasts were."""

    amount: Cell
    share: Cell
    offices: str
    low: Cell | None
    high: Cell | None
    past_years: int
    past: PageTable | None


def year_end(facts: Facts, writer: Writer) -> YearEnd | None:
    """None where no office has a forecast."""
    row, words = _year(facts), writer.words
    if row is None or row.year_forecast is None or not row.year_budget:
        return None
    newest = next((one for one in facts.forecasts if one.is_newest), None)

    def amount(value: Decimal | None) -> Cell | None:
        return None if value is None else writer.cell("brief", value, writer.without(value))

    text = words.of("forecast")
    columns = [
        TableColumn[Forecast](text("year"), lambda r: f"{r.month.year}"),
        TableColumn[Forecast](text("said"), lambda r: r.year_forecast, "money"),
        TableColumn[Forecast](text("became"), lambda r: r.year_actual, "money"),
        TableColumn[Forecast](text("miss"), lambda r: r.miss_share, "change"),
        TableColumn[Forecast](text("worst"), lambda r: r.worst_miss_share, "precise"),
    ]
    forecast, share = row.year_forecast, row.year_forecast / row.year_budget
    return YearEnd(
        amount=writer.cell("brief", forecast, writer.without(forecast)),
        share=writer.cell("share", share, writer.without(share)),
        offices=_of_offices(row.forecast, row, words),
        low=amount(newest.year_forecast_low) if newest else None,
        high=amount(newest.year_forecast_high) if newest else None,
        past_years=newest.past_years if newest else 0,
        past=writer.table(
            words.text("forecast.heading", month=words.month(row.last_month, known_year=row.last_month.year)),
            columns,
            [one for one in facts.forecasts if one.year_actual is not None and not one.is_newest],
        ),
    )


def _of_page(facts: Facts, name: str) -> Period | None:
    return next((one for one in facts.periods if one.period == name and one.office_id is None), None)


def _year(facts: Facts) -> Period | None:
    """The year of the whole page; its forecast is that of all offices with a budget, also of closed ones."""
    year = _of_page(facts, "year")
    newest = next((one for one in facts.forecasts if one.is_newest), None)
    if year is None or year.year_forecast is None or newest is None or not newest.budget_share:
        return year
    budget = newest.year_forecast / Decimal(newest.budget_share)
    return replace(year, year_forecast=newest.year_forecast, year_budget=budget, forecast=newest.offices)


@dataclass(frozen=True)
class Months:
    """Charts of the same months, and their numbers; charts of amounts once for each reading."""

    charts: list[Chart]
    less: list[Chart]
    others: list[Chart]
    table: PageTable | None
    pale: str

    @property
    def drawn(self) -> list[Chart]:
        return [*self.charts, *self.others]


def months_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Months | None:
    """Commission, homes, commission per agent, price and fee by month; none without a month."""
    rows, words = facts.months, writer.words
    if not rows:
        return None

    def drawn(
        name: str,
        value: Callable[[MonthFigures], Number | None],
        before: Callable[[MonthFigures], Number | None],
        budget: Callable[[MonthFigures], Number | None] = lambda _: None,
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
        TableColumn[MonthFigures](
            words.text("page.month"), lambda r: r.month, "month", note=lambda r: _part(r, words)
        ),
        TableColumn[MonthFigures](words.text("figures.commission"), lambda r: r.commission, "money"),
        TableColumn[MonthFigures](words.text("months.before"), lambda r: r.commission_before, "money"),
        TableColumn[MonthFigures](words.text("months.budget"), lambda r: r.budget, "stated money"),
        TableColumn[MonthFigures](words.text("figures.homes"), lambda r: r.homes, "parts"),
        TableColumn[MonthFigures](words.text("months.before"), lambda r: r.homes_before, "parts"),
        TableColumn[MonthFigures](words.text("months.budget"), lambda r: r.homes_budget, "parts"),
        TableColumn[MonthFigures](
            words.text("figures.average_price"), lambda r: r.average_price, "stated money"
        ),
        TableColumn[MonthFigures](words.text("figures.fee"), lambda r: r.fee_share, "fee"),
        TableColumn[MonthFigures](words.text("figures.per_agent"), lambda r: r.per_agent, "money"),
        TableColumn[MonthFigures](
            words.text("months.read"), lambda r: local_day(r.read_at_utc, timezone), "day", is_minor=True
        ),
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


def _part(row: MonthFigures, words: Language) -> str:
    return words.text("page.so_far" if row.is_open else "page.in_part") if row.is_open or row.is_part else ""


def offices_section(
    facts: Facts, writer: Writer, files: Mapping[str, str], name: str = "year"
) -> PageTable | None:
    """A period of each office in one table over their sum, those furthest behind their budget first."""
    rows = [one for one in facts.periods if one.office_id is not None and one.period == name]
    if not rows:
        return None
    words, less, text = writer.words, writer.without, writer.words.of("offices")
    page = facts.scopes[0]
    names: dict[str | None, str] = {None: text("all")}
    names.update(zip(page.office_ids, page.office_names, strict=True))

    def share(part: Decimal | None, whole: Decimal | None) -> Decimal | None:
        return None if part is None or not whole else part / whole

    columns = [
        TableColumn[Period](
            text("office"), lambda r: names.get(r.office_id, r.office_id),
            note=lambda r: _on_office(r, words) if r.office_id else _on_offices(r, words),
            link=lambda r: files.get(r.office_id or "", ""),
        ),
        TableColumn[Period](text("gap"), _gap, "signed money", lambda r: _gap(r, less)),
        TableColumn[Period](
            text("of_budget"), lambda r: share(r.actual, r.budget), "share",
            lambda r: share(less(r.actual), r.budget),
        ),
        TableColumn[Period](text("commission"), lambda r: r.commission, "money", has_bar=True),
        TableColumn[Period](text("before"), lambda r: r.commission_before, "money", is_minor=True),
        TableColumn[Period](text("last_year"), lambda r: r.commission_change, "change"),
        TableColumn[Period](
            text("year_end"), lambda r: r.year_forecast, "money", is_minor=True,
            note=lambda r: _without_forecast(r, words) if r.office_id else "",
        ),
        TableColumn[Period](
            text("year_end_share"), lambda r: share(r.year_forecast, r.year_budget), "share",
            lambda r: share(less(r.year_forecast), r.year_budget),
        ),
        TableColumn[Period](text("homes"), lambda r: r.homes, "parts"),
        TableColumn[Period](text("price"), lambda r: r.average_price, "brief", is_minor=True),
        TableColumn[Period](text("fee"), lambda r: r.fee_share, "fee", is_minor=True),
        TableColumn[Period](text("agents"), lambda r: r.agents, "parts", is_minor=True),
        TableColumn[Period](text("per_agent"), lambda r: r.per_agent, "money"),
    ]  # fmt: skip
    if all(one.budget is None for one in rows):
        columns = [one for one in columns if one.head not in {text("gap"), text("of_budget")}]
    if name != "year":
        against = ("office", "gap", "of_budget", "commission", "last_year")
        columns = [one for one in columns if one.head in map(text, against)]
    if all(one.year_forecast is None for one in rows):
        columns = [one for one in columns if one.head not in {text("year_end"), text("year_end_share")}]
    nothing = Decimal(0)
    rows.sort(key=lambda r: (_gap(r) or nothing, -(r.commission or nothing)))
    heading = words.text("offices.heading", period=words.period(rows[0].first_month, rows[0].last_month))
    of_page = _year(facts) if name == "year" else _of_page(facts, name)
    return writer.table(heading, columns, rows, total=of_page if len(rows) > 1 else None)


def _on_office(row: Period, words: Language) -> str:
    """How far an office's year is known, and whether it came or went in it."""
    if row.closed_after_month:
        return words.text("offices.closed", month=words.month(row.closed_after_month))
    if row.cut_short or (row.until_on and row.until_on < row.last_month):
        return words.text("offices.until", day=words.day(row.until_on))
    if row.unheld:
        return words.text("offices.months_missing")
    return words.text("page.active_since", month=words.month(row.began_month)) if row.began_month else ""


def _without_forecast(row: Period, words: Language) -> str:
    """Why an office has no forecast; nothing where it has one, or where the note on the office says it."""
    if row.year_forecast is not None or row.budget_months == 12:
        return ""
    return words.text("offices.no_budget", row.budget_months)


def drivers_table(facts: Facts, writer: Writer) -> PageTable | None:
    """What homes, price and fee made of the change on last year; they add up."""
    text, label = writer.words.of("drivers"), writer.words.of("cards")
    columns = [
        TableColumn[Driver](text("period"), lambda r: label(r.period), "words"),
        TableColumn[Driver](text("before"), lambda r: r.sold_commission_before, "money"),
        TableColumn[Driver](text("homes"), lambda r: r.homes_effect, "signed money"),
        TableColumn[Driver](text("price"), lambda r: r.price_effect, "signed money"),
        TableColumn[Driver](text("fee"), lambda r: r.fee_effect, "signed money"),
        TableColumn[Driver](text("now"), lambda r: r.sold_commission, "money"),
        TableColumn[Driver](text("difference"), lambda r: r.difference, "signed money"),
    ]
    return writer.table(text("heading"), columns, facts.drivers)
