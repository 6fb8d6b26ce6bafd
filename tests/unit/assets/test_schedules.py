"""Does the night come once a night, also when the clocks are changed, and with the right months?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import schedule_execution_time_iterator

from assets.assembling import definitions
from assets.project import Project
from tests.unit.assets.rehearsal import settings

STOCKHOLM = ZoneInfo("Europe/Stockholm")
START, END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def schedule_of(project: Project, name: str) -> dg.ScheduleDefinition:
    made = definitions(project).schedules or ()
    return next(one for one in made if isinstance(one, dg.ScheduleDefinition) and one.name == name)


def ticks(project: Project, name: str, first: datetime, count: int) -> list[datetime]:
    schedule = schedule_of(project, name)
    coming = schedule_execution_time_iterator(
        first.timestamp(), schedule.cron_schedule, schedule.execution_timezone
    )
    return [next(coming) for _ in range(count)]


def requests(project: Project, name: str, moment: datetime) -> list[dg.RunRequest]:
    with dg.instance_for_test() as instance:
        context = dg.build_schedule_context(instance, scheduled_execution_time=moment)
        found = schedule_of(project, name).evaluate_tick(context)
    return list(found.run_requests or [])


def test_one_run_asks_for_all_customers_and_leaves_held_months_alone(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 21, 5, tzinfo=STOCKHOLM)
    (night,) = requests(Project(settings(tmp_path)), "nightly", moment)
    assert night.run_key == "night 2026-11-21 05:00"
    assert dict(night.tags) | {
        START: "c01|2026-09",
        END: "c03|2026-11",
        "brokerbi/held": "skip",
        "brokerbi/night": "2026-11-21",
        "dagster/priority": "10",
    } == dict(night.tags)


def test_customers_that_lack_older_months_get_a_run_each(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 21, 5, tzinfo=STOCKHOLM)
    found = requests(Project(settings(tmp_path)), "catch_up", moment)
    assert [(one.tags[START], one.tags[END]) for one in found] == [
        (f"{customer}|2026-01", f"{customer}|2026-08") for customer in ("c01", "c02", "c03")
    ]


@pytest.mark.parametrize("written", ["0 5 * * *", "30 2 * * *"])
@pytest.mark.parametrize(
    "first", [datetime(2027, 3, 27, tzinfo=STOCKHOLM), datetime(2026, 10, 24, tzinfo=STOCKHOLM)]
)
def test_there_is_one_night_a_day_also_when_the_clocks_change(
    tmp_path: Path, written: str, first: datetime
) -> None:
    project = Project(settings(tmp_path, nightly=written))
    days = [moment.astimezone(STOCKHOLM).date() for moment in ticks(project, "nightly", first, 3)]
    assert [day.day - first.day for day in days] == [0, 1, 2]


@pytest.mark.parametrize("moment", [datetime(2026, 11, 1, 0, 30), datetime(2026, 12, 1, 0, 5)])
def test_just_after_midnight_of_the_first_the_new_month_is_asked_for(
    tmp_path: Path, moment: datetime
) -> None:
    (night,) = requests(Project(settings(tmp_path)), "nightly", moment.replace(tzinfo=STOCKHOLM))
    assert night.tags[END] == f"c03|{moment:%Y-%m}"


def test_customers_switched_off_are_no_part_of_the_night(tmp_path: Path) -> None:
    resting = '[{"id": "c01", "active": false}, {"id": "c02"}, {"id": "c03"}]'
    (night,) = requests(
        Project(settings(tmp_path, customers=resting)), "nightly", datetime(2026, 11, 21, 5, tzinfo=STOCKHOLM)
    )
    assert (night.tags[START], night.tags[END]) == ("c02|2026-09", "c03|2026-11")


def test_the_night_comes_also_when_nobody_can_say_what_is_held(tmp_path: Path) -> None:
    made = settings(tmp_path)
    (made.data_dir / "work").mkdir(parents=True)
    (made.data_dir / "work" / "warehouse.duckdb").write_text("this is no DuckDB file" * 1000)
    (night,) = requests(Project(made), "nightly", datetime(2026, 11, 21, 5, tzinfo=STOCKHOLM))
    assert (night.tags[START], night.tags[END]) == ("c01|2026-09", "c03|2026-11")
