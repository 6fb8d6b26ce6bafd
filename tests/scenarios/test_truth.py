"""True totals to the öre: over three years, in a world that moves on, of offices asked for twice."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipelines.operations.replay import replay
from pipelines.sandbox.world.records import SALE
from tests.scenarios.scenario import FEW, TODAY, Scenario, whole_chain
from tests.truth import truth
from warehouse.database import Store
from warehouse.marts import build_marts
from warehouse.status import Overlap, overview

START, FEBRUARY = date(2024, 1, 1), date(2026, 2, 1)
Totals = dict[tuple[Any, ...], tuple[Any, ...]]


@dataclass(frozen=True)
class Compared:
    """Amounts of a query, and what they are truly added up from: rows of a part of the truth that are so."""

    amounts: str
    by: str
    table: str
    part: str
    keys: tuple[str, ...]
    true_amounts: tuple[str, ...]
    where: tuple[str, str] | None = None

    def loaded(self, here: Scenario) -> Totals:
        keys = len(self.keys)
        rows = here.rows(f"SELECT {self.by}, {self.amounts} FROM bi.{self.table} GROUP BY ALL")
        return {row[:keys]: row[keys:] for row in rows if any(row[keys:])}

    def true(self, here: Scenario) -> Totals:
        sums: dict[tuple[Any, ...], list[Decimal]] = defaultdict(
            lambda: [Decimal(0)] * len(self.true_amounts)
        )
        world = here.service.world
        for customer in world.customers:
            for row in truth(world, customer, START, TODAY)[self.part]:
                if self.where is None or row[self.where[0]] == self.where[1]:
                    cell = tuple(str(row[key]) if key == "month" else row[key] for key in self.keys)
                    amounts = (Decimal(str(row[name])) for name in self.true_amounts)
                    sums[cell] = [old + new for old, new in zip(sums[cell], amounts, strict=True)]
        return {cell: tuple(values) for cell, values in sums.items() if any(values)}


def leads(table: str, way: str, state: str, office: str) -> Compared:
    by = f"{office}_company_customer_number, strftime(created_at, '%Y-%m'), {state}"
    return Compared("count(*)", by, table, "leads", ("office", "month", "state"), ("count",), ("way", way))


COMPARED = {
    "sales": Compared(
        "count(*), sum(final_price), sum(commission)",
        "office_customer_id, strftime(contract_day, '%Y-%m')",
        "sales_estates WHERE assignment_text = 'Försäljning'",
        "sales",
        ("office", "month"),
        ("count", "finalPrice", "commission"),
    ),
    "shares of agents": Compared(
        "sum(commission_value)",
        "primary_office_customer_id, id, strftime(_month, '%Y-%m')",
        "sales_agents",
        "shares",
        ("office", "user", "month"),
        ("commission",),
        ("assignment", SALE),
    ),
    "running commissions": Compared(
        "count(*), sum(amount)",
        "customer_id, user_id, strftime(obtained_at, '%Y-%m')",
        "running_commissions",
        "running",
        ("office", "user", "month"),
        ("rows", "amount"),
    ),
    "incoming leads": leads("incoming_leads", "incoming", "lead_state", "receiver"),
    "outgoing leads": leads("outgoing_leads", "outgoing", "NULL", "sender"),
    "tips": leads("tips", "tip", "tip_state", "sender"),
    **{
        f"commissions by {who}": Compared(
            "sum(commission)",
            f"{column}, strftime(_month, '%Y-%m')",
            f"commission_{who}",
            "shares",
            (who, "month"),
            ("commission",),
        )
        for who, column in (("office", "office_customer_id"), ("user", "user_id"))
    },
}


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    here = whole_chain(tmp_path_factory.mktemp("three-years"), start="2024-01")
    assert here.sync().complaints() == []
    return here


def test_nothing_is_quarantined_and_no_more_requests_are_in_flight_than_allowed(synced: Scenario) -> None:
    assert synced.value("SELECT count(*) FROM meta.quarantine_rows") == 0
    assert synced.service.log.most_in_flight <= synced.settings.concurrency


@pytest.mark.parametrize("name", COMPARED)
def test_totals_of_every_month_of_three_years_are_the_true_ones(synced: Scenario, name: str) -> None:
    assert COMPARED[name].loaded(synced) == COMPARED[name].true(synced)


def test_running_commissions_keep_their_equal_rows(synced: Scenario) -> None:
    distinct = "SELECT count(*) FROM (SELECT DISTINCT COLUMNS('^[^_]') FROM bi.running_commissions)"
    assert synced.value(distinct) < synced.value("SELECT count(*) FROM bi.running_commissions")


def test_the_months_of_a_year_add_up_to_the_year_asked_in_one_request(synced: Scenario) -> None:
    in_one = asyncio.run(year_in_one_request(synced))
    for table in ("commission_office", "commission_office_by_month"):
        query = (
            f"SELECT office_customer_id, sum(commission)::DECIMAL(18, 2) FROM bi.{table} "
            "WHERE year(_month) = 2025 GROUP BY ALL"
        )
        assert dict(synced.rows(query)) == in_one


async def year_in_one_request(here: Scenario) -> dict[str, Decimal]:
    """What every office earned in 2025, as the service answers a whole year."""
    headers = {"Authorization": f"Basic {b64encode(b'sandbox:sandbox').decode()}"}
    days = {"dateFrom": "2025-01-01T00:00:00", "dateTo": "2025-12-31T23:59:59"}
    url = "https://sandbox.example/BusinessIntelligence/CommissionOfficeReport"
    found: dict[str, Decimal] = {}
    async with httpx.AsyncClient(transport=here.sandbox, headers=headers) as client:
        for customer in here.service.world.customers:
            answer = await client.get(f"{url}/{customer}", params=days)
            found |= {row["office"]["customerId"]: Decimal(str(row["commission"])) for row in answer.json()}
    return found


SALES = "SELECT id, commission FROM bi.sales_estates WHERE _month >= DATE '2026-02-01'"
LIVE = """
    SELECT users.* EXCLUDE (_row, _parent_row) FROM bi.live_commissions__users AS users
    WHERE _month = DATE '2026-02-01' ORDER BY ALL
