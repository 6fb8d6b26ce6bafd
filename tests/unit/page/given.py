"""Made-up facts of a small chain, their pages, and the elements of a page."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from html.parser import HTMLParser
from typing import Any, TypeVar

import duckdb

from pipelines.months import Month
from pipelines.page.facts import Facts, Row
from pipelines.page.html_page import PageSettings, chain_page, render_operators, render_page
from pipelines.page.language import language
from warehouse.marts.queries import SQL
from warehouse.store.duckdb_file import mappings

with duckdb.connect() as empty:
    metrics = empty.execute((SQL / "meta" / "metrics.sql").read_text("utf-8"))
    METRICS = tuple(Row(**metric) for metric in mappings(metrics))
ENGLISH = language("en").with_figures(METRICS)

Thing = TypeVar("Thing", Facts, Row)


def replace(thing: Thing, **columns: Any) -> Thing:
    """Facts or a row with other columns."""
    return type(thing)(**{**vars(thing), **columns})


def facts(**rows: Any) -> Facts:
    """Facts with these rows; the other queries have none."""
    queries = [path.stem for path in (SQL / "page").glob("*.sql")]
    return Facts(**{**dict.fromkeys([*queries, "problems", "standings"], ()), **rows})


@cache
def columns_of(query: str) -> list[str]:
    """The columns of a query of sql/page in their order."""
    with duckdb.connect() as connection:
        text = (SQL / f"page/{query}.sql").read_text("utf-8")
        [(tree,)] = connection.execute("SELECT json_serialize_sql($1, skip_empty := true)", [text]).fetchall()
    node = json.loads(tree)["statements"][0]["node"]
    while "select_list" not in node:
        node = node["children"][0] if "children" in node else node["left"]
    return [column.get("alias") or column["column_names"][-1] for column in node["select_list"]]


def row(query: str, *values: object, **columns: object) -> Row:
    """A row of a query: values in the order of its columns, or by name. Other columns are None."""
    names = columns_of(query)
    return Row(**{**dict.fromkeys(names), **dict(zip(names, values, strict=False)), **columns})


def amounts(*numbers: int) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, numbers))


PUBLISHED = datetime(2026, 3, 20, 4, 5)
NEWEST, LAST = date(2026, 3, 1), date(2026, 2, 1)
BASIS = row(
    "basis", "unknown", Decimal("0.25"), "20260320T040500Z", PUBLISHED, 12, PUBLISHED - timedelta(days=7)
)
LEAD_PARTS = (
    ("all", ""), ("side", "seller"), ("side", "buyer"), ("week", "2026-03-02"), ("sender", "Web"),
    ("kind", "Tip"), ("state", "Done"),
)  # fmt: skip


def month(text: str) -> date:
    """The first day of a month written as `2026-03`."""
    return date.fromisoformat(f"{text}-01")


def scope(kind: str, name: str, *offices: str) -> Row:
    """A page of these offices."""
    of_chain = kind == "chain"
    return row(
        "scopes",
        kind, "" if of_chain else name, None if of_chain else name, [*offices], [*offices], None, None,
        PUBLISHED,
    )  # fmt: skip


def period(
    kind: str = "chain",
    scope: str = "",
    name: str = "year",
    commission: int = 1000,
    office: str | None = None,
) -> Row:
    """A period of one office. It has a tenth more commission than a year before, and a budget of 1000."""
    is_over, first = name != "running", month("2026-01") if name == "year" else LAST
    known = Decimal(commission)
    found = row(
        "periods", kind, scope, name, office, first, LAST, first, is_over,
        offices=1, open_offices=1, forecast_offices=1, compared_offices=0, budget_offices=0, missing_months=0,
        cut_short=0, until_on=date(2026, 2, 28), budget_months=12, commission=known, homes=Decimal("2.5"),
        fee_share=0.025, average_price=Decimal(4_000_000), average_commission=Decimal(100_000),
        other_commission=Decimal(5), per_agent=Decimal(500), agents=Decimal(2),
        commission_before=known / Decimal("1.1"),
    )  # fmt: skip
    if name == "year":
        found = replace(found, year_budget=Decimal(12_000), year_forecast=Decimal(9000), forecast_share=0.75)
    if not is_over:
        return replace(found, first_month=NEWEST, last_month=NEWEST, period_start=NEWEST)
    return replace(
        found,
        compared_offices=1, budget_offices=1, commission_change=0.1, total_change=0.2, homes_change=0.2,
        average_price_change=-0.1, fee_share_difference=0.0005, budget=Decimal(1000), actual=known,
    )  # fmt: skip


def earned(kind: str, scope: str, of_month: date, amount: int) -> Row:
    """A whole month and the same month a year before. The newest month is open and has no year before."""
    is_open = of_month == NEWEST
    before = None if is_open else Decimal(amount - 10)
    known, homes = Decimal(amount), Decimal(5)
    return row(
        "months",
        kind, scope, of_month, False, True, is_open, False, known, before, before, before, homes, homes,
        homes, known, known, 0.025, PUBLISHED,
    )  # fmt: skip


def agent(office: str, name: str, commission: int = 800, budget: int | None = 1000) -> Row:
    """An agent's commission this year, and a budget for the same months unless it is None."""
    amount = Decimal(commission)
    goal = None if budget is None else Decimal(budget)
    return row(
        "agents",
        office, LAST, name, amount, Decimal(1), amount / 2, True, amount, goal,
        None if goal is None else amount, commission_change=0.0, period="year",
    )  # fmt: skip


