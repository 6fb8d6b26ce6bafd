"""Sections about earnings: the year, its periods and months, offices, and what changed commission."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, takewhile
from zoneinfo import ZoneInfo

from pipelines.page.charts import Chart, Series, chart, columns, sparkline, waterfall
from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language, Number, local_day
from pipelines.page.sections import Section
from pipelines.page.tables import Cell, PageColumn, PageTable, Reading, Writer

PERIODS = ("running", "month", "year", "twelve")
YEARS_OF_RANGE = 3
"""From how many past years on a forecast has a range."""


@dataclass(frozen=True)
class Card:
    """A small card: figures, and their way through 24 months."""

    title: str
    figures: list[tuple[str, Cell, Cell | None]]
    line: Chart | None


@dataclass(frozen=True)
class Opening:
    """The first screen: the year in a line, drawn month by month, and three small cards."""

    figures: list[tuple[str, Cell]]
    charts: list[Chart]
    cards: list[Card]
    periods: PageTable | None
    past: PageTable | None
    notes: list[str]


def opening(facts: Facts, writer: Writer) -> Opening:
    """The first screen; without a month that is over only what there is of it."""
    words, row = writer.words, _year(facts)
    newest = next((forecast for forecast in facts.forecasts if forecast.is_newest), None)
    figures: list[tuple[str, Cell]] = []
    if row and row.is_over:
        figures.append(
            (words.text("year.so_far"), writer.cell("brief", row.commission, writer.without(row.commission)))
        )
        if row.budget and row.actual is not None:
            share = _share(row, writer.without)
            figures.append(
                (words.text("year.of_budget"), writer.cell("share", row.actual / row.budget, share))
            )
        if row.commission_change is not None:
            offices = words.text("year.like_for_like", compared=row.compared, all=row.offices)
            figures.append((offices, writer.cell("change", row.commission_change)))
        if row.total_change is not None and row.compared < row.offices:
            figures.append((words.text("year.total"), writer.cell("change", row.total_change)))
        if row.year_forecast is not None and row.year_budget:
            share = writer.without(row.year_forecast)
            figures.append(
                (
                    words.text("year.forecast") + _of_offices(row.forecast, row, words),
                    writer.cell(
                        "share", row.year_forecast / row.year_budget, share and share / row.year_budget
                    ),
                )
            )
    return Opening(
        figures=figures,
        charts=writer.charts(lambda reading, kind: _cumulative(facts, row, words, reading, kind)),
        cards=_cards(facts, writer, row),
        periods=_periods(facts, writer),
        past=_past_forecasts(facts, writer, row),
        notes=[*_notes(facts, words), *_range(newest, writer)],
    )


def _cumulative(facts: Facts, row: Row | None, words: Language, reading: Reading, kind: str) -> Chart | None:
    """The year, its budget, last year and the forecast, each added up from January."""
    if row is None or not row.is_over:
        return None
    months = [month for month in facts.months if month.month.year == row.last_month.year]

    def sums(values: Sequence[Number | None]) -> list[Number | None]:
        known = list(accumulate(takewhile(lambda value: value is not None, values)))
        return [*known, *[None] * (len(values) - len(known))]

    ended = [month for month in months if month.month <= row.last_month]
    reached = sums([reading(month.commission) for month in ended])
    forecast: list[Number | None] = [None] * len(months)
    if row.year_forecast is not None and reached and reached[-1] is not None and len(ended) < len(months):
        forecast[len(ended) - 1], forecast[-1] = reached[-1], reading(row.year_forecast)
    goals = [month.goal for month in months]
    series = [
        Series(
            words.text("months.before"),
            "before",
            columns(sums([reading(month.commission_before) for month in months])),
            "line",
        ),
        Series(
            words.text("months.budget"),
            "goal",
            columns(sums(goals) if None not in goals else [None] * len(goals)),
            "line",
        ),
        Series(words.text("year.forecast_line"), "forecast", columns(forecast), "line"),
        Series(
            words.text("months.reached"),
            "value",
            columns([*reached, *[None] * (len(months) - len(ended))]),
            "line",
        ),
    ]
    names = [words.month(month.month)[:3] for month in months]
    return chart(
        words.text("year.chart", year=row.last_month.year), names, series, words, words.brief, kind=kind
    )


def _cards(facts: Facts, writer: Writer, row: Row | None) -> list[Card]:
    """Homes; price and fee; price against asking and days on the market."""
    words, cards = writer.words, []

    def figure(
        name: str, kind: str, value: Number | None, change: float | None = None
    ) -> tuple[str, Cell, Cell | None]:
        toned = "points" if kind == "fee" else "change"
        return (
            words.text(name),
            writer.cell(kind, value),
            None if change is None else writer.cell(toned, change),
        )

    def line(rows: Sequence[Row], column: str) -> Chart | None:
        return sparkline(words.text("year.way"), [getattr(row, column) for row in rows])

    ended = [month for month in facts.months if not (month.is_coming or month.is_open)][-24:]
    if row:
        cards.append(
            Card(
                words.text("year.homes"),
                [figure("figures.homes", "parts", row.homes, row.homes_change)],
                line(ended, "homes"),
            )
        )
        price = figure("figures.average_price", "brief", row.average_price, row.average_price_change)
        fee = figure("figures.fee", "fee", row.fee_share, row.fee_share_difference)
        cards.append(Card(words.text("year.price"), [price, fee], line(ended, "average_price")))
    if facts.market:
        newest = facts.market[-1]
        asking = figure("market.asking", "change", newest.price_change_share)
        days = figure("market.days", "count", newest.days_on_market)
        cards.append(
            Card(words.text("market.heading"), [asking, days], line(facts.market, "price_change_share"))
        )
    return cards


def _periods(facts: Facts, writer: Writer) -> PageTable | None:
    """The month that runs, the last one, the year to it and the twelve months to it, a row each."""
    words, found = writer.words, {row.period: row for row in facts.periods if row.office_id is None}
    rows = [found[name] for name in PERIODS if name in found and (found[name].is_over or name == "running")]
    table = [
        PageColumn(
            "page.period", lambda row, _: words.text(f"cards.{row.period}"),
            note=lambda row: words.period(row.first_month, row.last_month),
        ),
        PageColumn("figures.commission", kind="money", change="commission_change"),
        PageColumn("cards.total", "total_change", "change", is_minor=True),
        PageColumn("offices.of_budget", _share, "share", note=lambda row: _budgeted(row, words)),
        PageColumn("offices.gap", _gap, "signed money"),
        PageColumn("figures.homes", kind="parts", change="homes_change"),
        PageColumn("figures.average_price", kind="brief", change="average_price_change"),
        PageColumn("figures.fee", "fee_share", "fee", change="fee_share_difference"),
        PageColumn(
            "figures.average", "average_commission", "money", change="average_commission_change",
            is_minor=True,
        ),
        PageColumn("figures.beside_sales", kind="money", change="beside_sales_change", is_minor=True),
        PageColumn("figures.per_agent", kind="money", change="per_agent_change"),
    ]  # fmt: skip
    return writer.table(words.text("cards.heading"), "cards", table, rows)


def _budgeted(row: Row, words: Language) -> str:
    if row.budget is None:
        return ""
    return words.text("cards.of_budget", budget=words.brief(row.budget)) + _of_offices(
        row.budgeted, row, words
    )


def _share(row: Row, reading: Reading) -> Decimal | None:
    """The part of the budget that was reached."""
    actual = reading(row.actual)
    return None if actual is None or not row.budget else actual / row.budget


def _gap(row: Row, reading: Reading) -> Decimal | None:
    """How far the amount reached is above the budget, or below it."""
    actual = reading(row.actual)
    return None if actual is None or row.budget is None else actual - row.budget


def _forecast_share(row: Row, reading: Reading) -> Decimal | None:
    forecast = reading(row.year_forecast)
    return None if forecast is None or not row.year_budget else forecast / row.year_budget


def _notes(facts: Facts, words: Language) -> list[str]:
    """How far the periods are known, and what they are compared with; each note once, with its periods."""
    found: dict[str, list[str]] = {}
    rows = {row.period: row for row in facts.periods if row.office_id is None}
    for name in PERIODS:
        for note in _notes_on(rows[name], facts, words) if name in rows else ():
            found.setdefault(note, []).append(words.text(f"cards.{name}"))
    return [f"{', '.join(periods)}: {note}" for note, periods in found.items()]


def _notes_on(row: Row, facts: Facts, words: Language) -> list[str]:
    notes = []
    if row.unheld:
        notes.append(words.text("cards.unheld", row.unheld))
    if row.cut_short:
        notes.append(words.text("cards.cut", row.cut_short))
    if row.first_month > row.wanted_month:
        notes.append(words.text("cards.held_since", month=words.month(row.first_month)))
    if row.period == "running":
        notes += _same_days(facts, words)
    elif row.is_over and not row.compared:
        key = "began" if row.offices == 1 and row.began_month else "no_year_before"
        notes.append(
            words.text(f"cards.{key}", month=words.month(row.began_month) if row.began_month else "")
        )
    elif compared := _compared(row, words):
        notes.append(compared)
    for drift in facts.drift:
        if (row.period, row.last_month) == ("month", drift.month):
            changes = {name: words.change(getattr(drift, name)) for name in ("change", "least", "greatest")}
            notes.append(words.text("cards.fresh", months=drift.months, **changes))
    return notes


def _same_days(facts: Facts, words: Language) -> list[str]:
    """Sales of the month that runs beside the same days of last year."""
    if not facts.same_days:
        return [words.text("cards.running_note")]
    row = facts.same_days[0]
    before = row.commission_before
    change = words.change(row.commission / before - 1) if before else words.change(None)
    notes = [
        words.text("cards.same_days", day=row.until_on.day, amount=words.brief(row.commission), change=change)
    ]
    if row.earlier_offices:
        days = zip(row.earlier_offices, row.earlier_days, strict=True)
        notes.append(
            words.text("cards.earlier", offices=", ".join(f"{name} {day.day}" for name, day in days))
        )
    if row.missing_offices:
        notes.append(words.text("cards.not_compared", offices=row.missing_offices))
    return notes


def _compared(row: Row, words: Language) -> str:
    """That not all offices are compared with the year before, so that the change is not that of the sums."""
    if not row.is_over or not 0 < row.compared < row.offices:
        return ""
    return words.text("cards.compared", known=row.compared, all=row.offices)


def _of_offices(known: int, row: Row, words: Language) -> str:
    return words.text("cards.of_offices", known=known, all=row.offices) if known < row.offices else ""


def _range(newest: Row | None, writer: Writer) -> list[str]:
    """In what range the year may end, if enough past years tell."""
    if newest is None or newest.year_forecast_low is None or newest.past_years < YEARS_OF_RANGE:
        return []
    low, high = writer.words.brief(newest.year_forecast_low), writer.words.brief(newest.year_forecast_high)
    return [writer.words.text("forecast.range", newest.past_years, low=low, high=high)]


def _past_forecasts(facts: Facts, writer: Writer, row: Row | None) -> PageTable | None:
    """How good the forecasts of earlier years were after the same month."""
    if row is None:
        return None
    table = [
        PageColumn("year", lambda row, _: f"{row.month.year}"),
        PageColumn("said", "year_forecast", "money"),
        PageColumn("became", "year_actual", "money"),
        PageColumn("miss", "miss_share", "change"),
        PageColumn("worst", "worst_miss_share", "precise"),
    ]
    name = writer.words.text(
        "forecast.heading", month=writer.words.month(row.last_month, known_year=row.last_month.year)
    )
    return writer.table(
        name,
        "forecast",
        table,
        [past for past in facts.forecasts if past.year_actual is not None and not past.is_newest],
    )


def _of_page(facts: Facts, name: str) -> Row | None:
    return next((row for row in facts.periods if row.period == name and row.office_id is None), None)


def _year(facts: Facts) -> Row | None:
    """The year of the whole page; its forecast is that of all offices with a budget, also of closed ones."""
    year = _of_page(facts, "year")
    newest = next((forecast for forecast in facts.forecasts if forecast.is_newest), None)
    if year is None or year.year_forecast is None or newest is None or not newest.budget_share:
        return year
    budget = newest.year_forecast / Decimal(newest.budget_share)
    return year.with_columns(year_forecast=newest.year_forecast, year_budget=budget, forecast=newest.offices)


def months_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Section | None:
    """Commission and homes by month, with the numbers behind a click; none without a month."""
    rows, words = [row for row in facts.months if row.is_shown], writer.words
    if not rows:
        return None

    def drawn(
        name: str,
        measures: Callable[[Row], tuple[Number | None, Number | None, Number | None]],
        finest: float,
        kind: str,
    ) -> Chart:
        amounts = [measures(row) for row in rows]
        ended = [
            amount[0] if not (row.is_open or row.is_part) else None
            for row, amount in zip(rows, amounts, strict=True)
        ]
        others = [
            amount[0] if row.is_open or row.is_part else None
            for row, amount in zip(rows, amounts, strict=True)
        ]
        part = "page.so_far" if rows[-1].is_open else "page.in_part"
        series = [
            Series(words.text("months.before"), "before", columns([amount[1] for amount in amounts]), "wide"),
            Series(words.text("months.reached"), "value", columns(ended)),
            Series(words.text(part), "value open", columns(others)),
            Series(words.text("months.budget"), "goal", columns([amount[2] for amount in amounts]), "tick"),
        ]
        names = [words.month(row.month)[:3] for row in rows]
        write = words.short if finest else words.brief
        return chart(words.text(name), names, series, words, write, finest=finest, kind=kind)

    homes = drawn("figures.homes", lambda row: (row.homes, row.homes_before, row.homes_budget), 1, "")
    amounts = writer.charts(
        lambda less, kind: drawn(
            "figures.commission",
            lambda row: (less(row.commission), less(row.commission_before), row.budget),
            0,
            kind,
        )
    )
    table = [
        PageColumn("page.month", kind="month", note=lambda row: _part(row, words)),
        PageColumn("figures.commission", kind="money"),
        PageColumn("months.before", "commission_before", "money"),
        PageColumn("months.budget", kind="stated money"),
        PageColumn("figures.homes", kind="parts"),
        PageColumn("months.before", "homes_before", "parts"),
        PageColumn("months.budget", "homes_budget", "parts"),
        PageColumn("figures.average_price", kind="stated money"),
        PageColumn("figures.fee", "fee_share", "fee"),
        PageColumn("figures.per_agent", kind="money"),
        PageColumn("months.read", lambda row, _: local_day(row.read_at_utc, timezone), "day", is_minor=True),
    ]
    return Section(
        "months", words.text("months.heading"), ("commission", "agents", "budgets", "budgets_of_homes"),
        charts=[*amounts, homes],
        folded=[writer.table(words.text("page.numbers"), "months", table, rows[::-1])],
    )  # fmt: skip


def _part(row: Row, words: Language) -> str:
    return words.text("page.so_far" if row.is_open else "page.in_part") if row.is_open or row.is_part else ""


def offices_section(facts: Facts, writer: Writer, files: Mapping[str, str]) -> Section | None:
    """The year of each office against its budget and last year, and the last whole month behind a click."""
    table = _offices(facts, writer, files, "year")
    if table is None:
        return None
    return Section(
        "ranked", table.name, ("commission", "agents", "budgets"), table=table,
        folded=[_offices(facts, writer, {}, "month")], notes=[writer.words.text("offices.note")],
    )  # fmt: skip


def _offices(facts: Facts, writer: Writer, files: Mapping[str, str], period: str) -> PageTable | None:
    """A period of each office over their sum, those furthest behind their budget first."""
    words, page = writer.words, facts.scopes[0] if facts.scopes else None
    names: dict[str | None, str] = dict(zip(page.office_ids, page.office_names, strict=True)) if page else {}
    found = [row for row in facts.periods if row.office_id is not None and row.period == period]
    rows = [
        row.with_columns(office=names.get(row.office_id, row.office_id), file=files.get(row.office_id, ""))
        for row in found
    ]
    if not rows:
        return None
    has_budget = any(row.budget is not None for row in rows)
    has_forecast = any(row.year_forecast is not None for row in rows)
    of_budget = [PageColumn("of_budget", _share, "share"), PageColumn("gap", _gap, "signed money")]
    table = [
        PageColumn("office", note=lambda row: _on_office(row, words), link="file"),
        PageColumn("commission", kind="money", has_bar=True, bar=("budget", "commission_before")),
        *(of_budget if has_budget else ()),
        PageColumn("last_year", "commission_change", "change"),
    ]  # fmt: skip
    if period == "year":
        forecast = [
            PageColumn(
                "year_end", "year_forecast", "money", is_minor=True,
                note=lambda row: _without_forecast(row, words),
            ),
            PageColumn("year_end_share", _forecast_share, "share"),
        ]  # fmt: skip
        table += [
            PageColumn("before", "commission_before", "money", is_minor=True),
            *(forecast if has_forecast else []),
            PageColumn("homes", kind="parts"),
            PageColumn("price", "average_price", "brief", is_minor=True),
            PageColumn("fee", "fee_share", "fee", is_minor=True),
            PageColumn("agents", kind="parts", is_minor=True),
            PageColumn("per_agent", kind="money"),
        ]
    rows.sort(key=lambda row: (_gap(row, lambda amount: amount) or 0, -(row.commission or 0)))
    total = _year(facts) if period == "year" else _of_page(facts, period)
    whole = total.with_columns(office=words.text("offices.all"), file="") if total and len(rows) > 1 else None
    name = words.text("offices.heading", period=words.period(rows[0].first_month, rows[0].last_month))
    return writer.table(name, "offices", table, rows, total=whole)


def _on_office(row: Row, words: Language) -> str:
    """How far an office's year is known, and whether it came or went; of their sum how many are compared."""
    if row.office_id is None:
        return _compared(row, words)
    if row.closed_after_month:
        return words.text("offices.closed", month=words.month(row.closed_after_month))
    if row.cut_short or (row.until_on and row.until_on < row.last_month):
        return words.text("offices.until", day=words.day(row.until_on))
    if row.unheld:
        return words.text("offices.months_missing")
    return words.text("page.active_since", month=words.month(row.began_month)) if row.began_month else ""


