"""Facts of a small chain, made up in a line each, and the pages of them taken apart."""

from __future__ import annotations

import dataclasses
from datetime import date, datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any, TypeVar

import duckdb

from pipelines.months import Month
from pipelines.page.facts import Facts, Row
from pipelines.page.html_page import Form, page_of_chain, render_operators, render_page
from pipelines.page.language import language
from warehouse.marts.queries import SQL
from warehouse.store.duckdb_file import mappings

COLUMNS = {
    "problems": """
        kind severity condition_count reports customers first_month last_month since_utc message remedy
        in_all
    """,
    "agents": """
        office_id month name commission homes a_month is_complete commission_before commission_change
        budget reached stay stay_office stay_month
    """,
    "basis": "commission_vat vat_rate version published_utc loads since_utc",
    "budget_changes": """
        office_id office_name first_month last_month read_first_months agents agents_differences
        amount_before amount_after difference
    """,
    "cancelled": """
        office_id office_name home home_number agents contract_on month noted_on known_since_on
        commission is_in_totals
    """,
    "changed_sales": """
        office_id office_name change home home_number contract_on agents commission_before commission
        difference is_in_totals
    """,
    "changes": """
        office_id office_name month amount_before amount_after difference is_told_late noted_at_utc
        kind is_of_sale home home_number contract_on agent other_office other_month awaited_reports
        amount is_first_reason
    """,
    "coming_budgets": """
        office_id office_name first_month last_month agents agents_before budget budget_before
    """,
    "doubts": "kind severity subjects customer office_ids months since_utc is_of_chain",
    "drift": "month change least greatest months",
    "drivers": """
        kind scope period month sold_commission_before sold_commission homes_effect price_effect
        fee_effect difference
    """,
    "due_sales": "office_id office_name home agent access_on days_due to_be_received_on due",
    "earners": "period month name commission homes place is_new rank_change has_left",
    "forecasts": """
        kind scope year_forecast budget_share offices past_years year_forecast_low year_forecast_high
    """,
    "funnel": "kind scope valuations writings homes",
    "headcount": "kind scope month agents joined back gone quiet moved_in moved_out",
    "intake": "kind scope source homes commission fee",
    "leads": "kind scope part way name leads removed without_home homes sold days",
    "market": """
        kind scope month price_change_share above_asking_share days_on_market sold_within_30_days_share
    """,
    "money": "kind scope month received signed due late",
    "months": """
        kind scope month is_coming is_shown is_open is_part commission commission_before budget goal
        homes homes_before homes_budget per_agent average_price fee_share read_at_utc
    """,
    "periods": """
        kind scope period office_id first_month last_month wanted_month is_over offices unheld
        cut_short until_on began_month closed_after_month budget_months commission homes average_price
        fee_share average_commission beside_sales per_agent agents compared commission_before
        commission_change total_change homes_change average_price_change fee_share_difference
        average_commission_change beside_sales_change per_agent_change budget actual budgeted
        year_budget year_forecast forecast
    """,
    "receivables": """
        office_id office_name is_receipt_noted homes outstanding not_due due_to_30 due_to_60 due_longer
        undated longest_days counted_on read_on
    """,
    "same_days": """
        kind scope until_on earlier_offices earlier_days missing_offices commission commission_before
    """,
    "scopes": "kind scope name office_ids office_names until_on state read_at_utc",
    "standings": "report customer newest_held_month last_success_utc due_utc state",
    "trends": """
        office_id office_name name last_month commission commission_before difference commission_change
    """,
    "untouched": "office_id office_name valuations to_2 to_7 to_30 longer tips counted_on read_on",
}
"""The columns of queries of sql/page, in the order of the values below."""


with duckdb.connect() as empty:
    empty.execute(f"CREATE SCHEMA meta; {(SQL / 'meta/views/metrics.sql').read_text('utf-8')}")
    METRICS = tuple(Row(**metric) for metric in mappings(empty.execute("FROM meta.metrics")))
ENGLISH = language("en").with_figures(METRICS)

Thing = TypeVar("Thing", Facts, Row)


def replace(thing: Thing, **columns: Any) -> Thing:
    """Facts or a row with other columns."""
    if isinstance(thing, Facts):
        return dataclasses.replace(thing, **columns)
    return thing.with_columns(**columns)


