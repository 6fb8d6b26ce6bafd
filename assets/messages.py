"""Messages: one when a run broke, one after a nightly run with errors, and one when all is well again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from logging import Logger

import dagster as dg
from pydantic import TypeAdapter

from assets.notify import Channel, ChannelRefused, Message
from assets.project import Project
from assets.results import FAILED
from assets.run_log import columns_in_words
from assets.runs import NIGHT_OF, moment
from assets.schedules import NIGHTLY
from pipelines.diagnosis.health import observed
from pipelines.sync.causes import Cause, causes
from pipelines.words import counted
from warehouse.errors import WarehouseError
from warehouse.ledger.status import column_news, overview

SECONDS_BETWEEN_LOOKS = 60
SILENT_AFTER = timedelta(hours=30)
TIME_TO_PUBLISH = timedelta(minutes=2)
"""How long after a nightly run its message waits for what was loaded to be published."""
LATE_ENTRIES = timedelta(minutes=2)
"""Dagster may write down the end of a run this long after it, so each look reaches back."""
LATEST_RUNS = 50
LONGEST_LINE, LONGEST_TEXT = 300, 1400
"""Characters of a line, and of all below the subject; the rest is in `brokerbi status`."""
JOB_OF_SELECTED_ASSETS = "__ASSET_JOB"
"""Dagster's own name of the job of backfills and of selected assets."""
WILL_RETRY = "dagster/will_retry"
SILENCE = (
    "- There has been no nightly run since {:%Y-%m-%d %H:%M} UTC. See that the daemon runs and the schedule "
    "`nightly` is on."
)


@dataclass(frozen=True)
class Sent:
    """The sensor's cursor: the last messages.

    `day` is that of the latest nightly run that was reported. Runs were last gone through at `looked`, in
    seconds of the Unix epoch; `runs` are those that were reported. `keys` name all causes that were reported,
    of runs and nights. `waiting` is a message that these `channels` have yet to take.
    """

    day: str = ""
    looked: float = 0.0
    runs: Sequence[str] = ()
    keys: Sequence[str] = ()
    waiting: Message | None = None
    channels: Sequence[str] = ()

    @classmethod
    def from_cursor(cls, cursor: str | None) -> Sent:
        """The state that a cursor holds; a first look has none."""
        return TypeAdapter(cls).validate_json(cursor or "{}")

    @property
    def cursor(self) -> str:
        return TypeAdapter(Sent).dump_json(self).decode()


