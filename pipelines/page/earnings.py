"""Sections about earnings: the year, its periods and months, offices, and drivers of commission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, takewhile
from zoneinfo import ZoneInfo

from pipelines.page.charts import Chart, Series, chart, column_spans, sparkline, waterfall_spans
from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language, Number, local_day
from pipelines.page.tables import Cell, PageColumn, PageTable, Section, Writer, budget_columns

PERIODS = ("running", "month", "year", "twelve")
OF_BUDGET, GAP = budget_columns("actual")
HOMES = PageColumn("figures.homes", kind="parts", change="homes_change")
PRICE = PageColumn("figures.average_price", kind="compact", change="average_price_change")
FEE = PageColumn("figures.fee", "fee_share", "fee", change="fee_share_difference")
MARKET = [
    PageColumn("figures.price_change", "price_change_share", "change"),
    PageColumn("figures.days_on_market", "days_on_market", "days"),
]


def _forecast_share(row: Row) -> Decimal | None:
    forecast: Decimal | None = row.year_forecast
    return None if forecast is None or not row.year_budget else forecast / row.year_budget


FORECAST = PageColumn("offices.year_end_share", _forecast_share, "share")


def _complete_forecast(row: Row) -> Decimal | None:
    """The forecast of the year; None if it does not cover all offices that were open."""
    forecast: Decimal | None = row.year_forecast
    return forecast if row.office_id or row.forecast_offices >= row.open_offices else None


@dataclass(frozen=True)
class Card:
    """A small card: figures, and a sparkline of the first one over the last 24 months."""

    title: str
    figures: list[tuple[str, Cell]]
    sparkline: Chart | None


@dataclass(frozen=True)
class Opening:
    """The first screen: the year as figures and as a chart by month, three small cards, and the periods."""

    figures: list[tuple[str, Cell]]
    chart: Chart | None
    cards: list[Card]
    periods: PageTable | None
    notes: list[str]


def opening(facts: Facts, writer: Writer) -> Opening:
    """The first screen; the year's figures and chart appear once a whole month is loaded."""
    words, row = writer.words, _year(facts)
    return Opening(
        figures=_headline_figures(row, writer) if row and row.is_over else [],
        chart=_year_chart(facts, row, words) if row and row.is_over else None,
        cards=_cards(facts, writer, row),
        periods=_periods(facts, writer),
        notes=[*_notes(facts, words), *_forecast_range(facts, writer)],
    )


def _headline_figures(row: Row, writer: Writer) -> list[tuple[str, Cell]]:
    """The year in a row of figures: commission, share of budget, growth and forecast, if known."""
    words, period = writer.words, writer.words.period(row.first_month, row.last_month)
    key = "year.like_for_like" if row.offices > 1 else "offices.last_year"
    like_for_like = words.text(key, compared=row.compared_offices, all=row.offices)
    figures = {
        words.text("year.commission", period=period): PageColumn("", "commission", "compact"),
        words.text("year.of_budget") + _offices_suffix(row.budget_offices, row, words): OF_BUDGET,
        like_for_like: PageColumn("", "commission_change", "change"),
        words.text("year.total"): PageColumn("", _total_change, "change"),
        words.text("year.forecast") + _offices_suffix(row.forecast_offices, row, words): FORECAST,
    }
    cells = [(name, writer.cell(column, row)) for name, column in figures.items()]
    return [(name, cell) for name, cell in cells if cell.key]


def _total_change(row: Row) -> float | None:
    """The growth of all offices together; None if like-for-like growth covers all, or for one office."""
    return row.total_change if row.compared_offices < row.offices > 1 else None


