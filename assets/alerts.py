"""Alerts: one message after each night that left something to do, or that never came."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from logging import Logger

import dagster as dg

from assets.notify import Channel, ChannelRefused, Message
from assets.overdue import Overdue, find_overdue, group_overdue, read_data_state
from assets.partitions import customers_in_order
from assets.project import Project
from assets.reports import NIGHT_OF
from assets.schedules import NIGHTLY, customers_being_fetched

SECONDS_BETWEEN_LOOKS = 60
SILENT_AFTER = timedelta(hours=30)
TIME_TO_PUBLISH = timedelta(minutes=10)
"""So long after the last run of a night its message waits, so that it covers publishing as well."""
LATEST_RUNS = 50
REASON_LINES = 12
OVERDUE_LINES = 30
WILL_RETRY = "dagster/will_retry"


@dataclass(frozen=True)
class AlertState:
    """The sensor's cursor: the night of the last message, and the channels that have yet to take it.

    Failed runs are reported from the moment `until` on, in seconds of the Unix epoch.
    """

    day: str = ""
    until: float = 0.0
    subject: str = ""
    text: str = ""
    channels: Sequence[str] = ()

    @classmethod
    def from_cursor(cls, cursor: str | None) -> AlertState:
        return cls(**json.loads(cursor)) if cursor else cls()

    @property
    def cursor(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class FailedRun:
    """A run that failed and will not be retried by itself."""

    name: str
    run_id: str
    link: str
    reason: str
    ended_utc: datetime


def trouble_sensor(project: Project, channels: Mapping[str, Channel]) -> dg.SensorDefinition:
    """Looks every minute whether a night is over, and sends one message about what it left to do."""

    @dg.sensor(
        name="trouble",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="One message a night: what failed, why, since when, and what to do.",
    )
    def trouble(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        now = project.run_context.clock.utc_now()
        state = next_alert(
            project, context.instance, now, AlertState.from_cursor(context.cursor), list(channels)
        )
        state = deliver(state, channels, context.log)
        context.update_cursor(state.cursor)
        waiting = f"; it still has to go to {', '.join(state.channels)}" if state.channels else ""
        return dg.SkipReason(f"{state.subject or 'No message'}, {state.day or 'no night yet'}{waiting}")

    return trouble


def next_alert(
    project: Project, instance: dg.DagsterInstance, now: datetime, state: AlertState, channels: Sequence[str]
) -> AlertState:
    """The state after this look: the same as before, or with the message of another night."""
    if not state.until:
        return replace(state, until=now.timestamp())
    day, silence = _night_to_report(instance, now, state)
    if not day:
        return state
    being_fetched = customers_being_fetched(instance, customers_in_order(project.settings))
    overdue = list(find_overdue(read_data_state(project), project.as_of(now), being_fetched))
    failed = list(failed_runs(instance, datetime.fromtimestamp(state.until, UTC), project.settings.ui_url))
    message = alert_message(day, failed, overdue, silence)
    if message is None:
        return AlertState(day, now.timestamp())
    return AlertState(day, now.timestamp(), message.subject, message.text, channels)


def deliver(state: AlertState, channels: Mapping[str, Channel], log: Logger) -> AlertState:
    """Send the message where it has yet to go; a channel that refuses is tried again at the next look.

    A channel that the settings no longer name is dropped.
    """
    refused = []
    for name in state.channels:
        if name in channels:
            try:
                channels[name](Message(state.subject, state.text))
            except ChannelRefused as error:
                log.error(f"The message could not be sent: {error}.")
                refused.append(name)
    return replace(state, channels=refused)


def failed_runs(instance: dg.DagsterInstance, since: datetime, ui_url: str) -> Iterator[FailedRun]:
    """Runs of any job that failed for good, oldest first."""
    wanted = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=since)
    for record in instance.get_run_records(wanted, limit=LATEST_RUNS, ascending=True):
        run = record.dagster_run
        if run.tags.get(WILL_RETRY) != "true":
            link = f"{ui_url.rstrip('/')}/runs/{run.run_id}" if ui_url else ""
            ended = datetime.fromtimestamp(record.end_time or 0.0, UTC)
            yield FailedRun(run.job_name, run.run_id, link, _failure_reason(instance, run.run_id), ended)


def alert_message(
    day: str, failed: Sequence[FailedRun], overdue: Sequence[Overdue], silence: str
) -> Message | None:
    """The one message of a night; None when there is nothing to report."""
    parts, remedies, counted = [], [], []
    if silence:
        parts.append(silence)
        remedies.append("- See that the daemon runs and that the schedule `nightly` is switched on.")
    if failed:
        parts.append("\n".join(["What failed", *_lines_of_runs(failed)]))
        remedies.append(
            "- Open the run, fix what it names, and re-execute it from failure: it asks for the rest only."
        )
        counted.append("1 run failed" if len(failed) == 1 else f"{len(failed)} runs failed")
    if overdue:
        parts.append("\n".join(["What is overdue", *_lines_of_overdue(overdue)]))
        remedies.append(
            "- The next night tries everything that is overdue again; sooner, launch a backfill of it."
        )
        customers = len({one.customer for one in overdue})
        counted.append(f"reports of {customers} customer{'s' if customers > 1 else ''} are overdue")
    if not parts:
        return None
    subject = f"brokerbi, {day}: {' and '.join(counted) or silence}"
    return Message(subject, "\n\n".join([*parts, "\n".join(["What to do", *remedies])]))


def _night_to_report(instance: dg.DagsterInstance, now: datetime, state: AlertState) -> tuple[str, str]:
    """The day to report, if there is one, and a sentence about a night that never came."""
    records = instance.get_run_records(dg.RunsFilter(job_name=NIGHTLY), limit=LATEST_RUNS)
    night = next((one for one in records if NIGHT_OF in one.dagster_run.tags), None)
    if night is not None and now - night.create_timestamp < SILENT_AFTER:
        day = night.dagster_run.tags[NIGHT_OF]
        return (day if day != state.day and _is_over(night, now) else ""), ""
    since = night.create_timestamp if night else datetime.fromtimestamp(state.until, UTC)
    day = f"{now:%Y-%m-%d}, without a night"
    if state.day == day or now - since < SILENT_AFTER:
        return "", ""
    return day, f"there has been no night since {since:%Y-%m-%d %H:%M} UTC"


def _is_over(night: dg.RunRecord, now: datetime) -> bool:
    """Whether a run has ended, will not be retried, and there was time to publish after it."""
    run = night.dagster_run
    if not run.is_finished or run.is_complete_and_waiting_to_retry:
        return False
    return now.timestamp() - (night.end_time or 0.0) > TIME_TO_PUBLISH.total_seconds()


def _failure_reason(instance: dg.DagsterInstance, run_id: str) -> str:
    """What the failed steps say; what Dagster says when the run failed without one."""
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    records = instance.get_records_for_run(run_id, of_type=kinds, limit=LATEST_RUNS).records
    of_steps, of_run = [], []
    for event in (record.event_log_entry.dagster_event for record in records):
        if event and event.is_step_failure:
            data = event.step_failure_data
            described = data.user_failure_data.description if data.user_failure_data else ""
            of_steps.append(described or (data.error.message.strip() if data.error else event.message or ""))
        elif event:
            of_run.append(event.message or "")
    return "\n".join("\n".join(of_steps or of_run).splitlines()[:REASON_LINES])


def _lines_of_runs(failed: Sequence[FailedRun]) -> Iterator[str]:
    for run in failed:
        yield f"- {run.name}, {run.ended_utc:%Y-%m-%d %H:%M} UTC, {run.link or f'run {run.run_id}'}"
        yield from (f"    {line}" for line in run.reason.splitlines())


def _lines_of_overdue(overdue: Sequence[Overdue]) -> list[str]:
    """One line for all customers of whom the same is overdue."""
    lines = [
        f"- {report} of {', '.join(customers)}: {what}{f', since {since}' if since else ''}: {why}"
        for (report, what, since, why), customers in group_overdue(overdue).items()
    ]
    if len(lines) > OVERDUE_LINES:
        lines[OVERDUE_LINES:] = [f"- and {len(lines) - OVERDUE_LINES} more; `brokerbi status` lists them all"]
    return lines
