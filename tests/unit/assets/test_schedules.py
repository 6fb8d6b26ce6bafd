"""Tests of the nightly schedule: once a night, of all active customers, named after the day it runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import schedule_execution_time_iterator

from assets.project import Project
from assets.runs import NIGHT_OF, RANGE_END, RANGE_START
from tests.unit.assets.harness import TODAY, run_requests, schedule_of, settings

STOCKHOLM = ZoneInfo("Europe/Stockholm")
LONG_AGO = datetime(2026, 11, 19, 5, tzinfo=STOCKHOLM)


@pytest.mark.parametrize("cron", ["0 5 * * *", "30 2 * * *"])
@pytest.mark.parametrize(
    "first", [datetime(2027, 3, 27, tzinfo=STOCKHOLM), datetime(2026, 10, 24, tzinfo=STOCKHOLM)]
)
def test_there_is_one_night_a_day_also_when_the_clocks_change(
    tmp_path: Path, cron: str, first: datetime
) -> None:
    schedule = schedule_of(Project(settings(tmp_path, nightly=cron)), "nightly")
    ticks = schedule_execution_time_iterator(
        first.timestamp(), schedule.cron_schedule, schedule.execution_timezone
    )
    assert [next(ticks).astimezone(STOCKHOLM).day - first.day for _ in range(3)] == [0, 1, 2]


def test_a_nightly_run_is_named_after_the_clock_and_goes_before_others(tmp_path: Path) -> None:
    project = Project(settings(tmp_path, today=str(TODAY)))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        [request] = run_requests(project, "nightly", LONG_AGO, instance)
    assert request.run_key == "night 2026-11-19 05:00"
    assert (request.tags[NIGHT_OF], request.tags["dagster/priority"]) == (str(TODAY), "10")


def test_the_night_covers_the_latest_months_of_the_customers_that_are_switched_on(tmp_path: Path) -> None:
    project = Project(settings(tmp_path, today=str(TODAY), customer__c01__active="false"))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        [request] = run_requests(project, "nightly", LONG_AGO, instance)
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == ("c02|2026-09", "c03|2026-11")
