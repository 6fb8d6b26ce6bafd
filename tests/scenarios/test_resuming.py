"""Does an interrupted or repeated sync ask only for what is owed, and does landing alone rebuild it?"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.months import Month
from pipelines.operations.replay import replay
from pipelines.planning.plan import make_plan
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from tests.scenarios.rehearsal import Rehearsal, rehearsal
from warehouse.database import Store

SOME = Selection(reports=("sales", "running_commissions", "users"))


@pytest.fixture
def world(tmp_path: Path) -> Rehearsal:
    return rehearsal(tmp_path, start=Month(2026, 3), as_of=date(2026, 11, 21))


def contents(world: Rehearsal, table: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Columns with their types, and all rows."""
    return world.rows(f"DESCRIBE bi.{table}"), world.rows(f"SELECT * FROM bi.{table} ORDER BY ALL")


def test_a_sync_makes_at_most_the_requests_of_its_plan(world: Rehearsal) -> None:
    store = Store(world.settings.data_dir)
    plan, _ = make_plan(world.settings, SOME, store, world.context.clock)
    summary = world.sync(SOME)
    assert summary.is_well
    assert len(world.asked) == summary.requests <= plan.requests


def test_the_second_sync_asks_only_for_due_months_and_changes_no_row(world: Rehearsal) -> None:
    world.sync(SOME)
    before = [contents(world, table)[1] for table in ("sales_estates", "running_commissions")]
    world.sync(SOME)
    spans = {(entry.query.get("datefrom"), entry.query.get("dateto")) for entry in world.asked}
    assert spans <= {
        (None, None),
        ("2026-09-01T00:00:00", "2026-11-21T23:59:59"),
        ("2026-09-01T00:00:00", "2026-10-31T23:59:59"),
        ("2026-11-01T00:00:00", "2026-11-21T23:59:59"),
    }
    after = [contents(world, table)[1] for table in ("sales_estates", "running_commissions")]
    assert [len(rows) for rows in after] == [len(rows) for rows in before]


def test_what_failed_is_asked_again_and_nothing_else_besides_what_is_due(world: Rehearsal) -> None:
    world.service.faults.switch([Fault("404", path="RunningCommissions", customer="M30016")])
    first = world.sync(SOME)
    assert {one.customer for one in first.trouble} == {"M30016"}
    world.service.faults.switch([])
    assert world.sync(SOME).is_well
    old = [entry for entry in world.asked if (entry.query.get("datefrom") or "9") < "2026-09"]
    assert {entry.customer for entry in old} == {"M30016"}
    assert world.sync(SOME).is_well
    assert not [entry for entry in world.asked if (entry.query.get("datefrom") or "9") < "2026-09"]


@pytest.mark.parametrize("table", ["sales_agents", "running_commissions", "users_history"])
def test_a_dropped_table_is_rebuilt_identically_from_landing_alone(world: Rehearsal, table: str) -> None:
    world.sync(SOME)
    before = contents(world, table)
    with duckdb.connect(str(world.settings.data_dir / "work" / "warehouse.duckdb")) as file:
        file.execute(f"DROP TABLE bi.{table} CASCADE")
    world.service.log.clear()
    assert replay(world.settings).failures == []
    assert (contents(world, table), world.asked) == (before, [])


def test_a_lost_working_file_is_rebuilt_from_landing_alone(world: Rehearsal) -> None:
    world.sync(SOME)
    before = contents(world, "sales_estates")[1]
    for path in (world.settings.data_dir / "work").glob("warehouse.duckdb*"):
        path.unlink()
    assert replay(world.settings).failures == []
    assert len(contents(world, "sales_estates")[1]) == len(before)
    assert world.sync(SOME).held["sales", "G1"] == 6


def test_replaying_everything_twice_changes_nothing(world: Rehearsal) -> None:
    world.sync(SOME)
    replay(world.settings)
    once = contents(world, "sales_agents")
    replay(world.settings)
    assert contents(world, "sales_agents") == once
