"""Tests of the schedules: once a night, for what is due of everybody and what single customers lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import schedule_execution_time_iterator

from assets.project import Project
from assets.runs.under_way import RANGE_END, RANGE_START, customers_being_fetched
from assets.schedules import PartitionRange, plan_night, usual_range
from pipelines.catalogue.reports import report
from pipelines.months import Month
from pipelines.planning.due import Calendar
from pipelines.planning.plan import plan_reports
from pipelines.planning.rules import PlanInputs
from pipelines.planning.selection import Selection
from pipelines.settings.model import Customer
from tests.unit.assets.harness import TODAY, held, ledger, range_tags, run_requests, schedule_of, settings
from warehouse.ledger.ledger import Ledger

STOCKHOLM = ZoneInfo("Europe/Stockholm")
NIGHT = datetime(2026, 11, 21, 5, tzinfo=STOCKHOLM)
REPORTS = ("sales", "running_commissions")
EVERYBODY = ("c01", "c02", "c03")
CALENDAR = Calendar(TODAY, Month(2024, 1), STOCKHOLM, 3, 12)
SINCE_2024 = tuple(Month(2024 + number // 12, number % 12 + 1) for number in range(35))
AUGUST = Month(2026, 8)
USUAL = PartitionRange(EVERYBODY, Month(2026, 9), Month(2026, 11))


def night(known: Ledger, calendar: Calendar = CALENDAR) -> tuple[PartitionRange, list[PartitionRange]]:
    reports, customers = [report(name) for name in REPORTS], [Customer(id=name) for name in EVERYBODY]
    planned = plan_reports(PlanInputs(calendar, known, Selection(), reports, customers, most_changed=12))
    return plan_night(tuple(planned), known.denied, EVERYBODY, calendar)


EVERYTHING = held(EVERYBODY, REPORTS, months=SINCE_2024)


def everything(customers: Iterable[str] = EVERYBODY, **held_as: object) -> Ledger:
    return ledger(held(customers, REPORTS, months=SINCE_2024, **held_as))  # type: ignore[arg-type]


def older(*customers: str, first: Month = SINCE_2024[0], last: Month = AUGUST) -> list[PartitionRange]:
    return [PartitionRange((name,), first, last) for name in customers]


def test_older_months_that_have_their_turn_are_left_to_the_night_whatever_its_range() -> None:
    whole, rest = night(everything(loaded=datetime(2026, 9, 30, 4, tzinfo=UTC)))
    assert (whole.first, rest) == (Month(2026, 9), [])


MAY = Month(2024, 5)
OUTAGE = (
    held(EVERYBODY, REPORTS, months=SINCE_2024[:30]),
    held(EVERYBODY, REPORTS, months=SINCE_2024[30:31], state="open"),
)
OPEN = held(["c02"], ["sales"], months=[MAY], state="open")


@pytest.mark.parametrize(
    ("known", "catching_up"),
    [
        (everything(), []),
        (ledger(*OUTAGE), older(*EVERYBODY, first=Month(2026, 7))),
        (everything(["c01", "c02"]), older("c03")),
        (ledger(), older(*EVERYBODY)),
        (ledger(EVERYTHING, OPEN), older("c02", first=MAY, last=MAY)),
    ],
    ids=["usual", "after an outage", "a new customer", "an empty warehouse", "an open month of one customer"],
)
def test_the_night_is_the_latest_months_of_all_and_a_run_for_each_customer_that_lacks_older_ones(
    known: Ledger, catching_up: list[PartitionRange]
) -> None:
    assert night(known) == (USUAL, catching_up)


def test_older_months_of_a_report_that_was_refused_are_not_asked_for_night_after_night() -> None:
    known = ledger(
        held(EVERYBODY, ["sales"], months=SINCE_2024),
        held(["c01", "c02"], ["running_commissions"], months=SINCE_2024),
    )
    yesterday = {("running_commissions", "c03"): datetime(2026, 11, 20, 4, tzinfo=UTC)}
    assert night(replace(known, denied=yesterday))[1] == []


def test_the_night_does_not_reach_back_before_the_start() -> None:
    young = replace(CALENDAR, start=Month(2026, 10))
    assert night(ledger(), young) == (replace(USUAL, first=Month(2026, 10)), [])
    assert usual_range(EVERYBODY, young).first == Month(2026, 10)


def test_months_that_were_changed_are_read_by_the_night_itself_and_by_no_other_run() -> None:
    changed = {("sales", "c02", Month(2024, 5).first_day): datetime(2026, 11, 20, 20, tzinfo=UTC)}
    assert night(replace(everything(), changed=changed)) == (USUAL, [])


def test_an_older_month_that_failed_is_asked_again_by_a_run_of_its_customer() -> None:
    failed = {("sales", "c02"): frozenset({MAY.first_day})}
    assert night(replace(everything(), failed=failed)) == (USUAL, older("c02", first=MAY, last=MAY))


def test_one_run_asks_for_all_customers_and_leaves_held_months_alone(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    (request,) = run_requests(Project(settings(tmp_path)), "nightly", NIGHT, instance)
    assert request.run_key == "night 2026-11-21 05:00"
    tags = {
        **range_tags("c01|2026-09", "c03|2026-11"),
        "brokerbi/held": "skip",
        "brokerbi/night": "2026-11-21",
        "dagster/priority": "10",
    }
    assert tags.items() <= request.tags.items()


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


@pytest.mark.parametrize("moment", [datetime(2026, 11, 1, 0, 30), datetime(2026, 12, 1, 0, 5)])
def test_just_after_midnight_of_the_first_the_new_month_is_asked_for(
    tmp_path: Path, moment: datetime, instance: dg.DagsterInstance
) -> None:
    local = moment.replace(tzinfo=STOCKHOLM)
    (request,) = run_requests(Project(settings(tmp_path)), "nightly", local, instance)
    assert request.tags[RANGE_END] == f"c03|{moment:%Y-%m}"


def test_customers_switched_off_are_no_part_of_the_night(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    made = settings(tmp_path, customer__c01__active="false")
    (request,) = run_requests(Project(made), "nightly", NIGHT, instance)
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == ("c02|2026-09", "c03|2026-11")


def test_the_night_comes_also_when_nobody_can_say_what_is_held(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    made = settings(tmp_path)
    (made.data_dir / "work").mkdir(parents=True)
    (made.data_dir / "work" / "warehouse.duckdb").write_text("this is no DuckDB file" * 1000)
    (request,) = run_requests(Project(made), "nightly", NIGHT, instance)
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == ("c01|2026-09", "c03|2026-11")


def add_run(instance: dg.DagsterInstance, tags: Mapping[str, str], status: dg.DagsterRunStatus) -> None:
    run_id = f"run {instance.get_runs_count()}"
    instance.add_run(dg.DagsterRun(job_name="reports", run_id=run_id, status=status, tags=tags))


def test_everybody_in_the_range_of_an_unfinished_run_is_being_fetched(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    add_run(instance, range_tags("c01|2026-01", "c02|2026-01"), dg.DagsterRunStatus.STARTING)
    add_run(instance, range_tags("c03|2026-01", "c03|2026-11"), dg.DagsterRunStatus.FAILURE)
    add_run(instance, range_tags("c08|2026-01", "c09|2026-01"), dg.DagsterRunStatus.STARTED)
    assert customers_being_fetched(Project(settings(tmp_path)), instance, EVERYBODY) == {
        "c01",
        "c02",
        "c08",
        "c09",
    }


def test_a_run_of_one_partition_counts_and_the_night_does_not(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    nightly = {**range_tags("c01|2026-09", "c03|2026-11"), "brokerbi/night": "2026-11-21"}
    for tags in ({"dagster/partition": "c02|2026-01"}, nightly, {}):
        add_run(instance, tags, dg.DagsterRunStatus.STARTED)
    assert customers_being_fetched(Project(settings(tmp_path)), instance, EVERYBODY) == {"c02"}


def test_customers_that_lack_older_months_get_a_run_each_but_not_while_a_backfill_has_them(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    add_run(instance, range_tags("c02|2026-01", "c02|2026-11"), dg.DagsterRunStatus.STARTED)
    found = run_requests(Project(settings(tmp_path)), "catch_up", NIGHT, instance)
    ranges = [(one.tags["brokerbi/catch_up"], one.tags[RANGE_START], one.tags[RANGE_END]) for one in found]
    assert ranges == [(name, f"{name}|2026-01", f"{name}|2026-08") for name in ("c01", "c03")]
