"""Headline numbers of the marts against plain Python, over random worlds of the sandbox."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duckdb import DuckDBPyConnection
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.months import Month
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.records import SALE
from pipelines.sandbox.world.world import World
from tests.scenarios.scenario import FEW, TODAY, Scenario, settings_for
from tests.truth import truth
from warehouse.database import Store
from warehouse.marts import build_marts

START = Month(2026, 9)
REPORTS = (
    *FEW,
    *(
        "commission_user",
        "commission_office_by_month",
        "sold_estates",
        "running_commissions",
        "budget_commission",
    ),
)
WAYS = {"incoming": "incoming lead", "outgoing": "outgoing lead", "tip": "tip"}
Rows = list[dict[str, Any]]
Sums = dict[tuple[Any, ...], tuple[Any, ...]]


def true_rows(world: World, part: str) -> Rows:
    found: Rows = []
    for customer in world.customers:
        of_customer = truth(world, customer, START.first_day, TODAY)[part]
        assert isinstance(of_customer, list)
        found += of_customer
    return found


def added_up(rows: Iterable[Mapping[str, Any]], keys: tuple[str, ...], *amounts: str) -> Sums:
    sums: dict[tuple[Any, ...], list[Decimal]] = defaultdict(lambda: [Decimal(0)] * len(amounts))
    for row in rows:
        cell = tuple(row[key].first_day if key == "month" else row[key] for key in keys)
        sums[cell] = [old + Decimal(str(row[name])) for old, name in zip(sums[cell], amounts, strict=True)]
    return {cell: tuple(values) for cell, values in sums.items()}


def answered(file: DuckDBPyConnection, query: str, keys: int) -> Sums:
    """What a mart says, without the rows that are nothing but zero: plain Python knows no such rows."""
    found = {row[:keys]: row[keys:] for row in file.execute(query).fetchall()}
    return {cell: values for cell, values in found.items() if any(values)}


def by_kind(world: World) -> Rows:
    """Every share with its parts under the kind of assignment, and its price if it is a sale."""
    nothing = {"Sale": 0, "Writing": 0, "Valuation": 0, "price": 0, "sold": 0}
    return [
        {**row, **nothing, row["assignment"]: row["parts"]}
        | ({"price": row["price"], "sold": row["commission"]} if row["assignment"] == SALE else {})
        for row in true_rows(world, "shares")
    ]


def check_earnings(world: World, file: DuckDBPyConnection) -> None:
    for earner, mart in (("office", "office_month"), ("user", "user_month")):
        found = answered(
            file,
            f"SELECT {earner}_id, month, commission, sold_estate_parts, sold_total_price, writing_parts, "
            f"valuation_parts FROM marts.{mart}",
            2,
        )
        amounts = ("commission", "Sale", "price", "Writing", "Valuation")
        assert found == added_up(by_kind(world), (earner, "month"), *amounts)


def check_averages(world: World, file: DuckDBPyConnection) -> None:
    """The service rounds its averages to the öre; times the homes, and to the öre again, is what is known."""
    expected = added_up(by_kind(world), ("office", "month"), "sold", "Sale", "price")
    query = (
        "SELECT office_id, month, sold_average_commission, sold_commission_percentage FROM marts.office_month"
    )
    for cell, (average, percentage) in answered(file, query, 2).items():
        sold, parts, price = expected[cell]
        rounding = Decimal("0.005") * (parts + 1)
        assert abs(average - sold / parts) <= rounding / parts + Decimal("0.0001")
        assert abs(percentage - 100 * sold / price) <= 100 * rounding / price + Decimal("0.00000001")


def check_running(world: World, file: DuckDBPyConnection) -> None:
    for earner in ("office", "user"):
        expected = added_up(true_rows(world, "running"), (earner, "month"), "amountSek")
        query = f"SELECT {earner}_id, month, running_commission_sek_excl_vat FROM marts.{earner}_month"
        found = answered(file, query, 2)
        assert found.keys() == {cell for cell, (amount,) in expected.items() if amount}
        assert all(abs(amount - expected[cell][0]) < Decimal("0.01") for cell, (amount,) in found.items())


def check_leads(world: World, file: DuckDBPyConnection) -> None:
    leads = [{**row, "way": WAYS[row["way"]]} for row in true_rows(world, "leads")]
    query = "SELECT office_id, month, way, state, sum(lead_count) FROM marts.lead_funnel GROUP BY ALL"
    assert answered(file, query, 4) == added_up(leads, ("office", "month", "way", "state"), "count")
    for way, column in (("incoming lead", "incoming"), ("outgoing lead", "outgoing"), ("tip", "tip")):
        of_way = [row for row in leads if row["way"] == way]
        name = "tip_count" if column == "tip" else f"{column}_lead_count"
        found = answered(file, f"SELECT office_id, month, {name} FROM marts.office_month", 2)
        assert found == added_up(of_way, ("office", "month"), "count")


def check_sales(world: World, file: DuckDBPyConnection) -> None:
    query = (
        "SELECT office_id, month, count(*), sum(final_price), sum(commission) FROM marts.sales GROUP BY ALL"
    )
    sales = added_up(true_rows(world, "sales"), ("office", "month"), "count", "finalPrice", "commission")
    assert answered(file, query, 2) == sales
    query = (
        "SELECT user_id, month, sum(commission_share), sum(commission) FROM marts.sale_shares GROUP BY ALL"
    )
    assert answered(file, query, 2) == added_up(
        [row for row in by_kind(world) if row["Sale"]], ("user", "month"), "parts", "commission"
    )


def check_budgets(world: World, file: DuckDBPyConnection) -> None:
    budgets = added_up(true_rows(world, "budgets"), ("user", "month"), "commission")
    query = "SELECT user_id, month, amount FROM marts.budget_as_of(TIMESTAMP '9999-01-01') WHERE month <= $1"
    found = {(user, month): (amount,) for user, month, amount in file.execute(query, [TODAY]).fetchall()}
    assert found == budgets


def check_forecast(world: World, file: DuckDBPyConnection) -> None:
    """As it went so far, so the rest of the budget will go; October is the last month that is over."""
    last = Month(2026, 10)
    earned = added_up([row for row in by_kind(world) if row["month"] <= last], ("office",), "commission")
    query = "SELECT office_id, month, sum(amount) FROM marts.budgets WHERE year(month) = 2026 GROUP BY ALL"
    so_far: dict[str, Decimal] = defaultdict(Decimal)
    whole: dict[str, Decimal] = defaultdict(Decimal)
    for office, month, amount in file.execute(query).fetchall():
        whole[office] += amount
        so_far[office] += amount if month <= last.first_day else 0
    query = (
        "SELECT office_id, year_forecast FROM marts.budget_vs_actual "
        "WHERE user_id IS NULL AND measure = 'commission' AND month = $1"
    )
    for office, forecast in file.execute(query, [last.first_day]).fetchall():
        actual = earned.get((office,), (Decimal(0),))[0]
        expected = actual + (whole[office] - so_far[office]) * actual / so_far[office]
        assert abs(forecast - expected) < Decimal("0.01")


def check_attainment(world: World, file: DuckDBPyConnection) -> None:
    earned = added_up(by_kind(world), ("user", "month"), "commission")
    budgets = added_up(true_rows(world, "budgets"), ("user", "month"), "commission")
    query = (
        "SELECT user_id, month, actual, attainment_share FROM marts.budget_vs_actual "
        "WHERE user_id IS NOT NULL AND measure = 'commission' AND month <= $1 AND actual IS NOT NULL"
    )
    for user, month, actual, share in file.execute(query, [TODAY]).fetchall():
        (reached,), (wanted,) = earned.get((user, month), (Decimal(0),)), budgets[user, month]
        assert actual == reached
        assert share is None if not wanted else abs(share - reached / wanted) < Decimal("0.0000001")


def check_leaders(world: World, file: DuckDBPyConnection) -> None:
    """Who leads in November, in the quarter, and over the twelve months of which three are held."""
    query = (
        "SELECT commission, earner_id, commission_rank FROM marts.leaderboard "
        "WHERE (earner_kind, period, month) = ($1, $2, $3) ORDER BY commission_rank, earner_id"
    )
    periods = {"month": Month(2026, 11), "quarter": Month(2026, 10), "year": START, "twelve months": START}
    for earner in ("office", "user"):
        for period, first in periods.items():
            rows = [row for row in by_kind(world) if row["month"] >= first]
            sums = added_up(rows, (earner,), "commission")
            earned = [(amount, name) for (name,), (amount,) in sums.items() if amount]
            ranked = [
                (amount, name, 1 + sum(other > amount for other, _ in earned)) for amount, name in earned
            ]
            found = file.execute(query, [earner, period, Month.of(TODAY).first_day]).fetchall()
            assert found == sorted(ranked, key=lambda row: (row[2], row[1]))


def check_reconciliation(_: World, file: DuckDBPyConnection) -> None:
    assert file.execute("SELECT count(*) > 0 FROM marts.reconciliation").fetchall() == [(True,)]
    assert file.execute("FROM marts.reconciliation WHERE is_reconciled IS NOT TRUE").fetchall() == []


CHECKS = (
    check_earnings,
    check_averages,
    check_running,
    check_leads,
    check_sales,
    check_budgets,
    check_forecast,
    check_attainment,
    check_leaders,
    check_reconciliation,
)


@settings(max_examples=max(1, settings().max_examples // 50))  # a world takes seconds
@given(seed=st.integers(1, 10_000), offices=st.sampled_from([1, 6, 8]))
def test_every_headline_number_is_the_one_that_plain_python_finds(seed: int, offices: int) -> None:
    world = World.build(seed=seed, offices=offices, start=START, as_of=TODAY, activity=0.4)
    with TemporaryDirectory() as folder:
        here = Scenario(Service(world), settings_for(Path(folder), world.customers, str(START), REPORTS))
        assert here.sync().complaints() == []
        with Store(here.data_dir).writing() as file:
            build_marts(file)
            for check in CHECKS:
                check(world, file)