def _year_chart(facts: Facts, row: Row, words: Language) -> Chart | None:
    """A chart of the year, budget, last year and forecast, cumulative from January; None if all unknown."""
    months = [month for month in facts.months if month.month.year == row.last_month.year]
    ended = [month for month in months if month.month <= row.last_month]
    budgets = [month.goal for month in months]
    actual = _running_sums([month.commission for month in ended])
    forecast: list[Number | None] = [None] * len(months)
    at_year_end = _complete_forecast(row)
    if at_year_end is not None and actual and actual[-1] is not None and len(ended) < len(months):
        forecast[len(ended) - 1], forecast[-1] = actual[-1], at_year_end
    budget = words.text("months.budget") + _offices_suffix(row.budget_offices, row, words)
    lines = {
        (words.text("months.before"), "before"): _running_sums([month.commission_before for month in months]),
        (budget, "goal"): [] if None in budgets else _running_sums(budgets),
        (words.text("year.forecast_line"), "forecast"): forecast,
        (words.text("months.actual"), "value"): actual,
    }
    series = [
        Series(name, colour, column_spans([*sums, *[None] * (len(months) - len(sums))]), "line")
        for (name, colour), sums in lines.items()
    ]
    names = [words.month(month.month)[:3] for month in months]
    title, is_known = (
        words.text("year.chart", year=row.last_month.year),
        any(any(item.spans) for item in series),
    )
    return chart(title, names, series, words, words.compact) if is_known else None


def _running_sums(values: Sequence[Number | None]) -> list[Number | None]:
    """The running sums, None from the first unknown value on."""
    sums = list(accumulate(takewhile(lambda value: value is not None, values)))
    return [*sums, *[None] * (len(values) - len(sums))]


def _cards(facts: Facts, writer: Writer, row: Row | None) -> list[Card]:
    """Three cards: homes; price and fee; price compared with asking price, and days on the market."""
    ended = [month for month in facts.months if not (month.is_coming or month.is_open)][-24:]
    cards: list[tuple[str, list[PageColumn], Row | None, Sequence[Row], str]] = [
        ("year.homes", [HOMES], row, ended, "homes"),
        ("year.price", [PRICE, FEE], row, ended, "average_price"),
        ("market.heading", MARKET, next(iter(facts.market[-1:]), None), facts.market, "price_change_share"),
    ]
    words = writer.words
    return [
        Card(
            words.text(title),
            [(words.text(column.heading), writer.cell(column, shown)) for column in figures],
            sparkline(words.text("year.last_24_months"), [getattr(month, plotted) for month in months]),
        )
        for title, figures, shown, months, plotted in cards
        if shown
    ]


def _periods(facts: Facts, writer: Writer) -> PageTable | None:
    """A row each for the current month, the last whole month, the year to date and the last twelve months."""
    words, by_name = writer.words, {row.period: row for row in facts.periods if row.office_id is None}
    periods = [by_name[name] for name in PERIODS if name in by_name]
    rows = [row for row in periods if row.is_over or row.period == "running"]
    total = PageColumn("cards.total", "total_change", "change", is_minor=True)
    table = [
        PageColumn(
            "page.period", lambda row: words.text(f"cards.{row.period}"),
            note=lambda row: words.period(row.first_month, row.last_month),
        ),
        PageColumn("figures.commission", kind="money", change="commission_change"),
        *([total] if any(_total_change(row) is not None for row in rows) else []),
        replace(OF_BUDGET, note=lambda row: _budget_note(row, words)),
        GAP,
        HOMES,
        PRICE,
        FEE,
        PageColumn(
            "figures.average_commission", kind="money", change="average_commission_change",
            is_minor=True,
        ),
        PageColumn("cards.other_commission", kind="money", change="other_commission_change", is_minor=True),
        PageColumn("figures.commission_per_agent", "per_agent", "money", change="per_agent_change"),
    ]  # fmt: skip
    return writer.table(words.text("cards.heading"), "cards", table, rows)


def _budget_note(row: Row, words: Language) -> str:
    budget = words.text("cards.of_budget", budget=words.compact(row.budget))
    return "" if row.budget is None else budget + _offices_suffix(row.budget_offices, row, words)


def _notes(facts: Facts, words: Language) -> list[str]:
    """Notes on missing data, comparisons and later changes; a note that several periods share comes once."""
    periods_of: dict[str, list[str]] = {}
    rows = {row.period: row for row in facts.periods if row.office_id is None}
    for name in PERIODS:
        for note in _period_notes(rows[name], facts, words) if name in rows else ():
            periods_of.setdefault(note, []).append(words.text(f"cards.{name}"))
    return [f"{', '.join(periods)}: {note}" for note, periods in periods_of.items()]


