"""How is each office doing? The year against its budget in one table, then its months in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.bars import HorizontalBar, bar, longest
from pipelines.page.columns import Chart, Point, chart
from pipelines.page.comparing import COMMISSION, HOMES, Attained, Months, Sum, later, span
from pipelines.page.headline import Trend, trend
from pipelines.page.numbers import homes, kronor, percent, short_kronor, span_name

LONGEST_CHART, SHORTEST_CHART = 12, 6


@dataclass(frozen=True)
class OfficeYear:
    """An office's line in the table of the year so far."""

    name: str
    commission: str
    bar: HorizontalBar
    attained: str
    trend: Trend | None
    homes: str
    forecast: str
    is_whole: bool


@dataclass(frozen=True)
class Gallery:
    """The months of an office, or of all of them, in pictures with one table behind."""

    name: str
    charts: tuple[Chart, ...]
    pairs: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class OfficesView:
    """Everything the page says of offices."""

    period: str
    years: tuple[OfficeYear, ...]
    chain: Gallery | None
    galleries: tuple[Gallery, ...]
    has_budget: bool


def offices_view(months: Months) -> OfficesView:
    """The offices of a file; one office needs no chain beside it."""
    newest = months.newest
    if newest is None:
        return OfficesView("", (), None, (), False)
    shown = _shown(months, newest)
    last = months.last_whole or newest
    year = span(last, last.month)
    years = _years(months, year)
    return OfficesView(
        span_name(year[0], year[-1]) + ("" if months.last_whole else ", so far"),
        years,
        _gallery(months, "The whole chain", months.offices, shown) if len(months.offices) > 1 else None,
        tuple(_gallery(months, months.names[office], [office], shown) for office in months.offices),
        any(one.attained for one in years),
    )


def _shown(months: Months, newest: date) -> tuple[date, ...]:
    first = min(month for _, month in months.rows)
    held = (newest.year - first.year) * 12 + newest.month - first.month + 1
    return span(newest, max(SHORTEST_CHART, min(LONGEST_CHART, held)))


def _years(months: Months, year: Sequence[date]) -> tuple[OfficeYear, ...]:
    sums = {office: months.sum([office], year) for office in months.offices}
    goals = {office: months.attained([office], year, COMMISSION) for office in months.offices}
    budgets = [goal.budget for goal in goals.values() if goal]
    most = longest([*(one.commission for one in sums.values()), *budgets])
    ranked = sorted(months.offices, key=lambda one: -sums[one].commission)
    return tuple(_year(months, office, year, sums[office], goals[office], most) for office in ranked)


def _year(
    months: Months,
    office: str,
    year: Sequence[date],
    total: Sum,
    goal: Attained | None,
    most: Decimal | int | float,
) -> OfficeYear:
    compared = months.compared([office], year)
    end = months.forecast([office], year[-1], COMMISSION)
    return OfficeYear(
        name=months.names[office],
        commission=kronor(total.commission if total.known else None),
        bar=bar(total.commission, most, goal.budget if goal else None),
        attained=percent(goal.share) if goal else "",
        trend=trend(compared.now.commission, compared.before.commission) if compared else None,
        homes=homes(total.homes if total.known else None),
        forecast=f"{short_kronor(end.actual)} ({percent(end.share)})" if end else "",
        is_whole=total.known == total.wanted,
    )


def _gallery(months: Months, name: str, offices: Sequence[str], shown: Sequence[date]) -> Gallery:
    charts = (
        chart("Commission", _points(months, offices, shown, COMMISSION), kronor, short_kronor),
        chart("Homes sold", _points(months, offices, shown, HOMES), homes, homes, finest=1),
    )
    return Gallery(name, charts, tuple(zip(*(one.rows for one in charts), strict=True)))


def _points(months: Months, offices: Sequence[str], shown: Sequence[date], measure: str) -> list[Point]:
    return [
        Point(
            month,
            _added([months.value(one, month, measure) for one in offices]),
            _added([months.value(one, later(month, -12), measure) for one in offices]),
            _budget(months, offices, month, measure),
            any((row := months.rows.get((one, month))) is not None and row.is_open for one in offices),
        )
        for month in shown
    ]


def _budget(months: Months, offices: Sequence[str], month: date, measure: str) -> Decimal | None:
    """The budgets of a month together, of the offices that have one; nothing budgeted is no budget."""
    known = [one for office in offices if (one := months.budget(office, month, measure)) is not None]
    return sum(known, Decimal(0)) or None


def _added(amounts: Sequence[Decimal | None]) -> Decimal | None:
    """All of them together; unknown as soon as one is, for half a chain is no month."""
    known = [one for one in amounts if one is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(amounts) else None
