"""Facts of a small chain, made up in a line each, and the page of them taken apart."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser

from pipelines.page.facts import CoveredMonth, Facts, Freshness, OfficeBudget, OfficeEarnings, Row
from pipelines.page.figures import COMMISSION, last_months
from pipelines.page.html_page import render_page

PUBLISHED = datetime(2026, 3, 20, 4, 5)
DUE = PUBLISHED + timedelta(hours=36)
COUNTED = {
    "leads": 10, "removed": 1, "without_home": 2, "homes": 6, "sold": 3, "leads_of_sold": 4, "days": 60,
}  # fmt: skip
LEAD_PARTS = (
    ("all", ""), ("side", "seller"), ("side", "buyer"), ("month", "2026-03"), ("kind", "Tip"),
    ("state", "Done"),
)  # fmt: skip
NEWEST = date(2026, 3, 1)
PUBLICATION = {"name": "20260320T040500Z", "at_utc": PUBLISHED, "loads": 12}


def month(text: str) -> date:
    """`2026-03` as the first day of it."""
    return date.fromisoformat(f"{text}-01")


def earned(
    office: str,
    of_month: str,
    commission: int | None,
    homes: int = 1,
    *,
    name: str = "",
    is_open: bool = False,
) -> OfficeEarnings:
    """A month of an office, all of it from sales."""
    amount = None if commission is None else Decimal(commission)
    parts = None if commission is None else Decimal(homes)
    return OfficeEarnings(month(of_month), office, name or f"Office {office}", amount, amount, parts, is_open)


def budgeted(office: str, of_month: str, budget: int, actual: int) -> OfficeBudget:
    """A budget of commission, and what was reached; a year is twelve such months."""
    amounts = Decimal(budget), Decimal(actual), Decimal(12 * budget), Decimal(12 * actual)
    return OfficeBudget(month(of_month), office, COMMISSION, *amounts)


def earner(name: str, period: str, earner_count: int = 1) -> Row:
    """The best user of a period that ends in February 2026."""
    who = {"kind": "user", "name": name, "place": 1, "rank_change": 2, "earner_count": earner_count}
    earned = {"commission": Decimal(10), "sold_estate_parts": Decimal(1), "is_complete": True}
    return {**who, **earned, "period": period, "month": month("2026-02")}


def chain(*offices: str, months: int = 15) -> Facts:
    """A chain with something in every corner, up to a month that is not over."""
    shown = last_months(NEWEST, months)[::-1]
    return Facts(
        publications=(PUBLICATION,),
        office_months=tuple(
            earned(office, f"{one:%Y-%m}", 1000 + one.month, is_open=one == NEWEST, name=office)
            for office in offices
            for one in shown
        ),
        budgets=tuple(budgeted(office, f"{one:%Y-%m}", 1000, 900) for office in offices for one in shown),
        earners=tuple(earner(office, "month") for office in offices),
        leads=tuple(
            {"part": part, "way": "incoming lead", "name": name, **COUNTED} for part, name in LEAD_PARTS
        ),
        held_months=tuple(
            CoveredMonth("sales", "M1", one, "open" if one == NEWEST else "held", 5) for one in shown
        ),
        standings=(Freshness("sales", "M1", NEWEST, PUBLISHED, DUE, "fresh", False, True),),
    )


def page(facts: Facts) -> str:
    return render_page(facts, timezone="Europe/Stockholm", made_at_utc=PUBLISHED)


class Elements(HTMLParser):
    """Every element of a page with its attributes, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]
