"""What the pages say has changed since the publication they compare with, and who has left."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import build, built, earned, loaded, sales_read, warehouse
from warehouse.queries import SQL

NIGHTS = [datetime(2026, 2, day, 3) for day in (1, 5, 15)]
JANUARY = date(2026, 1, 1)


def published(*nights: tuple[dict[str, float], float]) -> DuckDBPyConnection:
    """January's sales, and the commission of the office report, as published in each night."""
    given = warehouse()
    for place, (sales, commission) in enumerate(nights):
        at_utc = NIGHTS[place]
        sales_read(given, "2026-01", sales, at_utc)
        loaded(
            given,
            "commission_office",
            "M1",
            "2026-01",
            [earned({"office_customer_id": "M1"}, commission)],
            at_utc=at_utc,
        )
        build(given, "month_total_versions", "sale_changes", "budgets", "offices")
        given.execute(
            "INSERT INTO meta.publications (name, at_utc, status) VALUES (?, ?, 'published')",
            [f"{place}", at_utc],
        )
    return given


@pytest.mark.parametrize(
    ("nights", "found"),
    [
        ([({"E1": 5, "E2": 60}, 65), ({"E1": 5}, 65), ({"E1": 5}, 5)], ("E2", 0)),
        ([({"E1": 5}, 65), ({"E1": 5}, 65), ({"E1": 25}, 85)], ("E1", 0)),
        ([({"E1": 5}, 65), ({"E1": 5}, 65), ({"E1": 25}, 80)], ("E1", -5)),
        ([({"E1": 5}, 65), ({"E1": 5}, 65), ({"E1": 5}, 60)], (None, -5)),
    ],
    ids=["a sale noted before", "a sale noted since", "a part of it", "no sale"],
)
def test_a_closed_month_that_changed_names_its_sale_whenever_it_was_noted(
    nights: list[tuple[dict[str, float], float]], found: tuple[str | None, int]
) -> None:
    rows = published(*nights).sql((SQL / "page" / "news.sql").read_text("utf-8"))
    closed = rows.filter("kind = 'closed'").select("month, home_number, unexplained")
    assert closed.fetchall() == [(JANUARY, found[0], Decimal(found[1]))]


def test_an_agent_without_activity_for_two_months_was_last_seen_then() -> None:
    given = warehouse()
    for of_month, amounts in (("2026-01", (5, 7)), ("2026-04", (0, 7))):
        users = [
            earned({"user_id": f"U{place}"}, amount, parts=int(amount > 0))
            for place, amount in enumerate(amounts)
        ]
        loaded(given, "commission_user", "M1", of_month, users)
        loaded(
            given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, sum(amounts))]
        )
    found = built(given, (SQL / "page" / "agents.sql").read_text("utf-8"))
    assert {row[2]: row[-1] for row in found} == {"U0": JANUARY, "U1": None}
