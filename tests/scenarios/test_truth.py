"""Figures are true to the öre: for half a year, and for a world that changes between two syncs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from pipelines.sandbox.world.records import SALE
from pipelines.sandbox.world.world import World
from tests.scenarios.scenario import Scenario, whole_chain
from tests.truth import true_part
from warehouse.store.database import Store

START = date(2025, 8, 1)
FEBRUARY = date(2026, 2, 1)
MOVING = ("sales", "live_commissions", "budget_commission", "office_budget_commission")
WAYS = {"incoming": "incoming lead", "outgoing": "outgoing lead", "tip": "tip"}
Rows = list[dict[str, Any]]
Sums = dict[tuple[Any, ...], tuple[Any, ...]]


@dataclass(frozen=True)
class Known:
    """A file with its marts, and the world that it describes from a given day on."""

    world: World
    file: DuckDBPyConnection
    since: date

    def truth(self, part: str) -> Rows:
        return [
            row
            for customer in self.world.customers
            for row in true_part(part, self.world, customer, self.since, self.world.as_of)
        ]

    def mart(self, query: str, keys: int) -> Sums:
        """The rows of a mart, by their first columns, without rows of zeros, which `truth` does not have."""
        found = {row[:keys]: row[keys:] for row in self.file.execute(query).fetchall()}
        return {cell: values for cell, values in found.items() if any(values)}


def added_up(rows: Iterable[Mapping[str, Any]], keys: tuple[str, ...], *amounts: str) -> Sums:
    sums: dict[tuple[Any, ...], list[Decimal]] = defaultdict(lambda: [Decimal(0)] * len(amounts))
    for row in rows:
        cell = tuple(row[key].first_day if key == "month" else row[key] for key in keys)
        sums[cell] = [old + Decimal(str(row[name])) for old, name in zip(sums[cell], amounts, strict=True)]
    return {cell: tuple(values) for cell, values in sums.items()}


def by_kind(known: Known) -> Rows:
    """Every share, with its parts in the column of its kind (`Sale`, ...); only sales have a price."""
    nothing = {"Sale": 0, "Writing": 0, "Valuation": 0, "price": 0, "sold": 0}
    return [
        {**row, **nothing, row["assignment"]: row["parts"]}
        | ({"price": row["price"], "sold": row["commission"]} if row["assignment"] == SALE else {})
        for row in known.truth("shares")
    ]


def check_earnings(known: Known) -> None:
    for earner, mart in (("office", "office_month"), ("user", "user_month")):
        found = known.mart(
            f"SELECT {earner}_id, month, commission, sold_estate_parts, sold_total_price, writing_parts, "
            f"valuation_parts FROM marts.{mart}",
            2,
        )
        amounts = ("commission", "Sale", "price", "Writing", "Valuation")
        assert found == added_up(by_kind(known), (earner, "month"), *amounts)


def check_averages(known: Known) -> None:
    """The service rounds averages to the öre; the marts multiply them by the homes and round them again."""
    expected = added_up(by_kind(known), ("office", "month"), "sold", "Sale", "price")
    query = (
        "SELECT office_id, month, sold_average_commission, sold_commission_percentage FROM marts.office_month"
    )
    for cell, (average, percentage) in known.mart(query, 2).items():
        sold, parts, price = expected[cell]
        rounding = Decimal("0.005") * (parts + 1)
        assert abs(average - sold / parts) <= rounding / parts + Decimal("0.0001")
        assert abs(percentage - 100 * sold / price) <= 100 * rounding / price + Decimal("0.00000001")


def check_running(known: Known) -> None:
    for earner in ("office", "user"):
        expected = added_up(known.truth("running"), (earner, "month"), "amountSek")
        query = f"SELECT {earner}_id, month, running_commission_sek_excl_vat FROM marts.{earner}_month"
        found = known.mart(query, 2)
        assert found.keys() == {cell for cell, (amount,) in expected.items() if amount}
        assert all(abs(amount - expected[cell][0]) < Decimal("0.01") for cell, (amount,) in found.items())


def check_leads(known: Known) -> None:
    everything = [{**row, "way": WAYS[row["way"]]} for row in known.truth("leads")]
    leads = [row for row in everything if not row["removed"]]
    removed = [row for row in everything if row["removed"]]
    for column, counted in (("lead_count", leads), ("removed_lead_count", removed)):
        query = f"SELECT office_id, month, way, state, sum({column}) FROM marts.lead_funnel GROUP BY ALL"
        assert known.mart(query, 4) == added_up(counted, ("office", "month", "way", "state"), "count")
    for way, column in (("incoming lead", "incoming"), ("outgoing lead", "outgoing"), ("tip", "tip")):
        of_way = [row for row in leads if row["way"] == way]
        name = "tip_count" if column == "tip" else f"{column}_lead_count"
        found = known.mart(f"SELECT office_id, month, {name} FROM marts.office_month", 2)
        assert found == added_up(of_way, ("office", "month"), "count")


def check_removed(known: Known) -> None:
    tables = {"incoming": "incoming_leads", "outgoing": "outgoing_leads", "tip": "tips"}
    for way, table in tables.items():
        found = known.mart(f"SELECT _month, is_removed, count(*) FROM bi.{table} GROUP BY ALL", 2)
        of_way = [row for row in known.truth("leads") if row["way"] == way]
        assert found == added_up(of_way, ("month", "removed"), "count")


def check_sales(known: Known) -> None:
    query = (
        "SELECT office_id, month, count(*), sum(final_price), sum(commission) FROM marts.sales GROUP BY ALL"
    )
    sales = added_up(known.truth("sales"), ("office", "month"), "count", "finalPrice", "commission")
    assert known.mart(query, 2) == sales
    query = (
        "SELECT user_id, month, sum(commission_share), sum(commission) FROM marts.sale_shares GROUP BY ALL"
    )
    assert known.mart(query, 2) == added_up(
        [row for row in by_kind(known) if row["Sale"]], ("user", "month"), "parts", "commission"
    )


def check_budgets(known: Known) -> None:
    budgets = added_up(known.truth("budgets"), ("user", "month"), "commission")
    query = (
        "SELECT user_id, month, amount FROM marts.budget_as_of(TIMESTAMP '9999-01-01') "
        "WHERE measure = 'commission' AND month <= $1"
    )
    rows = known.file.execute(query, [known.world.as_of]).fetchall()
    assert {(user, month): (amount,) for user, month, amount in rows} == budgets


def check_receivables(known: Known) -> None:
    query = (
        "SELECT office_id, month, state, count(*), sum(commission), coalesce(sum(days_due), 0), "
        "sum(outstanding_commission), sum(due_commission) FROM marts.receivables GROUP BY ALL"
    )
    expected = added_up(
        known.truth("receivables"), ("office", "month", "state"), "count", "commission", "daysDue"
    )
    for (*key, state), (count, commission, days, outstanding, due) in known.mart(query, 3).items():
        assert expected.pop((*key, state)) == (count, commission, days)
        assert outstanding == (0 if state == "received" else commission)
        assert due == (commission if state == "due" else 0)
    assert expected == {}


def check_activity(known: Known) -> None:
    query = "SELECT office_id, user_id, month, measure, amount FROM marts.activity"
    expected = added_up(known.truth("activity"), ("office", "user", "month", "measure"), "amount")
    assert known.mart(query, 4) == {key: amounts for key, amounts in expected.items() if any(amounts)}


def check_sums_of_offices(known: Known) -> None:
    """Chain, brands and regions; the settings give no regions."""
    amounts = ("commission", "Sale", "price", "Writing", "Valuation")
    marks = known.world.history.chain.trademarks
    brands = {office: mark.name for mark in reversed(marks) for office in mark.offices}  # the first counts
    rows = [{**row, "brand": brands.get(row["office"]), "region": None} for row in by_kind(known)]
    columns = "commission, sold_estate_parts, sold_total_price, writing_parts, valuation_parts"
    for mart, keys in (("chain", ("month",)), ("brand", ("brand", "month")), ("region", ("region", "month"))):
        query = f"SELECT {', '.join(keys)}, {columns} FROM marts.{mart}_month"
        assert known.mart(query, len(keys)) == added_up(rows, keys, *amounts)


def check_reconciliation(known: Known) -> None:
    assert known.file.execute("SELECT count(*) > 0 FROM marts.reconciliation").fetchall() == [(True,)]
    assert known.file.execute("FROM marts.reconciliation WHERE is_reconciled IS NOT TRUE").fetchall() == []


CHECKS = (
    check_earnings,
    check_averages,
    check_running,
    check_leads,
    check_removed,
    check_sales,
    check_budgets,
    check_receivables,
    check_activity,
    check_sums_of_offices,
    check_reconciliation,
)


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    here = whole_chain(tmp_path_factory.mktemp("months"), start="2025-08", as_of=date(2026, 1, 20))
    assert here.sync().failure_lines() == []
    here.build()
    return here


def test_nothing_is_quarantined_and_no_more_requests_are_in_flight_than_allowed(synced: Scenario) -> None:
    assert synced.value("SELECT count(*) FROM meta.quarantine_rows") == 0
    assert synced.service.log.most_in_flight <= synced.settings.concurrency


@pytest.mark.parametrize("check", CHECKS)
def test_every_headline_number_of_half_a_year_is_the_one_that_plain_python_finds(
    synced: Scenario, check: Callable[[Known], None]
) -> None:
    with Store(synced.data_dir).reading() as file:
        check(Known(synced.service.world, file, START))


LIVE = """
    SELECT * EXCLUDE (_row) FROM bi.live_commissions
    WHERE _month = DATE '2026-02-01' ORDER BY ALL
