"""The sensor that tells of trouble: when a run has failed, after a night, and when what was told is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from logging import Logger
from typing import Any

import dagster as dg

from assets.messages import Subject, Told, difference, news_of
from assets.notify import Channel, ChannelRefused, in_words
from assets.partitions import customers_in_order
from assets.project import Project
from assets.publish import PUBLISH
from assets.runs.run_results import FAILED
from assets.runs.under_way import NIGHT_OF, customers_being_fetched, unfinished_runs
from assets.schedules import NIGHTLY
from pipelines.diagnosis.health import observed
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Condition, Kind
from warehouse.ledger.status import ColumnNews, Overview, column_news, overview
from warehouse.store.meta_schema import aware

SECONDS_BETWEEN_LOOKS = 60
SILENT_AFTER = timedelta(hours=30)
TIME_TO_PUBLISH = timedelta(minutes=1)
"""So long after a night its message waits for what was loaded to be published."""
LATE_ENTRIES = timedelta(minutes=2)
"""Runs that ended so long before the last look may have been written down after it."""
LATEST_RUNS = 50
REASON_LINES = 3
OF_DAGSTER = frozenset((Kind.RUN_FAILED, Kind.NO_NIGHT))
"""Kinds that no file knows."""
WILL_RETRY = "dagster/will_retry"


@dataclass(frozen=True)
class FailedRun:
    """A run that failed for good: what it says, and the kind of its error.

    `is_explained` says that meta.conditions has what it failed at.
    """

    job: str
    run_id: str
    ended: datetime
    reason: str
    error_kind: str
    is_explained: bool

    @property
    def condition(self) -> Condition:
        """What is told of a run that broke down."""
        return Condition(
            Kind.RUN_FAILED,
            job=self.job,
            since_utc=self.ended.replace(tzinfo=None),
            cause=self.error_kind,
            error=f"A run failed: {self.reason}",
            cause_key=f"{self.job} | {self.error_kind}",
        )


def trouble_sensor(project: Project, channels: Mapping[str, Channel]) -> dg.SensorDefinition:
    """Looks every minute whether a run has ended or a night is missing, and sends one message about it."""

    @dg.sensor(
        name="trouble",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends a message when a run has failed, one after a night that left something to do, and "
        "one when what was told is over.",
    )
    def trouble(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        now = project.run_context.clock.utc_now()
        told = look(project, context.instance, now, Told.from_cursor(context.cursor), list(channels))
        told = deliver(told, channels, context.log)
        context.update_cursor(told.cursor)
        waiting = f"; it still has to go to {', '.join(told.channels)}" if told.channels else ""
        day = told.day or "no night reported yet"
        subject = in_words(told.news).subject if told.news else "No message"
        return dg.SkipReason(f"{subject}, {day}{waiting}")

    return trouble


def look(
    project: Project, instance: dg.DagsterInstance, now: datetime, told: Told, channels: Sequence[str]
) -> Told:
    """What is told after this look: the same as before, or with another message.

    There is something to look at when a run has failed, when a night of another date is over or none came,
    and when a run has succeeded and nothing is being fetched any more. Until a channel takes a message there
    is no other.
    """
    if not told.until:
        return replace(told, until=now.timestamp())
    if told.channels and set(channels) <= set(told.channels):
        return told
    night, silence, failed = _occasion(project, instance, now, told)
    if not (night or failed or (told.subjects and _all_has_ended(project, instance, told))):
        return told
    view = _view(project, failed)
    night = night if view else ""
    asked = {one: at for one, at in told.subjects if _is_asked(one, project)}
    unseen = [one for one in asked if view is None and one.kind not in OF_DAGSTER]
    broken = _broken_runs(project, instance, asked, failed, view)
    change = difference(
        [one for one in asked if one not in unseen],
        [*(view.conditions if view else ()), *silence, *broken],
        after_night=bool(night),
        after_run=bool(failed),
        being_fetched=customers_being_fetched(project, instance, customers_in_order(project.settings)),
    )
    after = replace(
        told,
        day=night or told.day,
        until=now.timestamp() if night else told.until,
        looked=now.timestamp(),
        runs=[*told.runs, *(one.run_id for one in failed)][-LATEST_RUNS:],
        subjects=[(one, asked.get(one, now.timestamp())) for one in (*unseen, *change.known)],
    )
    news = news_of(
        night or str(project.calendar.today),
        change,
        columns=_columns_since(project, told.until) if night else (),
        runs=[one.run_id for one in failed],
        ui_url=project.settings.ui_url,
    )
    return replace(after, news=news, channels=channels) if news else after


def _columns_since(project: Project, moment: float) -> list[ColumnNews]:
    with project.store.reading() as connection:
        return column_news(connection, project.as_of(_moment(moment)))


def _occasion(
    project: Project, instance: dg.DagsterInstance, now: datetime, told: Told
) -> tuple[str, list[Condition], list[FailedRun]]:
    """The day of a night to report, the silence of the schedule, and the runs that failed since then.

    A night of a date that was not reported yet is no such run by itself.
    """
    latest = _latest_night(project, instance)
    night, silence = _night_to_report(latest, now, told)
    awaited = latest.dagster_run.run_id if latest and latest.dagster_run.tags[NIGHT_OF] != told.day else ""
    since = told.looked - LATE_ENTRIES.total_seconds() if told.looked else told.until
    failed = [
        one
        for one in failed_runs(project, instance, _moment(since))
        if one.run_id not in told.runs and (night or one.run_id != awaited)
    ]
    return night, silence, failed


def _view(project: Project, failed: Sequence[FailedRun]) -> Overview | None:
    """What is held and wrong; None where nothing can be read and a run that broke down is to be told."""
    try:
        return observed(overview(project.store), project.settings, project.run_context.clock.utc_now())
    except WarehouseError:
        if all(one.is_explained for one in failed):
            raise
        return None


def deliver(told: Told, channels: Mapping[str, Channel], log: Logger) -> Told:
    """Hand the news to each channel that has yet to take them; one that refuses is tried at the next look.

    A channel that the settings no longer name is dropped.
    """
    refused = []
    for name in told.channels:
        if told.news and name in channels:
            try:
                channels[name](told.news)
            except ChannelRefused as error:
                log.error(f"The message could not be sent: {error}.")
                refused.append(name)
    return replace(told, channels=refused)


def failed_runs(project: Project, instance: dg.DagsterInstance, since: datetime) -> Iterator[FailedRun]:
    """Runs of any job that failed for good, oldest first."""
    wanted = project.runs(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=since)
    for record in instance.get_run_records(wanted, limit=LATEST_RUNS, ascending=True):
        run = record.dagster_run
        if run.tags.get(WILL_RETRY) != "true":
            ended = _moment(record.end_time) if record.end_time else record.update_timestamp
            yield FailedRun(run.job_name, run.run_id, ended, *_said_by(instance, run.run_id))


def _said_by(instance: dg.DagsterInstance, run_id: str) -> tuple[str, str, bool]:
    """What the failed steps say, or Dagster of a run without one, and the kinds of their errors.

    And whether the ledger has it all.
    """
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    records = instance.get_records_for_run(run_id, of_type=kinds, limit=LATEST_RUNS).records
    of_steps, of_run, is_explained = [], [], []
    kinds_of_steps, kinds_of_run = set(), set()
    for event in (record.event_log_entry.dagster_event for record in records):
        if event and event.is_step_failure:
            data = event.step_failure_data
            failure = data.user_failure_data
            of_steps.append(
                (failure and failure.description)
                or (data.error.message.strip() if data.error else event.message or "")
            )
            kinds_of_steps.add(_error_kind(data.error))
            is_explained.append(bool(failure and FAILED in failure.metadata))
        elif event:
            of_run.append(event.message or "")
            kinds_of_run.add(_kind_of_run(event.job_failure_data))
    reason = "\n".join("\n".join(of_steps or of_run).splitlines()[:REASON_LINES])
    kind = ", ".join(sorted(filter(None, kinds_of_steps or kinds_of_run)))
    return reason, kind, bool(is_explained) and all(is_explained)


def _error_kind(error: Any) -> str:
    """The class of the error that all others come from."""
    while error and error.cause:
        error = error.cause
    return (error.cls_name or "") if error else ""


def _kind_of_run(failure: Any) -> str:
    """The class of the error that ended a run without a failed step, or Dagster's own word for its end."""
    if failure is None:
        return ""
    reason = failure.failure_reason
    return _error_kind(failure.error) or (reason.value if reason else "")


