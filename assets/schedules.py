"""The schedule of the nightly run."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import dagster as dg

from assets.partitions import partition_key
from assets.project import Project
from assets.runs import NIGHT_OF, RANGE_END, RANGE_START

NIGHTLY = "nightly"
HIGH_PRIORITY = {"dagster/priority": "10"}


def nightly_schedule(project: Project) -> dg.ScheduleDefinition:
    """One run for all customers; it requests what is missing or due, as `brokerbi sync` does."""

    @dg.schedule(
        name=NIGHTLY,
        job_name=NIGHTLY,
        cron_schedule=project.settings.nightly,
        execution_timezone=project.settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Every night, in one run: all customers, everything that is missing or due.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        tick = context.scheduled_execution_time.astimezone(ZoneInfo(project.settings.timezone))
        tags = {**night_range(project), NIGHT_OF: str(project.calendar.today), **HIGH_PRIORITY}
        return dg.RunRequest(run_key=f"night {tick:%Y-%m-%d %H:%M}", tags=tags)

    return nightly


def night_range(project: Project) -> dict[str, str]:
    """The partitions that every nightly run requests, as tags: the latest months of all active customers."""
    calendar = project.calendar
    first = max(calendar.start, calendar.this_month.plus(1 - calendar.due_months))
    customers = [customer.id for customer in project.settings.active_customers]
    return {
        RANGE_START: partition_key(customers[0], min(first, calendar.this_month)),
        RANGE_END: partition_key(customers[-1], calendar.this_month),
    }