def changed(office: str, kind: str = "sale gone", amount: int = -60, **more: object) -> Row:
    """January changed from 100 to 40, with one reason: by default a cancelled sale without an address."""
    is_sale = kind.startswith("sale")
    known = row(
        "changes",
        office, office, month("2026-01"), Decimal(100), Decimal(40), Decimal(-60), False,
        PUBLISHED - timedelta(days=1), kind, is_sale, None, "2601-001", None, None, None, None,
        Decimal(amount),
    )  # fmt: skip
    return known.with_columns(**more)


def sold(office: str, change: str = "new", before: int | None = None, now: int | None = 100) -> Row:
    """A new, cancelled or changed sale."""
    then, since = (None if amount is None else Decimal(amount) for amount in (before, now))
    return row(
        "changed_sales",
        office, office, change, f"Lane of {office}", "2601-001", LAST, f"Agent of {office}", then, since,
        True, Decimal((now or 0) - (before or 0)),
    )  # fmt: skip


def gone(office: str) -> Row:
    """A sale that was cancelled."""
    home = f"Lane of {office}"
    return row(
        "cancelled", office, office, home, "1", None, LAST, LAST, PUBLISHED.date(), LAST, False, Decimal(60)
    )


def doubt(kind: str = "failed", office: str | None = "A", subject: str = "sales") -> Row:
    return row(
        "doubts", kind, "error", [subject], office, [office] if office else None, [LAST], PUBLISHED, False
    )


def owed(office: str, *, is_noted: bool = True) -> Row:
    """Two signed sales of an office, one of them due for nine days."""
    sums = amounts(300, 100, 200, 0, 0, 0) if is_noted else [None] * 6
    today = PUBLISHED.date()
    return row("receivables", office, office, is_noted, 2, *sums, 9, today, today)


def rows_of_office(office: str) -> dict[str, list[Row]]:
    """Rows of an office in each query that has rows by office."""
    both, agent_name = (office, office), f"Agent of {office}"
    first, last = month("2027-01"), month("2027-12")
    first_read = [month("2026-04")], ["Al"], [*amounts(90)]
    return {
        "agents": [agent(office, agent_name)],
        "budget_changes": [row("budget_changes", *both, LAST, NEWEST, *first_read, None, *amounts(100, 100))],
        "cancelled": [gone(office)],
        "changed_sales": [sold(office), sold(office, "gone", 60, None), sold(office, "changed", 100, 105)],
        "changed_agents": [row("changed_agents", *both, agent_name, month("2026-01"), *amounts(9, 7, -2))],
        "changes": [changed(office)],
        "coming_budgets": [row("coming_budgets", *both, first, last, 1, *amounts(50, 150))],
        "due_sales": [
            row("due_sales", *both, f"Street of {office}", None, date(2026, 3, 11), 9, None, Decimal(200))
        ],
        "earners": [
            row("earners", period, LAST, agent_name, *amounts(10, 1), 1, False, 2, False, office)
            for period in ("month", "quarter", "year")
        ],
        "receivables": [owed(office)],
        "trends": [row("trends", *both, agent_name, LAST, *amounts(40, 50, -10), -0.2)],
        "untouched": [row("untouched", *both, 1, 0, 2, 0, 0, 3, 1, LAST, PUBLISHED.date(), LAST)],
    }


