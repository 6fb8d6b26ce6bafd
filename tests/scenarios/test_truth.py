"""Do three years of every report equal what is true in the world, to the öre?"""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.sandbox.world.records import SALE
from pipelines.sync.summary import Summary
from tests.scenarios.rehearsal import TODAY, Rehearsal, rehearsal
from tests.truth import truth

START = Month(2024, 1)
Totals = dict[tuple[Any, ...], tuple[Any, ...]]


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rehearsal, Summary]:
    three_years = rehearsal(tmp_path_factory.mktemp("three-years"), start=START)
    return three_years, three_years.sync()


def true_rows(world: Rehearsal, part: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for customer in world.service.world.customers:
        found = truth(world.service.world, customer, START.first_day, TODAY)[part]
        assert isinstance(found, list)
        rows += found
    return rows


def totals(rows: list[tuple[Any, ...]], keys: int) -> Totals:
    return {row[:keys]: row[keys:] for row in rows}


def added_up(rows: list[dict[str, Any]], keys: tuple[str, ...], amounts: tuple[str, ...]) -> Totals:
    sums: dict[tuple[Any, ...], list[Decimal]] = defaultdict(lambda: [Decimal(0)] * len(amounts))
    for row in rows:
        cell = tuple(str(row[key]) if key == "month" else row[key] for key in keys)
        sums[cell] = [old + Decimal(str(row[name])) for old, name in zip(sums[cell], amounts, strict=True)]
    return {cell: tuple(values) for cell, values in sums.items()}


def test_everything_was_loaded_and_nothing_quarantined(synced: tuple[Rehearsal, Summary]) -> None:
    world, summary = synced
    assert summary.complaints() == []
    assert world.value("SELECT count(*) FROM meta.quarantine_rows") == 0


def test_sales_of_every_office_and_month_are_counted_and_added_up(
    synced: tuple[Rehearsal, Summary],
) -> None:
    world, _ = synced
    loaded = world.rows(
        """
        SELECT office_customer_id, strftime(contract_day, '%Y-%m'),
               count(*), sum(final_price), sum(commission)
        FROM bi.sales_estates WHERE assignment_text = 'Försäljning' GROUP BY ALL
        """
    )
    expected = added_up(true_rows(world, "sales"), ("office", "month"), ("count", "finalPrice", "commission"))
    assert totals(loaded, 2) == expected


def test_shares_of_every_user_and_month_are_added_up(synced: tuple[Rehearsal, Summary]) -> None:
    world, _ = synced
    loaded = world.rows(
        """
        SELECT primary_office_customer_id, id, strftime(_month, '%Y-%m'), sum(commission_value)
        FROM bi.sales_agents GROUP BY ALL
        """
    )
    sold = [row for row in true_rows(world, "shares") if row["assignment"] == SALE]
    assert totals(loaded, 3) == added_up(sold, ("office", "user", "month"), ("commission",))


def test_running_commissions_keep_their_equal_rows(synced: tuple[Rehearsal, Summary]) -> None:
    world, _ = synced
    loaded = world.rows(
        """
        SELECT customer_id, user_id, strftime(obtained_at, '%Y-%m'), count(*), sum(amount)
        FROM bi.running_commissions GROUP BY ALL
        """
    )
    expected = added_up(true_rows(world, "running"), ("office", "user", "month"), ("rows", "amount"))
    assert totals(loaded, 3) == expected
    distinct = world.value(
        "SELECT count(*) FROM (SELECT DISTINCT COLUMNS('^[^_]') FROM bi.running_commissions)"
    )
    assert distinct < sum(rows for *_, rows, _ in loaded)


@pytest.mark.parametrize(
    ("table", "way", "state", "office"),
    [
        ("incoming_leads", "incoming", "lead_state", "receiver_company_customer_number"),
        ("tips", "tip", "tip_state", "sender_company_customer_number"),
        ("outgoing_leads", "outgoing", "NULL", "sender_company_customer_number"),
    ],
)
def test_leads_and_tips_are_counted_by_state(
    synced: tuple[Rehearsal, Summary], table: str, way: str, state: str, office: str
) -> None:
    world, _ = synced
    loaded = world.rows(
        f"SELECT {office}, strftime(created_at, '%Y-%m'), {state}, count(*) FROM bi.{table} GROUP BY ALL"
    )
    rows = [row for row in true_rows(world, "leads") if row["way"] == way]
    assert totals(loaded, 3) == added_up(rows, ("office", "month", "state"), ("count",))


@pytest.mark.parametrize(
    ("table", "owner", "truly"),
    [("commission_office", "office_customer_id", "office"), ("commission_user", "user_id", "user")],
)
def test_monthly_commissions_equal_the_shares_of_the_month(
    synced: tuple[Rehearsal, Summary], table: str, owner: str, truly: str
) -> None:
    world, _ = synced
    loaded = world.rows(
        f"SELECT {owner}, strftime(_month, '%Y-%m'), sum(commission) FROM bi.{table} "
        "GROUP BY ALL HAVING sum(commission) <> 0"
    )
    expected = added_up(true_rows(world, "shares"), (truly, "month"), ("commission",))
    assert totals(loaded, 2) == {cell: values for cell, values in expected.items() if values[0]}


def test_the_months_of_a_year_add_up_to_the_year_asked_in_one_request(
    synced: tuple[Rehearsal, Summary],
) -> None:
    world, _ = synced
    in_one = {
        (row["office"], "2025"): row["commission"]
        for row in _year_in_one(world, date(2025, 1, 1), date(2025, 12, 31))
    }
    loaded = world.rows(
        "SELECT office_customer_id, '2025', sum(commission) FROM bi.commission_office "
        "WHERE year(_month) = 2025 GROUP BY ALL"
    )
    assert {row[:2]: row[2] for row in loaded} == in_one
    by_month = world.rows(
        "SELECT office_customer_id, '2025', round(sum(commission), 2) FROM bi.commission_office_by_month "
        "WHERE year(_month) = 2025 GROUP BY ALL"
    )
    assert {row[:2]: Decimal(str(row[2])) for row in by_month} == in_one


def _year_in_one(world: Rehearsal, first: date, last: date) -> list[dict[str, Any]]:
    import asyncio
    import base64

    import httpx

    from pipelines.sandbox.transport import SandboxTransport

    async def ask() -> list[dict[str, Any]]:
        login = base64.b64encode(b"sandbox:sandbox").decode()
        async with httpx.AsyncClient(transport=SandboxTransport(world.service)) as client:
            found = []
            for customer in world.service.world.customers:
                answer = await client.get(
                    f"https://sandbox.example/BusinessIntelligence/CommissionOfficeReport/{customer}",
                    params={"dateFrom": f"{first}T00:00:00", "dateTo": f"{last}T23:59:59"},
                    headers={"Authorization": f"Basic {login}", "Accept": "application/json"},
                )
                found += [
                    {"office": row["office"]["customerId"], "commission": Decimal(str(row["commission"]))}
                    for row in answer.json()
                ]
            return found

    return asyncio.run(ask())


def test_the_plan_bounds_the_requests_and_a_second_sync_changes_no_row(
    synced: tuple[Rehearsal, Summary],
) -> None:
    world, first = synced
    before = world.rows("SELECT report, customer, sum(rows) FROM meta.months GROUP BY ALL ORDER BY ALL")
    second = world.sync(Selection())
    assert second.is_well
    assert second.requests < first.requests / 3
    assert (
        world.rows("SELECT report, customer, sum(rows) FROM meta.months GROUP BY ALL ORDER BY ALL") == before
    )
    assert world.service.log.most_in_flight <= world.settings.concurrency
