"""When is what fetched without anybody asking? Every night, in one run, and older months where they lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets.fetching import HELD, NIGHT_OF, SKIP
from assets.night import Rectangle, tonight, usual_night
from assets.partitions import customers_in_order, key_of
from assets.project import Project
from assets.underway import RANGE_END, RANGE_START, customers_under_way
from pipelines.planning.planned import calendar, make_plan
from pipelines.planning.selection import Selection
from warehouse.errors import WarehouseError

NIGHTLY = "nightly"
CATCH_UP = "catch_up"
CATCH_UP_OF = "brokerbi/catch_up"
"""Run tag: the customer whose older months a run fetches."""
BEFORE_ALL_OTHERS = {"dagster/priority": "10"}
LOCK_SECONDS = 30.0


@dataclass(frozen=True)
class At:
    """The clock of a schedule: it is as late as the schedule was meant for."""

    moment: datetime

    def utc_now(self) -> datetime:
        return self.moment.astimezone(UTC)

    def monotonic(self) -> float:
        return self.moment.timestamp()

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError(f"a schedule does not wait {seconds} s")


def nightly_schedule(project: Project, job: UnresolvedAssetJobDefinition) -> dg.ScheduleDefinition:
    """One run for all customers and all months due."""

    @dg.schedule(
        name=NIGHTLY,
        cron_schedule=project.settings.nightly,
        execution_timezone=project.settings.timezone,
        job=job,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Every night, in one run: all customers, all months that are due.",
    )
    def night(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        moment = _local(project, context)
        whole, _ = _plan(project, moment, context)
        return _night_run(whole, moment)

    return night


def catch_up_schedule(project: Project, job: UnresolvedAssetJobDefinition) -> dg.ScheduleDefinition:
    """A run for each customer that lacks older months than the night asks for."""

    @dg.schedule(
        name=CATCH_UP,
        cron_schedule=project.settings.nightly,
        execution_timezone=project.settings.timezone,
        job=job,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Beside the night: a run for each customer that lacks older months. A new customer "
        "lacks all of them and is fetched from the start by itself; a month that failed is tried again.",
    )
    def catch_up(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        moment = _local(project, context)
        _, older = _plan(project, moment, context)
        under_way = customers_under_way(context.instance, customers_in_order(project.settings))
        lacking = [one for one in older if under_way.isdisjoint(one.customers)]
        yield from (_catch_up_run(one, moment) for one in lacking)
        if not lacking:
            yield dg.SkipReason("No customer lacks older months that are not being fetched already.")

    return catch_up


def _night_run(rectangle: Rectangle, moment: datetime) -> dg.RunRequest:
    tags = {**_range(rectangle), HELD: SKIP, NIGHT_OF: f"{moment:%Y-%m-%d}", **BEFORE_ALL_OTHERS}
    return dg.RunRequest(run_key=f"night {moment:%Y-%m-%d %H:%M}", tags=tags)


def _catch_up_run(rectangle: Rectangle, moment: datetime) -> dg.RunRequest:
    (customer,) = rectangle.customers
    tags = {**_range(rectangle), HELD: SKIP, CATCH_UP_OF: customer}
    return dg.RunRequest(run_key=f"{customer} {moment:%Y-%m-%d %H:%M}", tags=tags)


def _plan(
    project: Project, moment: datetime, context: dg.ScheduleEvaluationContext
) -> tuple[Rectangle, Sequence[Rectangle]]:
    from warehouse.store import Store

    clock = At(moment)
    customers = [customer.id for customer in project.settings.active_customers]
    days = calendar(project.settings, clock)
    try:
        store = Store(project.settings.data_dir, lock_seconds=LOCK_SECONDS)
        plan, ledger = make_plan(project.settings, Selection(), store, clock, project.surroundings.catalogue)
    except WarehouseError as error:
        context.log.warning(f"What is held cannot be read, so the usual months are asked for: {error}")
        return usual_night(customers, days), ()
    return tonight(plan.planned, ledger.denied, customers, days)


def _local(project: Project, context: dg.ScheduleEvaluationContext) -> datetime:
    return context.scheduled_execution_time.astimezone(ZoneInfo(project.settings.timezone))


def _range(rectangle: Rectangle) -> Mapping[str, str]:
    return {
        RANGE_START: key_of(rectangle.customers[0], rectangle.first),
        RANGE_END: key_of(rectangle.customers[-1], rectangle.last),
    }
