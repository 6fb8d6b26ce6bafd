"""The first screen of a page, and the sections about months, offices and the drivers of commission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, dropwhile, takewhile
from zoneinfo import ZoneInfo

from pipelines.months import Month
from pipelines.page.charts import Chart, Series, chart, column_spans, sparkline
from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language, Number, local_day
from pipelines.page.tables import Cell, PageColumn, PageTable, Section, Writer, budget_columns, period_name

PERIODS = ("running", "month", "year", "twelve")
OF_BUDGET, GAP = budget_columns("actual")
HOMES = PageColumn("figures.homes", kind="parts", change="homes_change")
PRICE = PageColumn("figures.average_price", kind="compact", change="average_price_change")
FEE = PageColumn("figures.fee", "fee_share", "fee", change="fee_share_difference")
MARKET = [
    PageColumn("figures.price_change", "price_change_share", "change"),
    PageColumn("figures.days_on_market", "days_on_market", "days"),
]


FORECAST = PageColumn("offices.year_end_share", "forecast_share", "share")


def _complete_forecast(row: Row) -> Decimal | None:
    """The forecast of the year. A row of several offices has none if one that has not closed lacks it."""
    forecast: Decimal | None = row.year_forecast
    return forecast if row.offices == 1 or row.forecast_offices >= row.open_offices else None


@dataclass(frozen=True)
class Card:
    """A small card: figures, and a sparkline of the first figure over the last 24 months."""

    title: str
    figures: list[tuple[str, Cell]]
    sparkline: Chart | None


@dataclass(frozen=True)
class Opening:
    """The first screen: the year's figures and chart, small cards, a table of periods, and notes."""

    figures: list[tuple[str, Cell]]
    chart: Chart | None
    cards: list[Card]
    periods: PageTable | None
    notes: list[str]


def opening(facts: Facts, writer: Writer) -> Opening:
    """The first screen. The year's figures and chart are left out until a whole month is loaded."""
    words, row = writer.words, _year(facts)
    notes = _notes(facts, words)
    if row and row.year_forecast is not None:
        notes += [_range(item, words) for item in facts.forecasts if item.year_forecast_low is not None]
    if row and row.budget and any(basis.commission_vat == "unknown" for basis in facts.basis):
        notes.append(words.text("basis.shares"))
    return Opening(
        figures=_headline_figures(row, writer) if row and row.is_over else [],
        chart=_year_chart(facts, row, words) if row and row.is_over else None,
        cards=_cards(facts, writer, row),
        periods=_periods(facts, writer),
        notes=notes,
    )


def _headline_figures(row: Row, writer: Writer) -> list[tuple[str, Cell]]:
    words, period = writer.words, writer.words.period(row.first_month, row.last_month)
    key = "year.like_for_like" if row.offices > 1 else "offices.last_year"
    growth_label = words.text(key, compared=row.compared_offices, all=row.offices)
    figures = {
        words.text("year.commission", period=period): PageColumn("", "commission", "compact"),
        words.text("year.of_budget") + _suffix(_budget_covered(row, words)): OF_BUDGET,
        growth_label: PageColumn("", "commission_change", "change"),
        words.text("year.total"): PageColumn("", _total_change, "change"),
        words.text("year.forecast") + _suffix(_forecast_covered(row, words)): FORECAST,
        f"{words.text('figures.year_forecast')}, {_forecast_note(row, words)}".rstrip(", "): PageColumn(
            "", lambda row: None if row.forecast_share else _complete_forecast(row), "compact"
        ),
    }
    cells = [(name, writer.cell(column, row)) for name, column in figures.items()]
    return [(name, cell) for name, cell in cells if cell.key]


def _total_change(row: Row) -> float | None:
    """The growth of all offices; None for a single office, or if like-for-like growth covers every office."""
    return row.total_change if row.compared_offices < row.offices > 1 else None


