"""What becomes of leads? From received to sold, over the last twelve months, by kind, state and office."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipelines.page.bars import HorizontalBar, bar, longest
from pipelines.page.columns import Chart, Point, chart
from pipelines.page.facts import Facts, LeadCount
from pipelines.page.numbers import UNKNOWN, percent, whole

INCOMING, OUTGOING, TIP = "incoming lead", "outgoing lead", "tip"
_CUTS = {"kind": "By kind", "office": "By office", "state": "By state"}


@dataclass(frozen=True)
class Step:
    """One step of the funnel."""

    name: str
    count: str
    share: str
    bar: HorizontalBar


@dataclass(frozen=True)
class LeadRow:
    """Leads of one kind, state or office."""

    name: str
    leads: str
    bar: HorizontalBar
    sold: str
    share: str
    days: str


@dataclass(frozen=True)
class Cut:
    """A table of leads by something."""

    title: str
    rows: tuple[LeadRow, ...]


@dataclass(frozen=True)
class LeadsView:
    """Everything the page says of leads."""

    steps: tuple[Step, ...]
    chart: Chart | None
    cuts: tuple[Cut, ...]
    outgoing: str
    tips: str
    tips_sold: str


def leads_view(facts: Facts, months: Sequence[date]) -> LeadsView | None:
    """The leads of these months; none when the file has none."""
    if not facts.leads:
        return None
    whole_way = {one.way: one for one in facts.leads if one.part == "all"}
    tips = whole_way.get(TIP)
    return LeadsView(
        _steps(whole_way[INCOMING]) if INCOMING in whole_way else (),
        _by_month(facts, months),
        tuple(cut for part, title in _CUTS.items() if (cut := _cut(facts, part, title)).rows),
        whole(whole_way[OUTGOING].leads) if OUTGOING in whole_way else "",
        whole(tips.leads) if tips else "",
        whole(tips.sold) if tips else "",
    )


def _steps(all_leads: LeadCount) -> tuple[Step, ...]:
    counts = {
        "received": all_leads.leads,
        "about a home that is named": all_leads.of_homes,
        "that home was sold afterwards": all_leads.sold,
    }
    return tuple(
        Step(name, whole(count), percent(_share(count, all_leads.leads)), bar(count, all_leads.leads))
        for name, count in counts.items()
    )


def _by_month(facts: Facts, months: Sequence[date]) -> Chart | None:
    counted = {
        one.name: Decimal(one.leads) for one in facts.leads if one.part == "month" and one.way == INCOMING
    }
    if not counted or not months:
        return None
    points = [Point(month, counted.get(f"{month:%Y-%m}")) for month in months]
    return chart("Leads received", points, whole, whole, finest=1)


def _cut(facts: Facts, part: str, title: str) -> Cut:
    chosen = [one for one in facts.leads if one.part == part and one.way == INCOMING]
    most = longest(one.leads for one in chosen)
    return Cut(
        title,
        tuple(
            LeadRow(
                one.name,
                whole(one.leads),
                bar(one.leads, most),
                whole(one.sold),
                percent(_share(one.sold, one.of_homes)),
                whole(Decimal(one.days) / one.sold) if one.days is not None and one.sold else UNKNOWN,
            )
            for one in chosen
        ),
    )


def _share(part: int, of_all: int) -> Decimal | None:
    return Decimal(part) / of_all if of_all else None
