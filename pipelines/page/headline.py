"""How are we doing? The month that runs, the last whole one, the year so far and the last twelve months."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.bars import HorizontalBar, attainment
from pipelines.page.comparing import COMMISSION, Compared, Months, Sum, growth, later, span
from pipelines.page.numbers import (
    change,
    homes,
    kronor,
    month_name,
    percent,
    short_kronor,
    span_name,
    whole,
)


@dataclass(frozen=True)
class Trend:
    """A change since the year before: its words and which way it goes."""

    text: str
    way: str  # up, down or level


@dataclass(frozen=True)
class Figure:
    """One number of a card, with its trend where it has one."""

    name: str
    value: str
    trend: Trend | None


@dataclass(frozen=True)
class Card:
    """One period: its commission and what belongs to it."""

    title: str
    period: str
    figures: tuple[Figure, ...]
    budget: str
    budget_bar: HorizontalBar | None
    notes: tuple[str, ...]

    @property
    def is_compared(self) -> bool:
        return any(figure.trend for figure in self.figures)


def trend(now: Decimal | None, before: Decimal | None) -> Trend | None:
    """The change between two amounts; none where one is unknown or there was nothing."""
    share = growth(now, before)
    if share is None:
        return None
    text = change(share)
    return Trend(text, "level" if text.startswith("0,0") else "up" if share > 0 else "down")


def cards(months: Months) -> tuple[Card, ...]:
    """The cards of a file; a file without a month has none, one without a whole month only the first."""
    newest, whole_month = months.newest, months.last_whole
    found: list[Card] = []
    if newest is not None and newest != whole_month:
        found.append(_running(months, newest))
    if whole_month is not None:
        year = span(whole_month, whole_month.month)
        found.append(_card(months, "Last whole month", span(whole_month, 1)))
        found.append(_card(months, "Year to date", year, forecast=True))
        found.append(_card(months, "Twelve months", span(whole_month, 12)))
    return tuple(found)


def _running(months: Months, month: date) -> Card:
    """The month that is not over: compared with a whole one by its part only, never by growth."""
    total = months.sum(months.offices, [month])
    before = months.sum(months.offices, [later(month, -12)])
    notes = list(_unknown(total))
    if before.commission and before.known == before.wanted:
        part = percent(total.commission / before.commission)
        notes.insert(0, f"{part} of the whole of {month_name(later(month, -12))}")
    return Card(
        "This month so far",
        month_name(month),
        _figures(total, None),
        *_attained(months, [month]),
        tuple(notes),
    )


def _card(months: Months, title: str, period: Sequence[date], *, forecast: bool = False) -> Card:
    total = months.sum(months.offices, period)
    compared = months.compared(months.offices, period)
    notes = list(_unknown(total))
    if compared is None:
        notes.append("the year before is not held, so there is nothing to compare with")
    elif compared.offices < compared.offices_in_all:
        notes.append(
            f"compared over the {compared.offices} of {compared.offices_in_all} offices held in both"
        )
    if forecast and (end := months.forecast(months.offices, period[-1], COMMISSION)):
        text = f"as it goes, the year ends at {short_kronor(end.actual)}"
        notes.insert(0, f"{text}, {percent(end.share)} of its budget")
    return Card(
        title,
        span_name(period[0], period[-1]),
        _figures(total, compared),
        *_attained(months, period),
        tuple(notes),
    )


def _figures(total: Sum, compared: Compared | None) -> tuple[Figure, ...]:
    now, before = (compared.now, compared.before) if compared else (None, None)
    commission, sold = (total.commission, total.homes) if total.known else (None, None)
    return (
        Figure("Commission", kronor(commission), _trend(now, before, "commission")),
        Figure("Homes sold", homes(sold), _trend(now, before, "homes")),
        Figure("Per home sold", kronor(total.average), _trend(now, before, "average")),
    )


def _trend(now: Sum | None, before: Sum | None, name: str) -> Trend | None:
    return trend(getattr(now, name), getattr(before, name)) if now and before else None


def _attained(months: Months, period: Sequence[date]) -> tuple[str, HorizontalBar | None]:
    reached = months.attained(months.offices, period, COMMISSION)
    if reached is None:
        return "", None
    text = f"{percent(reached.share)} of budget, {kronor(reached.budget)}"
    if reached.offices < len(months.offices):
        text += f", of the {reached.offices} of {len(months.offices)} offices that have one"
    return text, attainment(reached.share)


def _unknown(total: Sum) -> Iterator[str]:
    if total.known < total.wanted:
        missing = whole(total.wanted - total.known)
        yield f"{missing} of {whole(total.wanted)} months of offices are not held, and not counted"