def _year_chart(facts: Facts, row: Row, words: Language) -> Chart | None:
    months = [month for month in facts.months if month.month.year == row.last_month.year]
    ended = [month for month in months if month.month <= row.last_month]
    goals = {month.month: month.goal for month in months}
    goals |= {month.month: 0 for month in ended if month.goal is None and month.commission == 0}
    actual = _running_sums([month.commission for month in ended])
    forecast: list[Number | None] = [None] * len(months)
    at_year_end = _complete_forecast(row)
    if at_year_end is not None and actual and actual[-1] is not None:
        forecast[len(ended) - 1], forecast[-1] = actual[-1], at_year_end
    budget_label = words.text("months.budget") + _suffix(_offices_covered(row.budget_offices, row, words))
    lines = {
        (words.text("months.before"), "before"): _running_sums([month.commission_before for month in months]),
        (budget_label, "goal"): _running_sums([*goals.values()]),
        (words.text("year.forecast_line"), "forecast"): forecast,
        (words.text("months.actual"), "value"): actual,
    }
    series = [
        Series(name, colour, column_spans([*sums, *[None] * (len(months) - len(sums))]), "line")
        for (name, colour), sums in lines.items()
    ]
    names = [words.month(month.month)[:3] for month in months]
    if not any(any(line.spans) for line in series):
        return None
    title = words.text("year.chart", year=row.last_month.year)
    if any(goals.values()) and (missing := [month for month, goal in goals.items() if goal is None]):
        title += f"; {words.text('months.no_budget', months=words.months(missing))}"
    return chart(title, names, series, words.compact)


def _running_sums(values: Sequence[Number | None]) -> list[Number | None]:
    """The running sums. A sum is None if it would include an unknown value; all are None if all are zero."""
    sums = [*accumulate(takewhile(lambda value: value is not None, values))]
    known = len(sums) if any(sums) else 0
    return [*sums[:known], *[None] * (len(values) - known)]


def _cards(facts: Facts, writer: Writer, row: Row | None) -> list[Card]:
    ended = [month for month in facts.months if not (month.is_coming or month.is_open)]
    ended = [*dropwhile(lambda month: not month.homes, ended)][-24:]
    cards: list[tuple[str, list[PageColumn], Row | None, Sequence[Row], str]] = [
        ("year.homes", [HOMES], row, ended, "homes"),
        ("year.price", [PRICE, FEE], row, ended, "average_price"),
        ("market.heading", MARKET, next(iter(facts.market[-1:]), None), facts.market, "price_change_share"),
    ]
    words = writer.words
    return [
        Card(
            words.text(title, period=words.period(row.first_month, row.last_month) if row else ""),
            [(words.text(column.heading), writer.cell(column, shown)) for column in figures],
            sparkline(
                words.months([month.month for month in months]), [getattr(month, plotted) for month in months]
            ),
        )
        for title, figures, shown, months, plotted in cards
        if shown
    ]


def _periods(facts: Facts, writer: Writer) -> PageTable | None:
    words, periods = writer.words, [_page_period(facts, name) for name in PERIODS]
    rows = [row for row in periods if row and (row.is_over or row.period == "running")]
    total_growth = PageColumn("cards.total", "total_change", "change", is_minor=True)
    columns = [
        PageColumn(
            "page.period", lambda row: period_name(row.period, row.last_month, words),
            note=lambda row: words.period(row.first_month, row.last_month),
        ),
        PageColumn("figures.commission", kind="money", change="commission_change"),
        *([total_growth] if any(_total_change(row) is not None for row in rows) else []),
        replace(OF_BUDGET, note=lambda row: _budget_note(row, words)),
        GAP,
        HOMES,
        PRICE,
        FEE,
        PageColumn(
            "figures.average_commission", kind="money", change="average_commission_change", is_minor=True
        ),
        PageColumn("cards.other_commission", kind="money", change="other_commission_change", is_minor=True),
        PageColumn("figures.commission_per_agent", "per_agent", "money", change="per_agent_change"),
    ]  # fmt: skip
    return writer.table(words.text("cards.heading"), "cards", columns, rows)


def _budget_note(row: Row, words: Language) -> str:
    budget = words.text("cards.of_budget", budget=words.compact(row.budget))
    return "" if row.budget is None else budget + _suffix(_budget_covered(row, words))


def _notes(facts: Facts, words: Language) -> list[str]:
    """Notes on the periods. A note that several periods share comes once, after all their names."""
    periods_by_note: dict[str, list[str]] = {}
    for row in filter(None, (_page_period(facts, name) for name in PERIODS)):
        for note in _period_notes(row, facts, words):
            periods_by_note.setdefault(note, []).append(period_name(row.period, row.last_month, words))
    return [f"{', '.join(periods)}: {note}" for note, periods in periods_by_note.items()]


