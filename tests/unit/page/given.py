"""Facts of a small chain, made up in a line each, and the page of them taken apart."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser

from pipelines.page.facts import (
    CoveredMonth,
    Facts,
    Freshness,
    OfficeBudget,
    OfficeEarnings,
    Row,
    facts_by_office,
)
from pipelines.page.figures import COMMISSION, last_months
from pipelines.page.html_page import Form, render_chain, render_office, render_operators
from pipelines.page.language import language

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
    is_whole: bool = True,
    agents: int | None = 2,
) -> OfficeEarnings:
    """A month of an office, all of it from sales; one without commission is not held."""
    amount = None if commission is None else Decimal(commission)
    parts = None if commission is None else Decimal(homes)
    name = name or f"Office {office}"
    known = is_whole and commission is not None
    return OfficeEarnings(
        month(of_month), office, name, amount, amount, parts, agents, is_open, known, read_at_utc=PUBLISHED
    )


def budgeted(office: str, of_month: str, budget: int, actual: int) -> OfficeBudget:
    """A budget of commission, and what was reached; a year is twelve such months."""
    amounts = Decimal(budget), Decimal(actual), Decimal(12 * budget), Decimal(12 * actual)
    return OfficeBudget(month(of_month), office, COMMISSION, *amounts)


def earner(name: str, period: str, earner_count: int = 1) -> Row:
    """The best user of a period that ends in February 2026."""
    who = {"kind": "user", "name": name, "place": 1, "rank_change": 2, "earner_count": earner_count}
    earned = {"commission": Decimal(10), "sold_estate_parts": Decimal(1), "is_complete": True}
    return {**who, **earned, "period": period, "month": month("2026-02")}


def agent(
    office: str,
    name: str,
    commission: int,
    budget: int | None = None,
    last_seen: date | None = None,
    *,
    has_left: bool = False,
    new_since: date | None = None,
) -> Row:
    """What an agent earned this year up to February 2026, all of it against a budget if there is one."""
    earned = {"commission": Decimal(commission), "sold_estate_parts": Decimal(1), "active_months": 2}
    goal = {
        "budget": None if budget is None else Decimal(budget),
        "reached": None if budget is None else Decimal(commission),
    }
    whose = {"month": month("2026-02"), "office_id": office, "user_id": name, "name": name}
    before = {"commission_before": None, "sold_estate_parts_before": Decimal(0)}
    before |= {"in_month": None, "in_month_before": None}
    stay = {"new_since": new_since, "has_left": has_left, "last_seen": last_seen}
    return {**whose, **earned, **goal, **before, **stay, "is_complete": True}


def news(
    kind: str,
    office: str | None = None,
    *,
    amount: float | None = None,
    before: float | None = None,
    home: str | None = "Main Street 1",
    home_number: str | None = "17",
    of_month: str = "2026-02",
    unexplained: int = 0,
    **more: object,
) -> Row:
    """A sale, a closed month, a reason of one or an agent's budget that is another than a week before.

    In February 2026; the office's budget is that of the agent, unless more is said.
    """
    return {
        "kind": kind,
        "at_utc": PUBLISHED - timedelta(days=7),
        "office_id": office,
        "office_name": office,
        "month": month(of_month),
        "until": month("2026-04"),
        "home": home,
        "home_number": home_number,
        "agent": "An Agent",
        "estate_id": None,
        "contract_on": None,
        "landing": None,
        "sha256": None,
        "amount_before": None if before is None else Decimal(before),
        "amount": None if amount is None else Decimal(amount),
        "kind_of_change": "vanished",
        "noted_at_utc": PUBLISHED - timedelta(days=9),
        "other_month": None,
        "other_office": None,
        "is_part": False,
        "unexplained": Decimal(unexplained),
        "agents_change": None,
        "writings": None,
        "valuations": None,
        "agent_count": None,
        "agent_count_before": None,
        "office_before": None if before is None else Decimal(before),
        "office_after": None if amount is None else Decimal(amount),
        **more,
    }


def owed(office: str, outstanding: int = 300, due: int = 200, *, is_noted: bool = True) -> Row:
    """Two signed sales of an office, one of them due for nine days."""
    return {
        "office_id": office,
        "office_name": office,
        "is_receipt_noted": is_noted,
        "homes": 2 if outstanding else 0,
        "outstanding": Decimal(outstanding),
        "due_homes": 1 if due else 0,
        "due": Decimal(due),
        "undated_homes": 0,
        "longest_days_due": 9 if due else None,
        "counted_on": PUBLISHED.date(),
        "is_refreshed": True,
    }


def due(office: str) -> Row:
    """The sale that is due."""
    sale = {"home": f"Street of {office}", "agent": None, "access_on": PUBLISHED.date() - timedelta(days=9)}
    return {"office_id": office, **sale, "days_due": 9, "due": Decimal(200), "to_be_received_on": None}


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
        agents=tuple(agent(office, f"Agent of {office}", 800, budget=1000) for office in offices),
        news=(
            news("since"),
            *(news(kind, office, amount=100) for office in offices for kind in ("new", "new share")),
            *(news("gone", office, before=60, home=None) for office in offices),
            *(news("budget", office, amount=200, before=100) for office in offices),
            *(news("entered", office, amount=200, of_month="2026-03") for office in offices),
            *(news("closed", office, amount=40, before=100, unexplained=-9) for office in offices),
            *(news("reason", office, amount=-51) for office in offices),
        ),
        receivables=tuple(owed(office) for office in offices),
        due_sales=tuple(due(office) for office in offices),
        leads=tuple(
            {"office_id": office, "part": part, "way": "incoming lead", "name": name, **COUNTED}
            for office in (None, *offices)
            for part, name in LEAD_PARTS
        ),
        held_months=tuple(
            CoveredMonth("sales", "M1", one, "open" if one == NEWEST else "held", 5) for one in shown
        ),
        standings=(Freshness("sales", "M1", NEWEST, PUBLISHED, DUE, "fresh", False, True),),
    )


def form(code: str = "en", chain_name: str = "") -> Form:
    return Form(language(code), chain_name, "Europe/Stockholm", PUBLISHED)


def page(facts: Facts, code: str = "en", chain_name: str = "") -> str:
    """The page of the chain, with a page for each office."""
    files = {office: f"offices/{office}.html" for office in facts_by_office(facts)}
    return render_chain(facts, form(code, chain_name), files)


def office_page(facts: Facts, office: str, code: str = "en") -> str:
    return render_office(facts_by_office(facts)[office], form(code), office, facts)


def operators_page(facts: Facts) -> str:
    return render_operators(facts, form())


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
