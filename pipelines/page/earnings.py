"""Headline figures, offices and leaderboard: what was earned, on the year before and of the budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.charts import Chart, ChartColumn, ChartMonth, chart
from pipelines.page.comparison import (
    COMMISSION,
    HOMES,
    BudgetProgress,
    EarnedTotal,
    OfficeMonths,
    YearComparison,
    add_months,
    last_months,
)
from pipelines.page.facts import Earner, Facts
from pipelines.page.numbers import (
    Number,
    kronor,
    month_name,
    number,
    percent,
    period_name,
    ratio,
    short_kronor,
    short_number,
)

LONGEST_CHART, SHORTEST_CHART = 12, 6
_PERIODS = {"year": "Year to date", "month": "Month", "quarter": "Quarter", "twelve months": "Twelve months"}
_EARNERS = {"user": "Agents", "office": "Offices"}
_FIGURES = (
    ("Commission", "commission", kronor),
    ("Homes sold", "homes", short_number),
    ("Per home sold", "average", kronor),
)


@dataclass(frozen=True)
class Figure:
    """One number of a card, and its growth on the year before where both are known."""

    name: str
    value: str
    growth: Decimal | None


@dataclass(frozen=True)
class Card:
    """One period: its commission and what belongs to it."""

    title: str
    period: str
    figures: tuple[Figure, ...]
    progress: BudgetProgress | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class OfficeYear:
    """An office's line in the table of the year so far."""

    name: str
    total: EarnedTotal
    growth: Decimal | None
    progress: BudgetProgress | None
    year_end: BudgetProgress | None


@dataclass(frozen=True)
class OfficeCharts:
    """The months of an office, or of all of them; `rows` are the columns of each month, newest first."""

    name: str
    charts: tuple[Chart, ...]
    rows: tuple[tuple[ChartColumn, ...], ...]


@dataclass(frozen=True)
class OfficesSection:
    """Everything the page says of offices; one office needs no chain beside it."""

    period: str
    years: tuple[OfficeYear, ...]
    longest: Number
    chain: OfficeCharts | None
    offices: tuple[OfficeCharts, ...]
    has_budget: bool


@dataclass(frozen=True)
class Leaderboard:
    """The places of one kind of earner in one period."""

    title: str
    period: str
    earners: tuple[Earner, ...]
    others: int
    is_complete: bool


def growth(now: Decimal | None, before: Decimal | None) -> Decimal | None:
    """The change in parts of what was before; none where there was nothing."""
    share = ratio(now, before)
    return None if share is None else share - 1


def cards(months: OfficeMonths) -> tuple[Card, ...]:
    """The cards of a file; a file without a month has none, one without a whole month only the first."""
    newest, whole = months.newest, months.last_whole
    found = []
    if newest is not None and newest != whole:
        found.append(_card_so_far(months, newest))
    if whole is not None:
        found.append(_card(months, "Last whole month", [whole]))
        found.append(_card(months, "Year to date", last_months(whole, whole.month)))
        found.append(_card(months, "Twelve months", last_months(whole, 12)))
    return tuple(found)


def _card_so_far(months: OfficeMonths, month: date) -> Card:
    """The month that is not over: compared with a whole one by its part only, never by growth."""
    total, year_before = months.total(months.offices, [month]), add_months(month, -12)
    before = months.total(months.offices, [year_before])
    notes = _not_held(total)
    if before.commission and before.known == before.wanted:
        part = percent(total.commission / before.commission)
        notes.insert(0, f"{part} of the whole of {month_name(year_before)}")
    return Card(
        "This month so far",
        month_name(month),
        _figures(total, None),
        months.progress(months.offices, [month]),
        tuple(notes),
    )


def _card(months: OfficeMonths, title: str, period: Sequence[date]) -> Card:
    total = months.total(months.offices, period)
    compared = months.compared(months.offices, period)
    notes = _not_held(total)
    if compared is None:
        notes.append("the year before is not held, so there is nothing to compare with")
    elif compared.offices < len(months.offices):
        notes.append(f"compared over the {compared.offices} of {len(months.offices)} offices held in both")
    if title == "Year to date" and (end := months.progress(months.offices, period[-1:], year_end=True)):
        text = f"as it goes, the year ends at {short_kronor(end.actual)}"
        notes.insert(0, f"{text}, {percent(end.share)} of its budget")
    return Card(
        title,
        period_name(period[0], period[-1]),
        _figures(total, compared),
        months.progress(months.offices, period),
        tuple(notes),
    )