def _period_notes(row: Row, facts: Facts, words: Language) -> list[str]:
    text, notes = words.text, []
    if row.missing_months:
        notes.append(text("cards.missing_months", row.missing_months))
    if row.cut_short:
        notes.append(text("cards.cut", row.cut_short))
    if row.unbudgeted_months:
        gap = {"office": row.unbudgeted_office, "months": words.months(sorted({*row.unbudgeted_months}))}
        notes.append(text("cards.no_budget", len(row.unbudgeted_months), **gap))
    if row.first_month > row.period_start:
        notes.append(text("cards.no_data_before", month=words.month(row.first_month)))
    if row.period == "running":
        notes += _same_days_notes(facts, row, words)
    elif row.is_over and not row.compared_offices and row.offices == 1 and row.began_month:
        notes.append(text("cards.began", month=words.month(row.began_month)))
    elif row.is_over and not row.compared_offices and row.closed_after_month:
        notes.append(text("offices.closed", month=words.month(row.closed_after_month)))
    elif row.is_over and not row.compared_offices:
        notes.append(text(f"cards.{'no_year_before' if row.commission_before is None else 'none_compared'}"))
    elif compared := _comparison_note(row, words):
        notes.append(compared)
    if row.homes_change is not None and row.average_price_change is None:
        notes.append(text("cards.few_homes"))
    for drift in [drift for drift in facts.drift if (row.period, row.last_month) == ("month", drift.month)]:
        changes = {name: words.change(getattr(drift, name)) for name in ("change", "least", "greatest")}
        notes.append(text("cards.fresh", months=drift.months, **changes))
    return notes


def _same_days_notes(facts: Facts, running: Row, words: Language) -> list[str]:
    row = next((row for row in facts.same_days if row.office_id is None), None)
    if row is None:
        has_last_year = any(row.is_open and row.commission_before for row in facts.months)
        return [words.text("cards.running_note")] if has_last_year else []
    change = words.change(row.commission / row.commission_before - 1)
    amounts = {"amount": words.compact(row.commission), "change": change}
    compared = words.text("cards.in_both_years") if running.offices > 1 else ""
    notes = [words.text("cards.same_days", day=words.day(row.until_on), offices=compared, **amounts)]
    if row.offices_behind:
        days = zip(row.offices_behind, row.their_days, strict=True)
        behind = ", ".join(f"{name} {day.day}" for name, day in days)
        notes.append(words.text("cards.earlier", offices=behind))
    if row.missing_offices:
        notes.append(words.text("cards.not_compared", offices=row.missing_offices))
    return notes


def _comparison_note(row: Row, words: Language) -> str:
    if not row.is_over or not 0 < row.compared_offices < row.offices:
        return ""
    return words.text("cards.compared", offices=row.compared_offices, all=row.offices)


def _offices_covered(covered: int, row: Row, words: Language) -> str:
    """The text "9 of 10 offices" if a figure covers fewer offices than were open."""
    total = row.open_offices
    return words.text("cards.of_offices", offices=covered, all=total) if covered < total else ""


def _budget_covered(row: Row, words: Language) -> str:
    """The text "9 of 10 offices" (for one office, "9 of 10 months") if some have no budget."""
    if row.offices > 1 or not row.unbudgeted_months:
        return _offices_covered(row.budget_offices, row, words)
    first = Month.of(max(row.first_month, row.began_month or row.first_month))
    loaded = Month.of(row.last_month).since(first) + 1 - row.missing_months
    return words.text("cards.of_months", months=loaded - len(row.unbudgeted_months), all=loaded)


def _forecast_covered(row: Row, words: Language) -> str:
    """The text "9 of 10 offices" (for one office, "9 of 12 months") if some have no budget for the year."""
    if row.offices > 1 or row.year_budget:
        return _offices_covered(row.forecast_offices, row, words)
    return words.text("cards.of_months", months=row.budget_months, all=12)


def _suffix(text: str) -> str:
    return f" ({text})" if text else ""


def _range(forecast: Row, words: Language) -> str:
    low, high = map(words.compact, (forecast.year_forecast_low, forecast.year_forecast_high))
    return words.text("forecast.range", forecast.past_years, low=low, high=high)


def _page_period(facts: Facts, name: str) -> Row | None:
    """The row of a period for all offices of the page."""
    return next((row for row in facts.periods if row.period == name and row.office_id is None), None)