"""
CHANGES = """
    SELECT office_id, month, sum(row_count_change), sum(price_change), sum(commission_change)
    FROM marts.sale_changes WHERE is_restatement GROUP BY ALL
"""


@dataclass(frozen=True)
class Moved:
    """A world that was synced in April and again in June."""

    here: Scenario
    live_before: list[tuple[Any, ...]]
    changes: Sums


def test_no_two_rows_have_the_same_key(synced: Scenario) -> None:
    with Store(synced.data_dir).reading() as file:
        keys = file.execute("FROM meta.keys WHERE kind <> 'documented'").fetchall()
        grouped = 'SELECT 1 FROM {}."{}" GROUP BY {} HAVING count(*) > 1'
        twice = [
            (schema, table)
            for schema, table, columns, _ in keys
            if file.execute(grouped.format(schema, table, ", ".join(columns))).fetchall()
        ]
    assert (twice, len(keys) > 60) == ([], True)


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Moved:
    folder, april = tmp_path_factory.mktemp("moving"), date(2026, 4, 10)
    here = whole_chain(folder, MOVING, start="2026-02", as_of=april, whole=True)
    assert here.sync().is_well
    live = here.rows(LIVE)
    later = here.on(date(2026, 6, 10))
    here.build("sale_changes", "month_total_versions")
    assert later.sync(refresh=True).is_well
    later.build("sale_changes", "month_total_versions")
    with Store(here.data_dir).reading() as file:
        changes = Known(later.service.world, file, FEBRUARY).mart(CHANGES, 2)
    return Moved(later, live, changes)


def test_every_month_has_the_sales_that_are_true_now(moved: Moved) -> None:
    world = moved.here.service.world
    sales = [row for one in world.customers for row in true_part("sales", world, one, FEBRUARY, world.as_of)]
    sold = moved.here.rows(
        "SELECT count(*), sum(final_price), sum(commission) FROM bi.sales_estates "
        "WHERE _month >= DATE '2026-02-01' AND assignment_text = 'Försäljning'"
    )
    assert sold == [tuple(sum(row[name] for row in sales) for name in ("count", "finalPrice", "commission"))]


def test_changes_of_sales_add_up_to_what_changed_in_the_world(moved: Moved) -> None:
    """For February and March, which were over when first read."""
    sums = []
    for day in (date(2026, 4, 10), date(2026, 6, 10)):
        world = moved.here.service.world.at(day)
        rows = [
            row
            for one in world.customers
            for row in true_part("sales", world, one, FEBRUARY, date(2026, 3, 31))
        ]
        sums.append(added_up(rows, ("office", "month"), "count", "finalPrice", "commission"))
    before, after = sums
    nothing = (Decimal(0),) * 3
    changed = {
        cell: tuple(
            new - old for old, new in zip(before.get(cell, nothing), after.get(cell, nothing), strict=True)
        )
        for cell in before | after
    }
    assert moved.changes == {cell: values for cell, values in changed.items() if any(values)}


def budgets_by_day(here: Scenario) -> list[dict[tuple[Any, ...], Any]]:
    """The mart of budgets as of the end of every day on which a budget was read."""
    days = (
        "SELECT DISTINCT date_trunc('day', valid_from_utc) + INTERVAL 1 DAY FROM marts.budgets ORDER BY ALL"
    )
    query = "SELECT office_id, user_id, month, measure, amount FROM marts.budget_as_of($1) ORDER BY ALL"
    here.build("budget_as_of")
    with Store(here.data_dir).reading() as connection:
        moments = [moment for (moment,) in connection.execute(days).fetchall()]
        answers = [connection.execute(query, [moment]).fetchall() for moment in moments]
    return [{row[:4]: row[4] for row in answer} for answer in answers]


def test_budgets_as_of_both_days_are_the_same_after_a_replay(moved: Moved, tmp_path: Path) -> None:
    before, after = budgets_by_day(moved.here)
    assert before.items() - after.items()
    copy = moved.here.copied_to(tmp_path / "data")
    copy.lose_working_file()
    assert copy.replay(reports=MOVING[2:]).failures == []
    assert budgets_by_day(copy) == [before, after]


def test_live_commissions_that_are_no_longer_calculated_stay(moved: Moved) -> None:
    assert moved.live_before
    assert moved.here.rows(LIVE) == moved.live_before