def _period_notes(row: Row, facts: Facts, words: Language) -> list[str]:
    text, notes = words.text, []
    if row.missing_months:
        notes.append(text("cards.missing_months", row.missing_months))
    if row.cut_short:
        notes.append(text("cards.cut", row.cut_short))
    if row.unbudgeted_months:
        months = words.months(sorted({*row.unbudgeted_months}))
        notes.append(text("cards.no_budget", len(row.unbudgeted_months), months=months))
    if row.first_month > row.period_start:
        notes.append(text("cards.no_data_before", month=words.month(row.first_month)))
    if row.period == "running":
        notes += _same_days_notes(facts, row, words)
    elif row.is_over and not row.compared_offices and row.offices == 1 and row.began_month:
        notes.append(text("cards.began", month=words.month(row.began_month)))
    elif row.is_over and not row.compared_offices and row.closed_after_month:
        notes.append(text("offices.closed", month=words.month(row.closed_after_month)))
    elif row.is_over and not row.compared_offices:
        notes.append(text("cards.no_year_before"))
    elif compared := _comparison_note(row, words):
        notes.append(compared)
    for drift in facts.drift:
        if (row.period, row.last_month) == ("month", drift.month):
            changes = {name: words.change(getattr(drift, name)) for name in ("change", "least", "greatest")}
            notes.append(text("cards.fresh", months=drift.months, **changes))
    return notes


def _same_days_notes(facts: Facts, running: Row, words: Language) -> list[str]:
    """Notes on sales in the current month, compared with the same days of last year."""
    if not facts.same_days:
        return [words.text("cards.running_note")]
    row = facts.same_days[0]
    change = row.commission / row.commission_before - 1 if row.commission_before else None
    amounts = {"amount": words.compact(row.commission), "change": words.change(change)}
    offices = words.text("cards.in_both_years") if running.offices > 1 else ""
    notes = [words.text("cards.same_days", day=words.day(row.until_on), offices=offices, **amounts)]
    if row.offices_behind:
        days = zip(row.offices_behind, row.their_days, strict=True)
        offices = ", ".join(f"{name} {day.day}" for name, day in days)
        notes.append(words.text("cards.earlier", offices=offices))
    if row.missing_offices:
        notes.append(words.text("cards.not_compared", offices=row.missing_offices))
    return notes


def _comparison_note(row: Row, words: Language) -> str:
    """A note if only some offices are compared with last year, so the change is not that of the total."""
    if not row.is_over or not 0 < row.compared_offices < row.offices:
        return ""
    return words.text("cards.compared", offices=row.compared_offices, all=row.offices)


def _offices_suffix(count: int, row: Row, words: Language) -> str:
    """The suffix " (9 of 10 offices)" if a figure does not cover all offices that were open."""
    total = row.open_offices
    return words.text("cards.of_offices", offices=count, all=total) if count < total else ""


def _forecast_range(facts: Facts, writer: Writer) -> list[str]:
    """A note on how low and how high the year may end, if enough earlier years are loaded."""
    words = writer.words
    ranges = [
        (row.past_years, words.compact(row.year_forecast_low), words.compact(row.year_forecast_high))
        for row in facts.forecasts
        if row.year_forecast_low is not None
    ]
    return [words.text("forecast.range", years, low=low, high=high) for years, low, high in ranges]


def _page_period(facts: Facts, name: str) -> Row | None:
    return next((row for row in facts.periods if row.period == name and row.office_id is None), None)


def _year(facts: Facts) -> Row | None:
    """The year to date of all offices of the page; its forecast also covers closed offices with a budget."""
    year = _page_period(facts, "year")
    level = next(iter(facts.forecasts), None)
    if year is None or year.year_forecast is None or level is None or not level.budget_share:
        return year
    forecast, offices = level.year_forecast, level.offices
    budget = forecast / Decimal(level.budget_share)
    return year.with_columns(year_forecast=forecast, year_budget=budget, forecast_offices=offices)