def rows_of_page(kind: str, scope: str, months: Sequence[date]) -> dict[str, list[Row]]:
    """Rows of a page in each query that has rows by page."""
    values: dict[str, Iterable[Sequence[object]]] = {
        "drivers": [("year", *amounts(100, 110, 20, -5, -5, 3, 13))],
        "forecasts": [(Decimal(9000), 0.75, 1, 1, *amounts(8000, 9900))],
        "funnel": [amounts(40, 20)],
        "headcount": [(one, 7, 1, 0, 2, 0, 0, 0) for one in months[-2::-1]],
        "intake": [("Web", 30, Decimal(90), 0.03)],
        "leads": [(part, "incoming lead", name, 10, 1, 2, 6, 3, 20.4, 30.4) for part, name in LEAD_PARTS],
        "market": [(one, 0.045, 63.0) for one in months],
        "money": [(one, *amounts(100, 100, 100, 40)) for one in months[-2:]],
        "same_days": [(PUBLISHED.date(), [], [], None, *amounts(90, 100))],
    }
    return {
        **{query: [row(query, kind, scope, *one) for one in rows] for query, rows in values.items()},
        "months": [earned(kind, scope, one, 1000 + one.month) for one in months],
        "periods": [
            period(kind, scope, name, 900 if name == "running" else 950)
            for name in ("running", "month", "year", "twelve")
        ],
    }


def chain(*offices: str) -> Facts:
    """A chain with rows in every query. Each office has a brand of its own. The last month is open."""
    months = [Month.of(NEWEST).plus(-number).first_day for number in reversed(range(13))]
    brands = {office: f"Brand of {office}" for office in offices}
    found = defaultdict[str, list[Row]](
        list,
        basis=[BASIS],
        scopes=[scope("chain", "", *offices)],
        drift=[row("drift", LAST, -0.025, -0.04, 0.01, 3)],
        standings=[Row(report="sales", customer="M1", loaded_through_month=NEWEST, state="fresh")],
    )
    pages = [("chain", ""), *(page for one in offices for page in (("office", one), ("brand", brands[one])))]
    parts = [rows_of_page(kind, name, months) for kind, name in pages] + [*map(rows_of_office, offices)]
    for part in parts:
        for query, rows in part.items():
            found[query] += rows
    for office, brand in brands.items():
        found["scopes"] += [scope("office", office, office), scope("brand", brand, office)]
        found["periods"] += [
            period(kind, name, of, 900, office)
            for of in ("year", "month", "running")
            for kind, name in (("chain", ""), ("brand", brand))
        ]
    return facts(**found, metrics=METRICS)


def page_settings(code: str = "en", chain_name: str = "") -> PageSettings:
    return PageSettings(language(code), chain_name, "Europe/Stockholm", PUBLISHED)


def page(facts: Facts, code: str = "en", chain_name: str = "") -> str:
    """The page of the chain."""
    return render_page(facts, page_settings(code, chain_name), chain_page(facts))


def office_page(facts: Facts, office: str, code: str = "en", kind: str = "office") -> str:
    [found] = [one for one in facts.scopes if (one.kind, one.scope) == (kind, office)]
    return render_page(facts, page_settings(code), found)


def operators_page(facts: Facts) -> str:
    return render_operators(facts, page_settings(), severity="well", verdict="All is well.")


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