def _broken_runs(
    project: Project,
    instance: dg.DagsterInstance,
    asked: Mapping[Subject, float],
    failed: Sequence[FailedRun],
    view: Overview | None,
) -> Iterator[Condition]:
    """Runs that broke down, now or when it was told, whose job has not succeeded since."""

    def is_over(job: str, moment: datetime) -> bool:
        if job == PUBLISH and view:  # any run that fetches may also publish
            made = [aware(one.at_utc) for one in view.publications if not one.made_no_file]
            if max(made, default=moment) > project.as_of(moment):
                return True
        wanted = project.runs(job_name=job, statuses=[dg.DagsterRunStatus.SUCCESS], updated_after=moment)
        return bool(instance.get_run_records(wanted, limit=1))

    is_unpublished = view is not None and any(one.kind == Kind.UNPUBLISHED for one in view.conditions)
    for one in failed:
        is_explained = one.is_explained or (one.job == PUBLISH and is_unpublished)
        if not is_explained and not is_over(one.job, one.ended):
            yield one.condition
    for subject, at in asked.items():
        if subject.kind == Kind.RUN_FAILED and not is_over(subject.job, _moment(at)):
            yield Condition(Kind.RUN_FAILED, job=subject.job, cause=subject.cause)


def _is_asked(one: Subject, project: Project) -> bool:
    """Whether the report and the customer of what was told are still asked for."""
    customers = {customer.id for customer in project.settings.active_customers}
    reports = {report.name for report in project.reports}
    of_customer, of_report = one.customer in {"", *customers}, one.report in {"", *reports}
    return one.kind in OF_DAGSTER or (of_customer and of_report)