def months_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Section | None:
    """Commission and homes by month, with a collapsed table; None if there are no months."""
    rows, words = [row for row in facts.months if row.is_shown], writer.words
    if not rows:
        return None

    def month_chart(measure: str, budget: str, min_step: float) -> Chart:
        def values(column: str, is_whole: bool | None = None) -> list[tuple[Number, Number] | None]:
            return column_spans(
                [
                    getattr(row, column) if is_whole in (None, not (row.is_open or row.is_partial)) else None
                    for row in rows
                ]
            )

        part = "page.so_far" if rows[-1].is_open else "page.in_part"
        series = [
            Series(words.text("months.before"), "before", values(f"{measure}_before"), "wide"),
            Series(words.text("months.actual"), "value", values(measure, True)),
            Series(words.text(part), "value open", values(measure, False)),
            Series(words.text("months.budget"), "goal", values(budget), "tick"),
        ]
        names = [words.month(row.month)[:3] for row in rows]
        write = words.tenths if min_step else words.compact
        return chart(words.text(f"figures.{measure}"), names, series, words, write, min_step=min_step)

    table = [
        PageColumn("page.month", kind="month", note=lambda row: _partial_note(row, words)),
        PageColumn("figures.commission", kind="money"),
        PageColumn("months.commission_before", kind="money"),
        PageColumn("months.commission_budget", "budget", "money"),
        PageColumn("figures.homes", kind="parts"),
        PageColumn("months.homes_before", kind="parts"),
        PageColumn("months.homes_budget", kind="parts"),
        PageColumn("figures.average_price", kind="money"),
        PageColumn("figures.fee", "fee_share", "fee"),
        PageColumn("figures.commission_per_agent", "per_agent", "money"),
        PageColumn("months.read", lambda row: local_day(row.read_at_utc, timezone), "day", is_minor=True),
    ]
    year = _page_period(facts, "year")
    suffix = _offices_suffix(year.budget_offices, year, words) if year and year.budget is not None else ""
    notes = [words.text("months.budgeted", offices=suffix)] if suffix else []
    return Section(
        "months", words.text("months.heading"), ("commission", "agents", "budgets", "budgets_of_homes"),
        charts=[month_chart("commission", "budget", 0), month_chart("homes", "homes_budget", 1)],
        collapsed=[writer.table(words.text("page.numbers"), "months", table, rows[::-1])],
        notes=notes,
    )  # fmt: skip


def _partial_note(row: Row, words: Language) -> str:
    if row.is_open:
        return words.text("page.so_far")
    return words.text("page.in_part") if row.is_partial else ""


def offices_section(facts: Facts, writer: Writer, files: Mapping[str, str]) -> Section | None:
    """Each office's year compared with its budget and last year; the last whole month is collapsed."""
    table = _offices_table(facts, writer, files, "year")
    if table is None:
        return None
    notes = [writer.words.text("offices.note")]
    if unassigned := {row.name for row in facts.agents if not row.office_id}:
        notes.append(writer.words.text("offices.unknown", agents=", ".join(sorted(unassigned))))
    return Section(
        "ranked", table.name, ("commission", "agents", "budgets"), table=table,
        collapsed=[_offices_table(facts, writer, {}, "month")], notes=notes,
    )  # fmt: skip