def _year(facts: Facts) -> Row | None:
    """The year to date for all offices of the page."""
    year = _page_period(facts, "year")
    row = next(iter(facts.forecasts), None)
    if year is None or year.year_forecast is None or not (year.year_budget and row and row.budget_share):
        return year
    # unlike the period's forecast, this one covers closed offices with a budget
    shares = {"forecast_share": row.budget_share, "forecast_offices": row.offices}
    return year.with_columns(year_forecast=row.year_forecast, **shares)


def months_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Section | None:
    """Charts of commission and homes by month, and a collapsed table. None if there is no month to show."""
    rows, words = [row for row in facts.months if row.is_shown], writer.words
    if not rows:
        return None
    if (year := _page_period(facts, "year")) and (began := year.began_month):
        for suffix, first in (("", began), ("_before", Month.of(began).plus(12).first_day)):
            empty = {f"commission{suffix}": None, f"homes{suffix}": None}
            rows = [row.with_columns(**empty) if row.month < first else row for row in rows]

    def month_chart(measure: str, budget_column: str, min_step: float) -> Chart:
        whole_months = [row for row in rows if not (row.is_open or row.is_partial)]
        other_months = [row for row in rows if row not in whole_months]

        def spans(column: str, months: Sequence[Row] = rows) -> list[tuple[Number, Number] | None]:
            return column_spans([getattr(row, column) if row in months else None for row in rows])

        unfinished_key = "page.so_far" if rows[-1].is_open else "page.in_part"
        series = [
            Series(words.text("months.before"), "before", spans(f"{measure}_before"), "wide"),
            Series(words.text("months.actual"), "value", spans(measure, whole_months)),
            Series(words.text(unfinished_key), "value open", spans(measure, other_months)),
            Series(words.text("months.budget"), "goal", spans(budget_column), "tick"),
        ]
        names = [words.month(row.month)[:3] for row in rows]
        write, blank = words.tenths if min_step else words.compact, words.text("page.not_loaded")
        return chart(words.text(f"figures.{measure}"), names, series, write, min_step=min_step, blank=blank)

    columns = [
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
    covered = _offices_covered(year.budget_offices, year, words) if year and year.budget is not None else ""
    return Section(
        "months", words.text("months.heading"), ("commission", "agents", "budgets", "budgets_of_homes"),
        charts=[month_chart("commission", "budget", 0), month_chart("homes", "homes_budget", 1)],
        collapsed=[writer.table(words.text("page.numbers"), "months", columns, rows[::-1])],
        notes=[words.text("months.budgeted", offices=covered)] if covered else [],
    )  # fmt: skip


def _partial_note(row: Row, words: Language) -> str:
    if row.is_open:
        return words.text("page.so_far")
    return words.text("page.in_part") if row.is_partial else ""


def offices_section(facts: Facts, writer: Writer, files: Mapping[str, str]) -> Section | None:
    """Tables of the offices: the year, the current month (collapsed) and the last whole month."""
    table = _offices_table(facts, writer, files, "year")
    if table is None:
        return None
    notes = [writer.words.text("offices.note")]
    if unassigned := {row.name for row in facts.agents if not row.office_id}:
        notes.append(writer.words.text("offices.unknown", agents=", ".join(sorted(unassigned))))
    running, month = (_offices_table(facts, writer, {}, name) for name in ("running", "month"))
    return Section(
        "ranked", table.name, ("commission", "agents", "budgets"), table=table,
        collapsed=[running, month and replace(month, is_open=True)], notes=notes,
    )  # fmt: skip


def _offices_table(facts: Facts, writer: Writer, files: Mapping[str, str], period: str) -> PageTable | None:
    words, page = writer.words, facts.scopes[0] if facts.scopes else None
    names: dict[str | None, str] = dict(zip(page.office_ids, page.office_names, strict=True)) if page else {}
    # show an office that closed before the period only if it had commission in the same period a year ago
    rows = [
        row.with_columns(office=names.get(row.office_id, row.office_id), file=files.get(row.office_id, ""))
        for row in facts.periods
        if row.office_id is not None and row.period == period and (row.open_offices or row.commission_before)
    ]
    if not rows:
        return None
    forecast = PageColumn(
        "figures.year_forecast", _complete_forecast, "money", is_minor=True,
        note=lambda row: _forecast_note(row, words),
    )  # fmt: skip
    same_days = facts.same_days if period == "running" else ()
    changes = {row.office_id: row.commission / row.commission_before - 1 for row in same_days}
    columns = [
        PageColumn("office", note=lambda row: _office_note(row, words), link="file"),
        PageColumn("commission", kind="money", has_bar=True, bar=("budget", "commission_before")),
        replace(OF_BUDGET, note=lambda row: row.budget and _budget_covered(row, words)),
        GAP,
        PageColumn("last_year", "commission_change", "change"),
        PageColumn("same_days", lambda row: changes.get(row.office_id), "change"),
        PageColumn("before", "commission_before", "money", is_minor=True),
        forecast,
        replace(FORECAST, note=lambda row: row.forecast_share and _forecast_covered(row, words)),
        PageColumn("figures.homes", kind="parts"),
        PageColumn("figures.average_price", kind="compact", is_minor=True),
        PageColumn("figures.fee", "fee_share", "fee", is_minor=True),
        PageColumn("agents" if period == "year" else "active", "agents", "parts", is_minor=True),
        PageColumn("figures.commission_per_agent", "per_agent", "money"),
    ]
    rows.sort(key=lambda row: (row.budget is None, GAP.value_in(row) or 0, -(row.commission or 0)))
    total = _year(facts) if period == "year" else _page_period(facts, period)
    footer = total.with_columns(office=words.text("offices.all"), file="") if total and rows[1:] else None
    title = words.text("offices.heading", period=words.period(rows[0].first_month, rows[0].last_month))
    title += "" if rows[0].is_over else f", {words.text('page.so_far')}"
    return writer.table(title, "offices", columns, rows, total=footer)


def _office_note(row: Row, words: Language) -> str:
    if row.office_id is None:  # the total
        return _comparison_note(row, words)
    if row.closed_after_month:
        return words.text("offices.closed", month=words.month(row.closed_after_month))
    if row.cut_short or (row.until_on and row.until_on < row.last_month):
        return words.text("offices.until", day=words.day(row.until_on))
    if row.missing_months:
        return words.text("offices.months_missing")
    return words.text("page.active_since", month=words.month(row.began_month)) if row.began_month else ""


def _forecast_note(row: Row, words: Language) -> str:
    """The forecast of some offices of a total, if the others have none."""
    part = _offices_covered(row.forecast_offices, row, words) if row.offices > 1 else ""
    return f"{words.compact(row.year_forecast)} ({part})" if part and row.year_forecast is not None else ""


def drivers_section(facts: Facts, writer: Writer) -> Section | None:
    """Why commission from sales differs from last year: homes, price, fee, and opened or closed offices."""
    words = writer.words
    names = {name: words.text(f"cards.{name}") for name in PERIODS}
    names |= {row.period: period_name(row.period, row.last_month, words) for row in facts.periods}
    has_offices_effect = any(row.offices_effect for row in facts.drivers)
    steps = ("homes", "price", "fee", *(["offices"] if has_offices_effect else []))
    columns = [
        PageColumn("period", lambda row: names[row.period], "words"),
        PageColumn("before", "sold_commission_before", "money"),
        *(PageColumn(step, f"{step}_effect", "signed money") for step in steps),
        PageColumn("now", "sold_commission", "money"),
        PageColumn("difference", kind="signed money"),
    ]
    table = writer.table(words.text("drivers.heading"), "drivers", columns, facts.drivers)
    if table is None:
        return None
    charted = next((row for row in facts.drivers if row.period == "year"), facts.drivers[0])
    amounts = {step: getattr(charted, f"{step}_effect") for step in steps}
    amounts["difference"] = charted.difference
    spans = column_spans([*amounts.values()])
    series = [
        Series("", colour, [span if span and (span[1] >= 0) is is_gain else None for span in spans])
        for colour, is_gain in (("gain", True), ("loss", False))
    ]
    labels = [
        f"{words.text(f'drivers.{name}')}\n{words.compact(value, has_plus=True)}"
        for name, value in amounts.items()
    ]
    drawing = chart(names[charted.period], labels, series, words.compact)
    notes = [words.text("drivers.note")] if has_offices_effect else []
    return Section("drivers", table.name, ("commission",), charts=[drawing], collapsed=[table], notes=notes)