def _not_held(total: EarnedTotal) -> list[str]:
    if total.known == total.wanted:
        return []
    missing = number(total.wanted - total.known)
    return [f"{missing} of {number(total.wanted)} months of offices are not held, and not counted"]


def _figures(total: EarnedTotal, compared: YearComparison | None) -> tuple[Figure, ...]:
    return tuple(
        Figure(
            name,
            write(getattr(total, field) if total.known else None),
            growth(getattr(compared.now, field), getattr(compared.before, field)) if compared else None,
        )
        for name, field, write in _FIGURES
    )


def offices_section(months: OfficeMonths) -> OfficesSection | None:
    """The offices of a file, those with the highest commission first; none when no month is held."""
    newest, oldest = months.newest, months.oldest
    if newest is None or oldest is None:
        return None
    last = months.last_whole or newest
    year = last_months(last, last.month)
    years = []
    for office in months.offices:
        compared = months.compared([office], year)
        years.append(
            OfficeYear(
                name=months.names[office],
                total=months.total([office], year),
                growth=growth(compared.now.commission, compared.before.commission) if compared else None,
                progress=months.progress([office], year),
                year_end=months.progress([office], year[-1:], year_end=True),
            )
        )
    held = (newest.year - oldest.year) * 12 + newest.month - oldest.month + 1
    shown = last_months(newest, max(SHORTEST_CHART, min(LONGEST_CHART, held)))
    return OfficesSection(
        period=period_name(year[0], last) + ("" if months.last_whole else ", so far"),
        years=tuple(sorted(years, key=lambda one: -one.total.commission)),
        longest=max(
            [
                *(one.total.commission for one in years),
                *(one.progress.budget for one in years if one.progress),
            ]
        ),
        chain=_charts(months, "The whole chain", months.offices, shown) if len(months.offices) > 1 else None,
        offices=tuple(_charts(months, months.names[one], [one], shown) for one in months.offices),
        has_budget=any(one.progress for one in years),
    )


def _charts(months: OfficeMonths, name: str, offices: Sequence[str], shown: Sequence[date]) -> OfficeCharts:
    charts = (
        chart("Commission", _chart_months(months, offices, shown, COMMISSION), kronor, short_kronor),
        chart(
            "Homes sold", _chart_months(months, offices, shown, HOMES), short_number, short_number, finest=1
        ),
    )
    return OfficeCharts(name, charts, tuple(zip(*(one.columns[::-1] for one in charts), strict=True)))


def _chart_months(
    months: OfficeMonths, offices: Sequence[str], shown: Sequence[date], measure: str
) -> list[ChartMonth]:
    """The months of these offices together: unknown as soon as one office is, for half a chain is no month.

    Budgets are those of the offices that have one; nothing budgeted is no budget.
    """
    found = []
    for month in shown:
        sums = []
        for one in (month, add_months(month, -12)):
            values = [months.value(office, one, measure) for office in offices]
            known = [value for value in values if value is not None]
            sums.append(sum(known, Decimal(0)) if len(known) == len(values) else None)
        rows = [months.budgets.get((office, month, measure)) for office in offices]
        budgets = [row.budget for row in rows if row is not None and row.budget is not None]
        is_open = any((row := months.rows.get((one, month))) and row.is_open for one in offices)
        found.append(ChartMonth(month, sums[0], sums[1], sum(budgets, Decimal(0)) or None, is_open))
    return found


def leaderboards(facts: Facts) -> dict[str, list[Leaderboard]]:
    """The boards that the file has something for, by kind of earner."""
    found: dict[str, list[Leaderboard]] = {}
    for kind, heading in _EARNERS.items():
        for period, title in _PERIODS.items():
            earners = tuple(one for one in facts.earners if (one.kind, one.period) == (kind, period))
            if not earners:
                continue
            first, last = earners[0], earners[0].month
            back = {"month": 0, "quarter": (last.month - 1) % 3, "year": last.month - 1, "twelve months": 11}
            board = Leaderboard(
                title=title,
                period=period_name(add_months(last, -back[period]), last),
                earners=earners,
                others=max(0, first.earner_count - len(earners)),
                is_complete=first.is_complete,
            )
            found.setdefault(heading, []).append(board)
    return found