def _offices_table(facts: Facts, writer: Writer, files: Mapping[str, str], period: str) -> PageTable | None:
    """A period's figures by office, furthest behind budget first, with a total; without closed offices."""
    words, page = writer.words, facts.scopes[0] if facts.scopes else None
    names: dict[str | None, str] = dict(zip(page.office_ids, page.office_names, strict=True)) if page else {}
    rows = [
        row.with_columns(office=names.get(row.office_id, row.office_id), file=files.get(row.office_id, ""))
        for row in facts.periods
        if row.office_id is not None and row.period == period and (row.open_offices or row.commission_before)
    ]
    if not rows:
        return None
    table = [
        PageColumn("office", note=lambda row: _office_note(row, words), link="file"),
        PageColumn("commission", kind="money", has_bar=True, bar=("budget", "commission_before")),
        OF_BUDGET,
        GAP,
        PageColumn("last_year", "commission_change", "change"),
    ]  # fmt: skip
    if period == "year":
        table += [
            PageColumn("before", "commission_before", "money", is_minor=True),
            PageColumn(
                "figures.year_forecast", _complete_forecast, "money", is_minor=True,
                note=lambda row: _forecast_note(row, words),
            ),
            FORECAST,
            PageColumn("figures.homes", kind="parts"),
            PageColumn("figures.average_price", kind="compact", is_minor=True),
            PageColumn("figures.fee", "fee_share", "fee", is_minor=True),
            PageColumn("agents", kind="parts", is_minor=True),
            PageColumn("figures.commission_per_agent", "per_agent", "money"),
        ]  # fmt: skip
    rows.sort(key=lambda row: (row.budget is None, GAP.value_in(row) or 0, -(row.commission or 0)))
    total = _year(facts) if period == "year" else _page_period(facts, period)
    footer = (
        total.with_columns(office=words.text("offices.all"), file="") if total and len(rows) > 1 else None
    )
    name = words.text("offices.heading", period=words.period(rows[0].first_month, rows[0].last_month))
    return writer.table(name, "offices", table, rows, total=footer)


def _office_note(row: Row, words: Language) -> str:
    """A note if an office opened, closed or lacks data; for the total, how many offices are compared."""
    if row.office_id is None:
        return _comparison_note(row, words)
    if row.closed_after_month:
        return words.text("offices.closed", month=words.month(row.closed_after_month))
    if row.cut_short or (row.until_on and row.until_on < row.last_month):
        return words.text("offices.until", day=words.day(row.until_on))
    if row.missing_months:
        return words.text("offices.months_missing")
    return words.text("page.active_since", month=words.month(row.began_month)) if row.began_month else ""


def _forecast_note(row: Row, words: Language) -> str:
    """If an office lacks budgets: how many months have one; for the total, the forecast of the others."""
    if row.office_id is None:
        part = _offices_suffix(row.forecast_offices, row, words)
        return words.compact(row.year_forecast) + part if part and row.year_forecast is not None else ""
    if row.year_budget is not None or row.budget_months == 12 or row.closed_after_month:
        return ""
    return words.text("offices.no_budget", row.budget_months)


def drivers_section(facts: Facts, writer: Writer) -> Section | None:
    """Why commission from sales differs from last year: homes, price, fee, offices opened or closed."""
    words = writer.words
    has_other_offices = any(row.offices_effect for row in facts.drivers)
    steps = ("homes", "price", "fee", *(["offices"] if has_other_offices else []))
    table = [
        PageColumn("period", lambda row: words.text(f"cards.{row.period}"), "words"),
        PageColumn("before", "sold_commission_before", "money"),
        *(PageColumn(step, f"{step}_effect", "signed money") for step in steps),
        PageColumn("now", "sold_commission", "money"),
        PageColumn("difference", kind="signed money"),
    ]
    numbers = writer.table(words.text("drivers.heading"), "drivers", table, facts.drivers)
    if numbers is None:
        return None
    year = next((row for row in facts.drivers if row.period == "year"), facts.drivers[0])
    spans = waterfall_spans([getattr(year, f"{step}_effect") for step in steps])
    series = [
        Series("", colour, [span if (span[1] >= span[0]) is is_gain else None for span in spans])
        for colour, is_gain in (("gain", True), ("loss", False))
    ]
    names = [
        f"{words.text(f'drivers.{name}')}\n{words.compact(float(end) - float(start), has_plus=True)}"
        for name, (start, end) in zip((*steps, "difference"), spans, strict=True)
    ]
    drawing = chart(words.text(f"cards.{year.period}"), names, series, words, words.compact)
    notes = [words.text("drivers.note")] if has_other_offices else []
    return Section(
        "drivers", numbers.name, ("commission",), charts=[drawing], collapsed=[numbers], notes=notes
    )
