"""Backfills that Dagster cuts by month: what one request may ask of several months is asked by one run.

Dagster makes a run for each customer or for each month, whichever are fewer, and more where what lies between
is left out. A run of a month alone would ask for windows of one month; so it takes along the months of the
other runs that have not ended, for the reports of which a request covers several, and those runs find them
fetched. They go one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import dagster as dg

from assets.partitions import ReportPartition, parse_partition_key
from assets.project import Project
from assets.runs.under_way import MOST_RUNS, RANGE_END, RANGE_START, SINGLE_PARTITION, UNFINISHED
from pipelines.months import Month
from warehouse.ledger.ledger import ledger_of
from warehouse.store.files import make_folder
from warehouse.store.lock import locked_file

BACKFILL = "dagster/backfill"
LONGEST_WAIT_SECONDS = 86_400.0


@dataclass(frozen=True)
class MonthsOfBackfill:
    """A backfill that is cut by month: since when it goes on, and the months of runs that have not ended."""

    since: datetime
    unfinished: frozenset[Month]


def cut_by_month(
    project: Project, instance: dg.DagsterInstance, run: dg.DagsterRun
) -> MonthsOfBackfill | None:
    """The backfill of a run of one month, if other runs of it are about other months."""
    own = _months(run)
    if BACKFILL not in run.tags or len(own) != 1:
        return None
    filters = dg.RunsFilter(tags={BACKFILL: run.tags[BACKFILL]})
    records = instance.get_run_records(filters, limit=MOST_RUNS)
    if all(_months(one.dagster_run) == own for one in records):
        return None
    since = min(one.create_timestamp for one in records)
    unfinished = {
        month
        for one in records
        if one.dagster_run.status in UNFINISHED and len(_months(one.dagster_run)) == 1
        for month in _months(one.dagster_run)
    }
    return MonthsOfBackfill(project.as_of(since), frozenset(unfinished | own))


@contextmanager
def with_months_of_others(
    project: Project, context: dg.AssetExecutionContext, partitions: Sequence[ReportPartition]
) -> Iterator[Sequence[ReportPartition]]:
    """The partitions of a run, with those of its backfill that the same requests may as well cover."""
    backfill = cut_by_month(project, context.instance, context.run)
    if backfill is None:
        yield partitions
        return
    lock = project.store.lock_path.with_name("backfill.lock")
    make_folder(lock.parent)
    with locked_file(lock, LONGEST_WAIT_SECONDS):
        yield [*partitions, *_of_others(project, backfill, partitions)]


def _of_others(
    project: Project, backfill: MonthsOfBackfill, partitions: Sequence[ReportPartition]
) -> Iterator[ReportPartition]:
    """Partitions in other months of what one request covers several months of, unless they are fetched."""
    ledger = ledger_of(project.store)
    for one in partitions:
        is_asked_alone = one.report.endpoint.window_months == 1
        for month in sorted(() if is_asked_alone else backfill.unfinished - {one.month}):
            other = ReportPartition(one.report, one.customer, month)
            known = ledger.month(*one.pair, month.first_day)
            if known is None or known.fetched_at_utc < backfill.since:
                yield other


def _months(run: dg.DagsterRun) -> set[Month]:
    """The first and the last month of a run, which are one for a run of a single month."""
    keys = [run.tags[tag] for tag in (RANGE_START, RANGE_END, SINGLE_PARTITION) if tag in run.tags]
    return {parse_partition_key(key)[1] for key in keys if "|" in key}
