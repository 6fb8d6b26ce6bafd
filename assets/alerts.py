"""Alerts: a message when a run fails, and one after each night that left something to do or never came."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from logging import Logger

import dagster as dg

from assets.notify import Channel, ChannelRefused, Message
from assets.overdue import DataState, find_overdue, lost_rights, read_data_state
from assets.partitions import customers_in_order
from assets.project import Project
from assets.run_log import columns_in_words
from assets.run_results import FETCH_FAILED
from assets.schedules import NIGHTLY
from assets.under_way import NIGHT_OF, customers_being_fetched
from pipelines.operations.causes import (
    LOGIN_CORRECTED,
    NO_RIGHT,
    SHUT_OUT,
    FailedReport,
    causes,
    shortened,
)
from pipelines.operations.logins import with_corrected_logins
from pipelines.planning.selection import Pair
from warehouse.column_news import column_news_since
from warehouse.errors import WarehouseError
from warehouse.publish import loaded_since_publication

SECONDS_BETWEEN_LOOKS = 60
SILENT_AFTER = timedelta(hours=30)
TIME_TO_PUBLISH = timedelta(minutes=10)
"""So long after the last run of a night its message waits for what was loaded to be published."""
BETWEEN_MESSAGES = timedelta(minutes=10)
"""The runs of a backfill that fail one after the other are few messages."""
LATEST_RUNS = 50
MOST_RUNS_NAMED = 3
REASON_LINES = 3
LONGEST_LINE = 300
LONGEST_TEXT = 1400
"""Signs of a message below its subject; what is beyond is in the UI and in `brokerbi status`."""
WILL_RETRY = "dagster/will_retry"


@dataclass(frozen=True)
class AlertState:
    """The sensor's cursor: the night of the last message, and the channels that have yet to take it.

    Runs that fail are reported from the moment `until` on, in seconds of the Unix epoch, without those in
    `told`, the last of them at `told_at`. `lost` are the rights whose loss was reported already.
    """

    day: str = ""
    until: float = 0.0
    subject: str = ""
    text: str = ""
    channels: Sequence[str] = ()
    told: Sequence[str] = ()
    told_at: float = 0.0
    lost: Sequence[Sequence[str]] = field(default=())

    @classmethod
    def from_cursor(cls, cursor: str | None) -> AlertState:
        return cls(**json.loads(cursor)) if cursor else cls()

    @property
    def cursor(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class FailedRun:
    """A run that failed and will not be retried by itself; `night` if it is the nightly run."""

    name: str
    run_id: str
    link: str
    reason: str
    night: bool = False

    @property
    def is_fetch(self) -> bool:
        """Whether it failed for what the service answered, which the ledger knows better."""
        return FETCH_FAILED in self.reason.partition("\n")[0]


@dataclass(frozen=True)
class Findings:
    """What a message is made of: causes of what is overdue, rights that are back, runs, and a silence.

    `columns` are sentences on new columns and other types, which ask for nothing to be done.
    """

    causes: Sequence[str] = ()
    regained: Sequence[Pair] = ()
    failed: Sequence[FailedRun] = ()
    silence: str = ""
    columns: Sequence[str] = ()


def trouble_sensor(project: Project, channels: Mapping[str, Channel]) -> dg.SensorDefinition:
    """Looks every minute whether a run failed or a night is over, and sends one message about it."""

    @dg.sensor(
        name="trouble",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends a message when a run has failed, and one after a night that left something to do.",
    )
    def trouble(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        now = project.run_context.clock.utc_now()
        state = next_alert(
            project, context.instance, now, AlertState.from_cursor(context.cursor), list(channels)
        )
        state = deliver(state, channels, context.log)
        context.update_cursor(state.cursor)
        waiting = f"; it still has to go to {', '.join(state.channels)}" if state.channels else ""
        return dg.SkipReason(
            f"{state.subject or 'No message'}, {state.day or 'no night reported yet'}{waiting}"
        )

    return trouble


def next_alert(
    project: Project, instance: dg.DagsterInstance, now: datetime, state: AlertState, channels: Sequence[str]
) -> AlertState:
    """The state after this look: the same as before, or with another message."""
    if not state.until:
        return replace(state, until=now.timestamp())
    day, silence = _night_to_report(project, instance, now, state)
    since = datetime.fromtimestamp(state.until, UTC)
    failed = [
        one for one in failed_runs(instance, since, project.settings.ui_url) if one.run_id not in state.told
    ]
    if not day:
        failed = [one for one in failed if not one.night]
        if not failed or now.timestamp() - state.told_at < BETWEEN_MESSAGES.total_seconds():
            return state
    found = read_data_state(project)
    lost = lost_rights(found)
    known = {(report, customer) for report, customer in state.lost}
    troubles = _to_be_mended(project, _troubles(project, instance, now, found, lost - known))
    findings = Findings(
        causes(troubles, project.settings),
        sorted(known - lost),
        failed,
        silence,
        _columns_in_words(project, since) if day else (),
    )
    message = alert_message(day or f"{project.as_of(now):%Y-%m-%d}", findings)
    told = [*state.told, *(one.run_id for one in failed)][-LATEST_RUNS:]
    after = replace(state, told=told, lost=sorted(lost))
    if day:
        after = replace(after, day=day, until=now.timestamp(), subject="", text="", channels=(), told=())
    if message is None:
        return after
    return replace(
        after, told_at=now.timestamp(), subject=message.subject, text=message.text, channels=channels
    )


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
            reason = _failure_reason(instance, run.run_id)
            yield FailedRun(run.job_name, run.run_id, link, reason, NIGHT_OF in run.tags)


def alert_message(day: str, found: Findings) -> Message | None:
    """The message of a night or of failed runs; None when there is nothing new to report.

    A run that failed for a cause that was reported before, and for no other, is nothing new.
    """
    others = [one for one in found.failed if not one.is_fetch]
    regained = [
        f"- {f'{report} of {customer}' if report else customer} is answered again."
        for report, customer in found.regained
    ]
    parts = [f"- {sentence}" for sentence in found.causes]
    if found.silence:
        parts.append(f"- See that the daemon runs and the schedule `nightly` is on: {found.silence}.")
    parts += [f"- {one.name}: {shortened(one.reason, LONGEST_LINE)}" for one in others[:MOST_RUNS_NAMED]]
    parts += regained
    if found.columns:
        parts.append(f"- New in the answers: {shortened('; '.join(found.columns), LONGEST_LINE)}")
    if not parts:
        return None
    if found.failed:
        parts.append(_runs_in_words(found.failed))
    wrong = len(found.causes) + len(others) + bool(found.silence)
    if wrong:
        subject = f"{wrong} thing{'s' if wrong > 1 else ''} to do"
    else:
        subject = "what was refused is answered again" if regained else "the service answers in other columns"
    return Message(f"brokerbi, {day}: {subject}", _limited(parts))


def _runs_in_words(failed: Sequence[FailedRun]) -> str:
    latest = failed[-MOST_RUNS_NAMED:]
    where = ", ".join(one.link or f"run {one.run_id}" for one in latest)
    count = "1 run" if len(failed) == 1 else f"{len(failed)} runs"
    return f"{count} failed{', the latest' if len(failed) > len(latest) else ''}: {where}"


def _troubles(
    project: Project, instance: dg.DagsterInstance, now: datetime, found: DataState, lost: set[Pair]
) -> Iterator[FailedReport]:
    """Everything overdue, and the rights that were lost since the last message."""
    fetched = customers_being_fetched(instance, customers_in_order(project.settings))
    for one in find_overdue(found, project.as_of(now), fetched):
        yield FailedReport(one.report, one.customer, one.kind, one.why, one.months)
    for report, customer in lost:
        yield FailedReport(report, customer, NO_RIGHT if report else SHUT_OUT)


def _to_be_mended(project: Project, troubles: Iterable[FailedReport]) -> list[FailedReport]:
    """Trouble without what a login failed at that is corrected by now: the next run asks for it."""
    found = with_corrected_logins(troubles, project.settings)
    return [one for one in found if one.kind != LOGIN_CORRECTED]


def _columns_in_words(project: Project, since: datetime) -> Sequence[str]:
    """The columns that are new or have another type since a moment."""
    return list(columns_in_words(column_news_since(project.store, project.as_of(since))).values())


def _limited(parts: Sequence[str]) -> str:
    """As many parts as fit, and how many do not."""
    kept: list[str] = []
    for part in parts:
        if len("\n".join([*kept, part])) > LONGEST_TEXT:
            kept.append(f"- and {len(parts) - len(kept)} more; `brokerbi status` shows them all")
            break
        kept.append(part)
    return "\n".join(kept)


def _night_to_report(
    project: Project, instance: dg.DagsterInstance, now: datetime, state: AlertState
) -> tuple[str, str]:
    """The day to report, if there is one, and a sentence about a night that never came."""
    records = instance.get_run_records(dg.RunsFilter(job_name=NIGHTLY), limit=LATEST_RUNS)
    night = next((one for one in records if NIGHT_OF in one.dagster_run.tags), None)
    if night is not None and now - night.create_timestamp < SILENT_AFTER:
        day = night.dagster_run.tags[NIGHT_OF]
        return (day if day != state.day and _is_over(project, night, now) else ""), ""
    since = night.create_timestamp if night else datetime.fromtimestamp(state.until, UTC)
    day = f"{now:%Y-%m-%d}, without a night"
    if state.day == day or now - since < SILENT_AFTER:
        return "", ""
    return day, f"there has been no night since {since:%Y-%m-%d %H:%M} UTC"


def _is_over(project: Project, night: dg.RunRecord, now: datetime) -> bool:
    """Whether a run has ended, will not be retried, and all is published or there was time to."""
    run = night.dagster_run
    if not run.is_finished or run.is_complete_and_waiting_to_retry:
        return False
    if now.timestamp() - (night.end_time or 0.0) > TIME_TO_PUBLISH.total_seconds():
        return True
    try:
        return loaded_since_publication(project.store_for_a_look) is None
    except WarehouseError:
        return False


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