def _without_forecast(row: Row, words: Language) -> str:
    """Why an office has no forecast; nothing if it has one, or no budget month is missing."""
    if row.office_id is None or row.year_forecast is not None or row.budget_months == 12:
        return ""
    return words.text("offices.no_budget", row.budget_months)


def drivers_section(facts: Facts, writer: Writer) -> Section | None:
    """What homes, price and fee made of the change on last year; they add up."""
    words = writer.words
    table = [
        PageColumn("period", lambda row, _: words.text(f"cards.{row.period}"), "words"),
        PageColumn("before", "sold_commission_before", "money"),
        PageColumn("homes", "homes_effect", "signed money"),
        PageColumn("price", "price_effect", "signed money"),
        PageColumn("fee", "fee_effect", "signed money"),
        PageColumn("now", "sold_commission", "money"),
        PageColumn("difference", kind="signed money"),
    ]
    numbers = writer.table(words.text("drivers.heading"), "drivers", table, facts.drivers)
    if numbers is None:
        return None
    year = next((row for row in facts.drivers if row.period == "year"), facts.drivers[0])

    def drawn(reading: Reading, kind: str) -> Chart:
        steps = ("homes", "price", "fee")
        spans = waterfall([reading(getattr(year, f"{step}_effect")) for step in steps])
        series = [
            Series("", colour, [span if (span[1] >= span[0]) is is_gain else None for span in spans])
            for colour, is_gain in (("gain", True), ("loss", False))
        ]
        names = [words.text(f"drivers.{name}") for name in (*steps, "difference")]
        return chart(words.text(f"cards.{year.period}"), names, series, words, words.brief, kind=kind)

    return Section("drivers", numbers.name, ("commission",), charts=writer.charts(drawn), folded=[numbers])