def messages_sensor(project: Project, channels: Mapping[str, Channel]) -> dg.SensorDefinition:
    """Looks every minute for runs that failed and nightly runs that ended, and sends a message."""

    @dg.sensor(
        name="messages",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends a message when a run has failed, one after a nightly run that left errors, and "
        "one when all is well again.",
    )
    def messages(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        sent = look(project, context.instance, Sent.from_cursor(context.cursor), list(channels))
        refused = list(deliver(sent, channels, context.log))
        context.update_cursor(replace(sent, channels=refused).cursor)
        subject = sent.waiting.subject if sent.waiting else "No message"
        return dg.SkipReason(f"{subject}; {', '.join(refused)} did not take it" if refused else subject)

    return messages


def deliver(sent: Sent, channels: Mapping[str, Channel], log: Logger) -> Iterator[str]:
    """Hand the waiting message to its channels; yields those that did not take it."""
    for name in sent.channels:
        try:
            if sent.waiting:
                channels[name](sent.waiting)
        except ChannelRefused as error:
            log.error(f"The message could not be sent: {error}.")
            yield name


def look(project: Project, instance: dg.DagsterInstance, sent: Sent, channels: Sequence[str]) -> Sent:
    """The cursor after this look: as before, or with another message that waits for its channels.

    While a message waits for a channel there is no other.
    """
    now = project.run_context.clock.utc_now()
    waiting = [name for name in sent.channels if name in channels]
    if not sent.looked:
        return replace(sent, looked=now.timestamp())
    if waiting:
        return replace(sent, channels=waiting)
    records = instance.get_run_records(project.runs(job_name=NIGHTLY), limit=LATEST_RUNS)
    night = next((record for record in records if NIGHT_OF in record.dagster_run.tags), None)
    if night and _is_to_report(night, now, sent):
        return _report_night(project, now, night.dagster_run.tags[NIGHT_OF], sent, channels)
    if night and now - night.create_timestamp > SILENT_AFTER and SILENCE not in sent.keys:
        message = Message("brokerbi: no nightly run", SILENCE.format(night.create_timestamp))
        return replace(sent, keys=[*sent.keys, SILENCE], waiting=message, channels=channels)
    return _report_failed_runs(project, instance, now, sent, channels)


def _report_night(project: Project, now: datetime, day: str, sent: Sent, channels: Sequence[str]) -> Sent:
    """A message about the errors that a nightly run left, or that all is well if the last one had some."""
    after = replace(sent, day=day, waiting=None, channels=())
    try:
        errors = _errors(project, now)
        with project.store.reading() as connection:
            news = columns_in_words(column_news(connection, project.as_of(moment(sent.looked))))
    except WarehouseError as error:
        return replace(after, waiting=Message(f"brokerbi, {day}: 1 error", f"- {error}"), channels=channels)
    lines = [f"- {'' if _key(cause) in sent.keys else 'new: '}{cause.line}" for cause in errors]
    columns = [f"- New in the answers: {words}" for words in news.values()]
    keys = [_key(cause) for cause in errors]
    if errors:
        message = Message(f"brokerbi, {day}: {counted(len(errors), 'error')}", _text([*lines, *columns]))
    elif sent.keys:
        message = Message(f"brokerbi, {day}: all is well again", _text(columns))
    elif columns:
        message = Message(f"brokerbi, {day}: the service answers in other columns", _text(columns))
    else:
        return replace(after, keys=keys)
    return replace(after, keys=keys, waiting=message, channels=channels)


def _errors(project: Project, now: datetime) -> list[Cause]:
    view = observed(overview(project.store), project.settings, now)
    return causes(condition for condition in view.conditions if condition.is_error)


def _key(cause: Cause) -> str:
    """The key by which the next message recognizes a cause."""
    first = cause.first
    return " | ".join((first.kind, first.cause_key or first.cause, *cause.reports[:1], *cause.customers[:1]))


def _report_failed_runs(
    project: Project, instance: dg.DagsterInstance, now: datetime, sent: Sent, channels: Sequence[str]
) -> Sent:
    """A message about runs that failed for good since the last look, unless the same was reported already.

    A nightly run whose errors are conditions is left to the message of the night.
    """
    since = moment(sent.looked) - LATE_ENTRIES
    filters = project.runs(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=since)
    lines, keys, runs = [], list(sent.keys), list(sent.runs)
    for record in instance.get_run_records(filters, limit=LATEST_RUNS, ascending=True):
        run = record.dagster_run
        if run.run_id in runs or run.tags.get(WILL_RETRY) == "true":
            continue
        runs.append(run.run_id)
        reason, is_explained = _reason(instance, run.run_id)
        key = f"run | {run.job_name} | {reason.partition('. ')[2] or reason}"
        if key in keys or (is_explained and NIGHT_OF in run.tags):
            continue
        keys.append(key)
        job = "a backfill or selected assets" if run.job_name == JOB_OF_SELECTED_ASSETS else run.job_name
        url = project.settings.ui_url
        link = f"{url.rstrip('/')}/runs/{run.run_id}" if url else f"run {run.run_id}"
        lines.append(f"- {job}: {reason} ({link})")
    after = replace(sent, looked=now.timestamp(), runs=runs[-LATEST_RUNS:], waiting=None, channels=())
    if not lines:
        return after
    subject = f"brokerbi, {project.calendar.today}: {counted(len(lines), 'run')} failed"
    return replace(after, keys=keys, waiting=Message(subject, _text(lines)), channels=channels)


def _reason(instance: dg.DagsterInstance, run_id: str) -> tuple[str, bool]:
    """The reason of a failed run, and whether meta.conditions has all of it."""
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    records = instance.get_records_for_run(run_id, of_type=kinds, limit=LATEST_RUNS).records
    of_steps, of_run, explained = [], [], []
    for event in (record.event_log_entry.dagster_event for record in records):
        if event and event.is_step_failure:
            data = event.step_failure_data
            failure = data.user_failure_data
            of_steps.append((failure and failure.description) or (data.error.message if data.error else ""))
            explained.append(bool(failure and FAILED in failure.metadata))
        elif event:
            of_run.append(event.message or "")
    return " ".join(" ".join(of_steps or of_run).split()), bool(explained) and all(explained)


def _is_to_report(night: dg.RunRecord, now: datetime, sent: Sent) -> bool:
    """Whether a nightly run has ended for good, had time to be published, and was not reported."""
    run = night.dagster_run
    is_over = run.is_finished and not run.is_complete_and_waiting_to_retry and night.end_time is not None
    has_had_time = now.timestamp() - (night.end_time or 0.0) > TIME_TO_PUBLISH.total_seconds()
    return is_over and has_had_time and run.tags[NIGHT_OF] != sent.day


def _text(lines: Iterable[str]) -> str:
    """Lines as far as a message takes them, and how many it does not."""
    kept: list[str] = []
    lines = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines]
    for line in lines:
        if len("\n".join([*kept, line])) > LONGEST_TEXT:
            kept.append(f"- and {len(lines) - len(kept)} more; `brokerbi status` shows them all")
            break
        kept.append(line)
    return "\n".join(kept)