def row(query: str, *values: object, **columns: object) -> Row:
    """A row of a query: values in the order of its columns, and others by their names."""
    return Row(**dict(zip(COLUMNS[query].split(), values, strict=False)), **columns)


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
    """`2026-03` as the first day of it."""
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
    """A period of one office, a tenth more than a year before, with a budget of a thousand."""
    is_over, first = name != "running", month("2026-01") if name == "year" else LAST
    known = Decimal(commission)
    return row(
        "periods",
        kind=kind,
        scope=scope,
        period=name,
        office_id=office,
        first_month=first if is_over else NEWEST,
        last_month=LAST if is_over else NEWEST,
        wanted_month=first if is_over else NEWEST,
        is_over=is_over,
        offices=1,
        unheld=0,
        cut_short=0,
        until_on=date(2026, 2, 28),
        began_month=None,
        closed_after_month=None,
        budget_months=12,
        commission=known,
        homes=Decimal("2.5"),
        average_price=Decimal(4_000_000),
        fee_share=0.025,
        average_commission=Decimal(100_000),
        beside_sales=Decimal(5),
        per_agent=Decimal(500),
        agents=Decimal(2),
        compared=int(is_over),
        commission_before=known / Decimal("1.1"),
        commission_change=0.1 if is_over else None,
        total_change=0.2 if is_over else None,
        homes_change=0.2 if is_over else None,
        average_price_change=-0.1 if is_over else None,
        fee_share_difference=0.0005 if is_over else None,
        average_commission_change=None,
        beside_sales_change=None,
        per_agent_change=None,
        budget=Decimal(1000) if is_over else None,
        actual=known if is_over else None,
        budgeted=int(is_over),
        year_budget=Decimal(12_000) if name == "year" else None,
        year_forecast=Decimal(9000) if name == "year" else None,
        forecast=1,
    )


def earned(kind: str, scope: str, of_month: date, amount: int) -> Row:
    """A month beside the one a year before, all of it known."""
    is_open = of_month == NEWEST
    before = None if is_open else Decimal(amount - 10)
    known, homes = Decimal(amount), Decimal(5)
    return row(
        "months",
        kind, scope, of_month, False, True, is_open, False, known, before, before, before, homes, homes,
        homes, known, known, 0.025, PUBLISHED,
    )  # fmt: skip


def agent(office: str, name: str, commission: int = 800, budget: int | None = 1000) -> Row:
    """What an agent earned this year, all of it against a budget if there is one."""
    amount = Decimal(commission)
    goal = None if budget is None else Decimal(budget)
    return row(
        "agents",
        office, LAST, name, amount, Decimal(1), amount / 2, True, amount, 0.0, goal,
        None if goal is None else amount, None, None, None,
    )  # fmt: skip


def changed(office: str, kind: str = "sale gone", amount: int = -60, **more: object) -> Row:
    """January, over at 100, fell by 60 for this reason: of a sale without an address, if it is one."""
    is_of_sale = kind.startswith("sale")
    known = row(
        "changes",
        office, office, month("2026-01"), Decimal(100), Decimal(40), Decimal(-60), False,
        PUBLISHED - timedelta(days=1), kind, is_of_sale, None, "2601-001", LAST, None, None, None, None,
        Decimal(amount), True,
    )  # fmt: skip
    return known.with_columns(**more)


def sold(office: str, change: str = "new", before: int | None = None, now: int | None = 100) -> Row:
    """A sale that has come, gone or changed."""
    then, since = (None if amount is None else Decimal(amount) for amount in (before, now))
    return row(
        "changed_sales",
        office, office, change, f"Lane of {office}", "2601-001", LAST, f"Agent of {office}", then, since,
        Decimal((now or 0) - (before or 0)), True,
    )  # fmt: skip


def gone(office: str) -> Row:
    """A sale that was cancelled."""
    home = f"Lane of {office}"
    return row(
        "cancelled", office, office, home, "1", None, LAST, LAST, PUBLISHED.date(), LAST, Decimal(60), False
    )


def doubt(kind: str = "failed", office: str | None = "A", subject: str = "sales") -> Row:
    return row(
        "doubts", kind, "error", [subject], office, [office] if office else None, [LAST], PUBLISHED, False
    )


def owed(office: str, *, is_noted: bool = True) -> Row:
    """Two signed sales of an office, one of them due for nine days."""
    a, b, nothing = (Decimal(amount) if is_noted else None for amount in (100, 200, 0))
    total = Decimal(300) if is_noted else None
    return row(
        "receivables",
        office,
        office,
        is_noted,
        2,
        total,
        a,
        b,
        nothing,
        nothing,
        nothing,
        9,
        PUBLISHED.date(),
        PUBLISHED.date(),
    )


def pages_of(office: str) -> tuple[tuple[str, str], ...]:
    return (("office", office), ("brand", f"Brand of {office}"))


