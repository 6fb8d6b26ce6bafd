"""How did the nights go? Read from Dagster's runs: which is over, what failed, what is under way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg

from assets.fetching import NIGHT_OF
from assets.messages import FailedRun
from assets.schedules import NIGHTLY

TIME_TO_PUBLISH = timedelta(minutes=10)
"""So long after the night's last run a message waits, so that publishing can be told of as well."""
LATEST_RUNS = 50
LINES_OF_A_REASON = 12
WILL_RETRY = "dagster/will_retry"


@dataclass(frozen=True)
class Nights:
    """What Dagster knows of the nights at one moment."""

    instance: dg.DagsterInstance
    now: datetime
    ui_address: str = ""

    @property
    def latest(self) -> dg.RunRecord | None:
        """The newest attempt of the newest night."""
        records = self.instance.get_run_records(dg.RunsFilter(job_name=NIGHTLY), limit=LATEST_RUNS)
        return next((one for one in records if NIGHT_OF in one.dagster_run.tags), None)

    def is_over(self, night: dg.RunRecord) -> bool:
        """Whether it has ended, will not be tried again, and there was time to publish."""
        run = night.dagster_run
        if not run.is_finished or run.is_complete_and_waiting_to_retry:
            return False
        return self.now.timestamp() - (night.end_time or 0.0) > TIME_TO_PUBLISH.total_seconds()

    def failed_runs(self, since: datetime) -> Iterator[FailedRun]:
        """Runs of whatever kind that failed for good, oldest first."""
        wanted = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=since)
        for record in self.instance.get_run_records(wanted, limit=LATEST_RUNS, ascending=True):
            run = record.dagster_run
            if run.tags.get(WILL_RETRY) != "true":
                link = f"{self.ui_address.rstrip('/')}/runs/{run.run_id}" if self.ui_address else ""
                ended = datetime.fromtimestamp(record.end_time or 0.0, UTC)
                yield FailedRun(run.job_name, run.run_id, link, self._reason(run.run_id), ended)

    def _reason(self, run_id: str) -> str:
        """What the failing steps said; what Dagster says when the run failed without any."""
        kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
        found = self.instance.get_records_for_run(run_id, of_type=kinds, limit=LATEST_RUNS).records
        entries = [record.event_log_entry.dagster_event for record in found]
        told = [_words(event) for event in entries if event and event.is_step_failure]
        told = told or [event.message or "" for event in entries if event]
        return "\n".join("\n".join(told).splitlines()[:LINES_OF_A_REASON])


def _words(event: dg.DagsterEvent) -> str:
    data = event.step_failure_data
    if data.user_failure_data and data.user_failure_data.description:
        return data.user_failure_data.description
    return data.error.message.strip() if data.error else event.message or ""
