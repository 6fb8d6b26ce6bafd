"""Is a customer left alone by the catch-up while somebody else has its months in hand?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from assets.project import Project
from assets.underway import customers_under_way
from tests.unit.assets.rehearsal import settings
from tests.unit.assets.stage import rectangle
from tests.unit.assets.test_schedules import schedule_of

MOMENT = datetime(2026, 11, 21, 5, tzinfo=ZoneInfo("Europe/Stockholm"))
CUSTOMERS = ("c01", "c02", "c03")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as found:
        yield found


def put(instance: dg.DagsterInstance, tags: Mapping[str, str], status: dg.DagsterRunStatus) -> None:
    """A run as Dagster keeps it."""
    instance.add_run(
        dg.DagsterRun(job_name="reports", run_id=f"run {instance.get_runs_count()}", status=status, tags=tags)
    )


def test_everybody_in_the_range_of_a_run_that_has_not_ended_is_under_way(
    instance: dg.DagsterInstance,
) -> None:
    put(instance, rectangle("c01|2026-01", "c02|2026-01"), dg.DagsterRunStatus.STARTING)
    put(instance, rectangle("c03|2026-01", "c03|2026-11"), dg.DagsterRunStatus.FAILURE)
    assert customers_under_way(instance, CUSTOMERS) == {"c01", "c02"}


def test_a_run_of_one_square_counts_and_the_night_does_not(instance: dg.DagsterInstance) -> None:
    put(instance, {"dagster/partition": "c02|2026-01"}, dg.DagsterRunStatus.STARTED)
    night = {**rectangle("c01|2026-09", "c03|2026-11"), "brokerbi/night": "2026-11-21"}
    put(instance, night, dg.DagsterRunStatus.STARTED)
    put(instance, {}, dg.DagsterRunStatus.STARTED)
    assert customers_under_way(instance, CUSTOMERS) == {"c02"}


def test_a_customer_that_is_no_longer_known_stands_for_itself(instance: dg.DagsterInstance) -> None:
    put(instance, rectangle("c08|2026-01", "c09|2026-01"), dg.DagsterRunStatus.STARTED)
    assert customers_under_way(instance, CUSTOMERS) == {"c08", "c09"}


def test_the_catch_up_leaves_alone_whom_a_backfill_has_in_hand(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    put(instance, rectangle("c02|2026-01", "c02|2026-11"), dg.DagsterRunStatus.STARTED)
    catch_up = schedule_of(Project(settings(tmp_path)), "catch_up")
    context = dg.build_schedule_context(instance, scheduled_execution_time=MOMENT)
    found = catch_up.evaluate_tick(context).run_requests or []
    assert [one.tags["brokerbi/catch_up"] for one in found] == ["c01", "c03"]
