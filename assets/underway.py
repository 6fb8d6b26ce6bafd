"""Whose months are being fetched right now? Read from the ranges of the runs that have not ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import dagster as dg

from assets.fetching import NIGHT_OF
from assets.partitions import square_of

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
ONE_SQUARE = "dagster/partition"
MOST_RUNS = 1000

UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def customers_under_way(instance: dg.DagsterInstance, customers: Sequence[str]) -> set[str]:
    """Customers whose months a backfill or a catch-up has in hand; the night itself does not count.

    `customers` are all there are, in the order of the squares: a range goes from one to another.
    """
    runs = instance.get_runs(dg.RunsFilter(statuses=list(UNFINISHED)), limit=MOST_RUNS)
    return {name for run in runs if NIGHT_OF not in run.tags for name in _customers(run, customers)}


def _customers(run: dg.DagsterRun, customers: Sequence[str]) -> Iterator[str]:
    start = run.tags.get(RANGE_START, run.tags.get(ONE_SQUARE))
    end = run.tags.get(RANGE_END, start)
    if start is None or end is None:
        return
    first, last = square_of(start)[0], square_of(end)[0]
    yield from {first, last}
    if first in customers and last in customers:
        yield from customers[customers.index(first) : customers.index(last) + 1]