def chain(*offices: str, months: int = 13) -> Facts:
    """A chain with something in every corner, each office its own brand, up to a month that is not over."""
    last = Month.of(NEWEST)
    shown = [last.plus(-place).first_day for place in reversed(range(months))]
    pages = [("chain", ""), *(one for office in offices for one in pages_of(office))]
    return Facts(
        basis=(BASIS,),
        metrics=METRICS,
        scopes=(
            scope("chain", "", *offices),
            *(scope(kind, name, office) for office in offices for kind, name in pages_of(office)),
        ),
        periods=(
            *(
                period(kind, name, of, 900 if of == "running" else 950)
                for kind, name in pages
                for of in ("running", "month", "year", "twelve")
            ),
            *(
                period(kind, name, of, 900, office)
                for of in ("year", "month")
                for office in offices
                for kind, name in (("chain", ""), ("brand", f"Brand of {office}"))
            ),
        ),
        months=tuple(earned(kind, name, one, 1000 + one.month) for kind, name in pages for one in shown),
        changed_sales=tuple(
            one
            for office in offices
            for one in (sold(office), sold(office, "gone", 60, None), sold(office, "changed", 100, 105))
        ),
        coming_budgets=tuple(
            row(
                "coming_budgets",
                office,
                office,
                month("2027-01"),
                month("2027-12"),
                1,
                3,
                Decimal(50),
                Decimal(150),
            )
            for office in offices
        ),
        same_days=tuple(
            row("same_days", kind, name, PUBLISHED.date(), [], [], None, Decimal(90), Decimal(100))
            for kind, name in pages
        ),
        forecasts=tuple(
            row("forecasts", kind, name, Decimal(9000), 0.75, 1, 1, Decimal(8000), Decimal(9900))
            for kind, name in pages
        ),
        drift=(row("drift", LAST, -0.025, -0.04, 0.01, 3),),
        drivers=tuple(
            row("drivers", kind, name, "year", LAST, *map(Decimal, (100, 110, 20, -5, -5, 10)))
            for kind, name in pages
        ),
        headcount=tuple(
            row("headcount", kind, name, one, 7, 1, 0, 2, 0, 0, 0)
            for kind, name in pages
            for one in shown[-2::-1]
        ),
        trends=tuple(
            row(
                "trends",
                office,
                office,
                f"Agent of {office}",
                LAST,
                Decimal(40),
                Decimal(50),
                Decimal(-10),
                -0.2,
            )
            for office in offices
        ),
        cancelled=tuple(gone(office) for office in offices),
        changes=tuple(changed(office) for office in offices),
        budget_changes=tuple(
            row(
                "budget_changes",
                office,
                office,
                LAST,
                NEWEST,
                [month("2026-04")],
                ["Al"],
                [Decimal(90)],
                None,
                Decimal(100),
                Decimal(100),
            )
            for office in offices
        ),
        agents=tuple(agent(office, f"Agent of {office}") for office in offices),
        receivables=tuple(owed(office) for office in offices),
        due_sales=tuple(
            row(
                "due_sales",
                office,
                office,
                f"Street of {office}",
                None,
                date(2026, 3, 11),
                9,
                None,
                Decimal(200),
            )
            for office in offices
        ),
        earners=tuple(
            row(
                "earners",
                of,
                LAST,
                f"Agent of {office}",
                Decimal(10),
                Decimal(1),
                1,
                False,
                2,
                False,
            )
            for office in offices
            for of in ("month", "quarter", "year")
        ),
        leads=tuple(
            row("leads", kind, scope, part, "incoming lead", name, 10, 1, 2, 6, 3, 20.4)
            for kind, scope in pages
            for part, name in LEAD_PARTS
        ),
        market=tuple(
            row("market", kind, name, of_month, 0.045, 0.6, 63.0, 0.3)
            for kind, name in pages
            for of_month in shown
        ),
        funnel=tuple(row("funnel", kind, name, *map(Decimal, (40, 30, 20))) for kind, name in pages),
        intake=tuple(row("intake", kind, name, "Web", 30, Decimal(90), 0.03) for kind, name in pages),
        money=tuple(
            row("money", kind, name, of_month, *map(Decimal, (100, 100, 100, 40)))
            for kind, name in pages
            for of_month in shown[-2:]
        ),
        untouched=tuple(
            row("untouched", office, office, 1, 0, 2, 0, 3, 1, PUBLISHED.date(), LAST) for office in offices
        ),
        standings=(row("standings", "sales", "M1", NEWEST, PUBLISHED, PUBLISHED, "fresh"),),
    )


def form(code: str = "en", chain_name: str = "") -> Form:
    return Form(language(code), chain_name, "Europe/Stockholm", PUBLISHED)


def page(facts: Facts, code: str = "en", chain_name: str = "") -> str:
    """The page of the chain."""
    return render_page(facts, form(code, chain_name), page_of_chain(facts))


def office_page(facts: Facts, office: str, code: str = "en", kind: str = "office") -> str:
    [found] = [one for one in facts.scopes if (one.kind, one.scope) == (kind, office)]
    return render_page(facts, form(code), found)


def operators_page(facts: Facts) -> str:
    return render_operators(facts, form(), severity="well", verdict="All is well.")


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