def _latest_night(project: Project, instance: dg.DagsterInstance) -> dg.RunRecord | None:
    """The latest run of a night, its retry if there is one."""
    records = instance.get_run_records(project.runs(job_name=NIGHTLY), limit=LATEST_RUNS)
    return next((one for one in records if NIGHT_OF in one.dagster_run.tags), None)


def _night_to_report(night: dg.RunRecord | None, now: datetime, told: Told) -> tuple[str, list[Condition]]:
    """The day of a night to report, if there is one, and what is told of a night that never came."""
    told_at = next((at for one, at in told.subjects if one.kind == Kind.NO_NIGHT), None)
    since = night.create_timestamp if night else _moment(told_at or told.until)
    if now - since < SILENT_AFTER and (told_at is None or (night and since > _moment(told_at))):
        if night is None:
            return "", []
        run, day = night.dagster_run, night.dagster_run.tags[NIGHT_OF]
        is_over = run.is_finished and not run.is_complete_and_waiting_to_retry
        had_time = now.timestamp() - (night.end_time or 0.0) > TIME_TO_PUBLISH.total_seconds()
        return (day if day != told.day and is_over and had_time else ""), []
    silence = Condition(
        Kind.NO_NIGHT,
        since_utc=since.replace(tzinfo=None),
        error=f"There has been no night since {since:%Y-%m-%d %H:%M} UTC.",
        remedy="See that the daemon runs and the schedule `nightly` is on.",
    )
    day = f"{now:%Y-%m-%d}, without a night"
    return ("" if told.day == day else day), [silence]


def _all_has_ended(project: Project, instance: dg.DagsterInstance, told: Told) -> bool:
    """Whether a run has succeeded since the last look, and no other goes on."""
    since = _moment(told.looked)
    ended = project.runs(statuses=[dg.DagsterRunStatus.SUCCESS], updated_after=since)
    return bool(instance.get_run_records(ended, limit=1)) and not unfinished_runs(project, instance)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
