"""Runs that failed for good: what they say, what they failed at, and whether that is still so."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.overdue import DataState
from assets.project import Project
from assets.publish import PUBLISH
from assets.run_results import FAILED_REPORTS
from assets.under_way import NIGHT_OF
from pipelines.planning.selection import Pair
from warehouse.store.meta_schema import aware

MOST_AT_ONCE = 50
REASON_LINES = 3
WILL_RETRY = "dagster/will_retry"
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
JOB_OF_SELECTED_ASSETS = "__ASSET_JOB"
"""Dagster's own name for what a backfill, or a run of selected assets, is a run of."""


@dataclass(frozen=True)
class FailedRun:
    """A run that failed and will not be retried by itself; `night` if it is the nightly run.

    `pairs` are the reports and customers that it failed at, without a report for a customer that was refused
    everything; none where it broke down for another reason.
    """

    name: str
    run_id: str
    link: str
    reason: str
    night: bool = False
    pairs: frozenset[Pair] = frozenset()
    started: datetime = BEGINNING
    ended: datetime = BEGINNING

    def failed_still(self, state: DataState, lost: Collection[Pair], project: Project) -> set[Pair]:
        """What it failed at and nobody has mended since."""
        ended = project.as_of(self.ended)
        since = {(one.report, one.customer): aware(one.since_utc) for one in state.status.failures}
        return {one for one in self.pairs if one in lost or (one in since and since[one] <= ended)}

    def is_mended(self, state: DataState, project: Project) -> bool:
        """Whether all it failed at was answered since, as far as that is still asked."""
        started = project.as_of(self.started)
        active = {customer.id for customer in project.settings.active_customers}
        answered = {
            pair
            for one in state.status.standings
            if one.last_success_utc and aware(one.last_success_utc) >= started
            for pair in ((one.report, one.customer), ("", one.customer))
        }
        return bool(self.pairs) and all(pair in answered for pair in self.pairs if pair[1] in active)


def job_in_words(name: str) -> str:
    """What a message calls a job, at the beginning of a sentence."""
    return "A backfill or a run of selected assets" if name == JOB_OF_SELECTED_ASSETS else f"The job `{name}`"


def failed_runs(instance: dg.DagsterInstance, since: datetime, ui_url: str) -> Iterator[FailedRun]:
    """Runs of any job that failed for good, oldest first."""
    wanted = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=since)
    for record in instance.get_run_records(wanted, limit=MOST_AT_ONCE, ascending=True):
        run = record.dagster_run
        if run.tags.get(WILL_RETRY) != "true":
            reason, pairs = _said_by(instance, run.run_id)
            yield FailedRun(
                run.job_name,
                run.run_id,
                f"{ui_url.rstrip('/')}/runs/{run.run_id}" if ui_url else "",
                reason,
                NIGHT_OF in run.tags,
                pairs,
                _moment(record.start_time, record.create_timestamp),
                _moment(record.end_time, record.update_timestamp),
            )


def has_succeeded_since(
    instance: dg.DagsterInstance, job: str, moment: datetime, state: DataState, project: Project
) -> bool:
    """Whether a run of a job has succeeded since; any run that fetches may also publish."""
    if job == PUBLISH and state.published and state.published > project.as_of(moment):
        return True
    wanted = dg.RunsFilter(job_name=job, statuses=[dg.DagsterRunStatus.SUCCESS], updated_after=moment)
    return bool(instance.get_run_records(wanted, limit=1))


def _moment(seconds: float | None, otherwise: datetime) -> datetime:
    return datetime.fromtimestamp(seconds, UTC) if seconds else otherwise


def _said_by(instance: dg.DagsterInstance, run_id: str) -> tuple[str, frozenset[Pair]]:
    """What the failed steps say, or Dagster when the run failed without one; and what they failed at."""
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    records = instance.get_records_for_run(run_id, of_type=kinds, limit=MOST_AT_ONCE).records
    of_steps, of_run, pairs = [], [], set[Pair]()
    for event in (record.event_log_entry.dagster_event for record in records):
        if event and event.is_step_failure:
            data = event.step_failure_data
            failure = data.user_failure_data
            of_steps.append(
                (failure and failure.description)
                or (data.error.message.strip() if data.error else event.message or "")
            )
            entry: Any = failure.metadata.get(FAILED_REPORTS) if failure else None
            pairs |= {
                (report, name)
                for report, customers in (entry.value if entry else {}).items()
                for name in customers
            }
        elif event:
            of_run.append(event.message or "")
    return "\n".join("\n".join(of_steps or of_run).splitlines()[:REASON_LINES]), frozenset(pairs)
