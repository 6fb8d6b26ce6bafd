"""What is under way: runs that have not ended, and the partitions that they fetch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from assets.partitions import ReportPartition, parse_partition_key
from assets.project import Project
from pipelines.months import Month

NIGHT_OF = "brokerbi/night"
"""Run tag: the day in whose night a run was started; such a run asks the service for changes as well."""
CATCH_UP_OF = "brokerbi/catch_up"
"""Run tag: the customer whose older months a run fetches, beside the night."""
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
SINGLE_PARTITION = "dagster/partition"
MOST_RUNS = 1000
UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


@dataclass(frozen=True)
class Fetching:
    """What one unfinished run fetches: some reports (all when none are named) of customers and months."""

    run_id: str
    reports: frozenset[str]
    customers: frozenset[str]
    first: Month
    last: Month

    def covers(self, partition: ReportPartition) -> bool:
        """Whether the run fetches this partition."""
        return (
            partition.month is not None
            and self.first <= partition.month <= self.last
            and partition.customer in self.customers
            and (not self.reports or partition.report.name in self.reports)
        )


def unfinished_runs(project: Project, instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Every run that waits or goes on."""
    return instance.get_runs(project.runs(statuses=list(UNFINISHED)), limit=MOST_RUNS)


def being_fetched(
    project: Project, instance: dg.DagsterInstance, customers: Sequence[str]
) -> Iterator[Fetching]:
    """What unfinished backfills and catch-ups fetch; the nightly run does not count.

    `customers` are all of them in the order of the partitions: a range goes from one to another.
    """
    for run in unfinished_runs(project, instance):
        start = run.tags.get(RANGE_START, run.tags.get(SINGLE_PARTITION))
        end = run.tags.get(RANGE_END, start)
        if NIGHT_OF in run.tags or start is None or end is None:
            continue
        (first, first_month), (last, last_month) = parse_partition_key(start), parse_partition_key(end)
        between = {first, last}
        if first in customers and last in customers:
            between.update(customers[customers.index(first) : customers.index(last) + 1])
        reports = frozenset(key.path[-1] for key in run.asset_selection or ())
        yield Fetching(run.run_id, reports, frozenset(between), first_month, last_month)


def customers_being_fetched(
    project: Project, instance: dg.DagsterInstance, customers: Sequence[str]
) -> set[str]:
    """Customers of whom an unfinished backfill or catch-up fetches anything."""
    return {name for one in being_fetched(project, instance, customers) for name in one.customers}