"""


@dataclass(frozen=True)
class Moved:
    """A world that was synced in April and again in June."""

    here: Scenario
    sales_before: dict[str, Decimal]
    sales_after: dict[str, Decimal]
    live_before: list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Moved:
    here = whole_chain(tmp_path_factory.mktemp("moving"), start="2026-02", as_of=date(2026, 4, 10))
    assert here.sync().is_well
    sales, live = dict(here.rows(SALES)), here.rows(LIVE)
    later = here.on(date(2026, 6, 10))
    assert later.sync(refresh=True).is_well
    return Moved(later, sales, dict(later.rows(SALES)), live)


def test_every_month_holds_what_is_true_now(moved: Moved) -> None:
    world = moved.here.service.world
    sales = [row for one in world.customers for row in truth(world, one, FEBRUARY, world.as_of)["sales"]]
    sold = moved.here.rows(
        "SELECT count(*), sum(final_price), sum(commission) FROM bi.sales_estates "
        "WHERE _month >= DATE '2026-02-01' AND assignment_text = 'Försäljning'"
    )
    assert sold == [tuple(sum(row[name] for row in sales) for name in ("count", "finalPrice", "commission"))]


def test_cancelled_sales_are_gone_and_restated_commissions_are_the_new_ones(moved: Moved) -> None:
    assert moved.sales_before.keys() - moved.sales_after.keys()
    kept = moved.sales_before.keys() & moved.sales_after.keys()
    assert any(moved.sales_before[name] != moved.sales_after[name] for name in kept)


def test_both_versions_of_a_changed_budget_are_in_its_history(moved: Moved) -> None:
    versions = moved.here.rows(
        """
        SELECT count(*), count(valid_to_utc), count(DISTINCT commission)
        FROM bi.office_budget_commission_history GROUP BY user_id, _month HAVING count(*) > 1
        """
    )
    assert {*versions} == {(2, 1, 2)}


def budgets_by_day(here: Scenario) -> list[dict[tuple[Any, ...], Any]]:
    """What the mart of budgets answers as of the end of every day on which one was read."""
    days = (
        "SELECT DISTINCT date_trunc('day', valid_from_utc) + INTERVAL 1 DAY FROM marts.budgets ORDER BY ALL"
    )
    query = "SELECT office_id, user_id, month, measure, amount FROM marts.budget_as_of($1) ORDER BY ALL"
    with Store(here.data_dir).writing() as connection:
        build_marts(connection, wanted=["marts.budget_as_of"])
        moments = [moment for (moment,) in connection.execute(days).fetchall()]
        answers = [connection.execute(query, [moment]).fetchall() for moment in moments]
    return [{row[:4]: row[4] for row in answer} for answer in answers]


def test_budgets_are_answered_as_of_both_days_also_from_landing_alone(moved: Moved, tmp_path: Path) -> None:
    before, after = budgets_by_day(moved.here)
    assert before.items() - after.items()
    copy = moved.here.copied_to(tmp_path / "data")
    copy.lose_working_file()
    assert replay(copy.settings).failures == []
    assert budgets_by_day(copy) == [before, after]


def test_live_commissions_that_are_calculated_no_more_are_still_there(moved: Moved) -> None:
    assert moved.live_before
    assert moved.here.rows(LIVE) == moved.live_before


def test_an_office_that_is_asked_for_beside_its_group_counts_once(tmp_path: Path) -> None:
    """The marts hold what the group alone would have said; `status` names the overlap."""
    reports = (*FEW, "commission_user", "running_commissions")
    both, alone = (
        whole_chain(tmp_path / customers, reports, customers=customers) for customers in ("G1,M30011", "G1")
    )
    for here in (both, alone):
        assert here.sync().is_well
        assert not any(one.blocks for one in here.publish().checks)
    offices = "SELECT * EXCLUDE (_customer, _load_id) FROM marts.office_month ORDER BY month, office_id"
    users = "SELECT month, user_id, commission, sold_estate_parts FROM marts.user_month ORDER BY ALL"
    for query in (offices, users):
        assert both.rows(query) == alone.rows(query)
    shares = truth(both.service.world, "G1", date(2026, 9, 1), TODAY)["shares"]
    earned = sum(row["commission"] for row in shares)
    assert both.value("SELECT sum(commission) FROM marts.office_month") == earned
    found = overview(Store(both.data_dir)).overlaps
    assert list(found) == [Overlap("G1", "M30011", "M30011", is_contained=True)]
