"""Does the world moving on reach the file: restated, cancelled, re-budgeted, and nothing forgotten?"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipelines.months import Month
from pipelines.operations.replay import replay
from pipelines.planning.selection import Selection
from tests.scenarios.rehearsal import Rehearsal, rehearsal
from tests.truth import truth
from warehouse.database import Store
from warehouse.marts import build_marts

BEFORE, AFTER = date(2026, 4, 10), date(2026, 6, 10)
SALES = "SELECT id, commission FROM bi.sales_estates WHERE _month >= DATE '2026-02-01'"
LIVE = """
    SELECT users.* EXCLUDE (_row, _parent_row) FROM bi.live_commissions__users AS users
    WHERE _month = DATE '2026-02-01' ORDER BY ALL
"""


@dataclass(frozen=True)
class Moved:
    world: Rehearsal
    sales_before: dict[str, Decimal]
    sales_after: dict[str, Decimal]
    live_before: list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Moved:
    world = rehearsal(tmp_path_factory.mktemp("moving"), start=Month(2026, 2), as_of=BEFORE)
    assert world.sync().is_well
    sales, live = dict(world.rows(SALES)), world.rows(LIVE)
    later = world.on_another_day(AFTER)
    assert later.sync(Selection(refresh=True)).is_well
    return Moved(later, sales, dict(later.rows(SALES)), live)


def test_every_month_holds_what_is_true_now(moved: Moved) -> None:
    world = moved.world.service.world
    sales = [
        row
        for customer in world.customers
        for row in truth(world, customer, date(2026, 2, 1), AFTER)["sales"]
    ]
    sold = moved.world.rows(
        "SELECT count(*), sum(final_price), sum(commission) FROM bi.sales_estates "
        "WHERE _month >= DATE '2026-02-01' AND assignment_text = 'Försäljning'"
    )
    assert sold == [tuple(sum(row[name] for row in sales) for name in ("count", "finalPrice", "commission"))]


def test_cancelled_sales_are_gone(moved: Moved) -> None:
    assert moved.sales_before.keys() - moved.sales_after.keys()


def test_restated_commissions_are_the_new_ones(moved: Moved) -> None:
    kept = moved.sales_before.keys() & moved.sales_after.keys()
    assert any(moved.sales_before[name] != moved.sales_after[name] for name in kept)


def test_both_versions_of_a_changed_budget_are_in_its_history(moved: Moved) -> None:
    versions = moved.world.rows(
        """
        SELECT user_id, _month, count(*), count(valid_to_utc), count(DISTINCT commission)
        FROM bi.office_budget_commission_history GROUP BY ALL HAVING count(*) > 1
        """
    )
    assert versions
    assert {row[2:] for row in versions} == {(2, 1, 2)}


def answers_as_of(world: Rehearsal) -> dict[tuple[str, date], tuple[Decimal, Decimal]]:
    """Every changed budget as it was answered just before the change, and at it."""
    changes = world.rows(
        """
        SELECT older.user_id, older._month, newer.valid_from_utc
        FROM bi.office_budget_commission_history AS older
        JOIN bi.office_budget_commission_history AS newer USING (user_id, _month)
        WHERE older.valid_to_utc = newer.valid_from_utc
        """
    )
    question = (
        "SELECT commission FROM bi.office_budget_commission_as_of(TIMESTAMP '{}'{}) "
        "WHERE user_id = '{}' AND _month = DATE '{}'"
    )
    return {
        (user, month): (
            world.value(question.format(moment, " - INTERVAL 1 SECOND", user, month)),
            world.value(question.format(moment, "", user, month)),
        )
        for user, month, moment in changes
    }


def test_a_changed_budget_is_answered_as_of_both_moments_also_from_landing_alone(moved: Moved) -> None:
    before = answers_as_of(moved.world)
    versions = (
        "SELECT user_id, _month, commission FROM bi.office_budget_commission_history "
        "WHERE valid_to_utc IS {} NULL"
    )
    older = {(user, month): value for user, month, value in moved.world.rows(versions.format("NOT"))}
    newer = {(user, month): value for user, month, value in moved.world.rows(versions.format(""))}
    assert before == {cell: (value, newer[cell]) for cell, value in older.items()}
    for path in (moved.world.settings.data_dir / "work").glob("warehouse.duckdb*"):
        path.unlink()
    assert replay(moved.world.settings).failures == []
    assert answers_as_of(moved.world) == before


def marts_as_of(world: Rehearsal) -> dict[Any, list[tuple[Any, ...]]]:
    """What the mart of budgets answers as of the end of every day on which one was read."""
    days = (
        "SELECT DISTINCT date_trunc('day', valid_from_utc) + INTERVAL 1 DAY FROM marts.budgets ORDER BY ALL"
    )
    query = "SELECT office_id, user_id, month, measure, amount FROM marts.budget_as_of($1) ORDER BY ALL"
    with Store(world.settings.data_dir).writing() as connection:
        build_marts(connection, wanted=["marts.budget_as_of"])
        moments = [moment for (moment,) in connection.execute(days).fetchall()]
        return {moment: connection.execute(query, [moment]).fetchall() for moment in moments}


def test_the_mart_of_budgets_answers_as_of_both_days_also_from_landing_alone(
    moved: Moved, tmp_path: Path
) -> None:
    before, after = marts_as_of(moved.world).values()
    changed = {row[:4]: row[4] for row in before}.items() - {row[:4]: row[4] for row in after}.items()
    assert changed
    shutil.copytree(moved.world.settings.data_dir / "landing", tmp_path / "landing")
    settings = moved.world.settings.model_copy(update={"data_dir": tmp_path})
    assert replay(settings).failures == []
    assert list(marts_as_of(replace(moved.world, settings=settings)).values()) == [before, after]


def test_live_commissions_that_are_calculated_no_more_are_still_there(moved: Moved) -> None:
    assert moved.live_before
    assert moved.world.rows(LIVE) == moved.live_before


def test_months_out_of_reach_were_not_asked(moved: Moved) -> None:
    asked = [
        _named(entry.query, "datefrom")[:7]
        for entry in moved.world.asked
        if "LiveData/Commission" in entry.path
    ]
    assert set(asked) == {"2026-04", "2026-05", "2026-06"}


def _named(query: dict[str, str], name: str) -> str:
    return next(value for key, value in query.items() if key.lower() == name)
