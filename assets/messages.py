"""Messages: one when a run fails, one after a nightly run with errors, and one when all is well again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import dagster as dg
from pydantic import TypeAdapter

from assets.notify import Channel, ChannelRefused, Message
from assets.project import Project
from assets.publish import LOCK_SECONDS, PUBLISH
from assets.results import CAUSES
from assets.runs import NIGHT_TAG, NIGHTLY, RANGE_END, RANGE_START, job_of, to_datetime, unfinished_runs
from pipelines.causes import TRANSIENT, Cause, causes, shorten
from pipelines.diagnosis.health import observe
from pipelines.planning.plan import plan_full_sync
from pipelines.words import counted
from warehouse.errors import NO_ROOM, WarehouseError
from warehouse.ledger.conditions import Kind
from warehouse.ledger.status import overview
from warehouse.publishing.publish import loaded_since_publication
from warehouse.store.database import Store

TIME_TO_PUBLISH = timedelta(minutes=10)  # how long a nightly run's message waits for the publication
LATE_ENTRIES = timedelta(minutes=2)
"""Dagster may record the end of a run this late, so each tick looks this much further back."""
LATEST_RUNS = 50
MAX_LINE_LENGTH, MAX_LINES = 640, 6
"""Limits of a message, because chat services take only about 4,000 characters."""


@dataclass(frozen=True)
class MessageCursor:
    """The cursor of a channel's sensor: the runs and errors that it has reported.

    `looked` is when the sensor last examined runs, in seconds of the Unix epoch; `runs` are the failed ones.
    `night` is the nightly run reported last; `keys` identify all errors reported with it or later.
    """

    looked: float = 0.0
    runs: Sequence[str] = ()
    night: str = ""
    keys: Sequence[str] = ()


CURSOR = TypeAdapter(MessageCursor)
Errors = Mapping[str, str]
"""Lines of a message by key; several may have the same line, which is new if the cursor lacks one of them."""


def messages_sensor(project: Project, name: str, channel: Channel) -> dg.SensorDefinition:
    """A sensor that sends messages about failed runs and finished nightly runs to one channel.

    Each channel has its own sensor, so a failing channel does not affect the others.
    """

    @dg.sensor(
        name=f"messages_{name}",
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends a message when a run fails, a nightly run left errors, or all is well again.",
    )
    def messages(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        cursor = CURSOR.validate_json(context.cursor or "{}")
        cursor, message = next_message(project, context.instance, cursor)
        try:
            if message:
                channel(message)
        except ChannelRefused as error:  # the cursor stays, so the next tick sends the message again
            return dg.SkipReason(f"{message and message.subject} was not sent: {error}.")
        context.update_cursor(CURSOR.dump_json(cursor).decode())
        return dg.SkipReason(message.subject if message else "No message.")

    return messages


def next_message(
    project: Project, instance: dg.DagsterInstance, cursor: MessageCursor
) -> tuple[MessageCursor, Message | None]:
    """The new cursor, and the message if one is due. The first tick only sets the cursor.

    After a nightly run, it lists all errors (conditions, and reasons of failed runs); if there are none, but
    earlier ones were reported, it says that all is well again. Otherwise it lists only new errors.
    """
    now = project.run_context.clock.utc_now()
    if not cursor.looked:
        return replace(cursor, looked=now.timestamp()), None
    failed = _failed_runs(project, instance, cursor.looked)
    new_cursor = replace(cursor, looked=now.timestamp(), runs=[run.run_id for run in failed])
    runs = [run for run in failed if run.run_id not in cursor.runs]
    jobs = {run.job_name for run in runs}  # a failed publication is part of its night's message
    if night := _night_to_report(project, instance, now, cursor, waits=PUBLISH not in jobs):
        runs.append(night)
    if not runs:
        return new_cursor, None
    conditions = _conditions(project, now, unfinished_runs(project, instance))
    errors = {**conditions, **_reasons(project.settings.ui_url, instance, runs, conditions)}
    new = _lines(errors, cursor.keys)
    lines, day = (_lines(errors), night.tags[NIGHT_TAG]) if night else (new, project.calendar.today)
    message = Message(f"brokerbi, {day}: {counted(len(lines), 'error')}", _text(lines, new))
    if not night:
        new_cursor = replace(new_cursor, keys=sorted({*cursor.keys, *errors}))
        return new_cursor, message if new else None
    if not errors and (_conditions(project, now, ()) or not _is_published(project)):
        return new_cursor, None  # not all is well yet: a later tick reports this nightly run
    new_cursor = replace(new_cursor, night=night.run_id, keys=sorted(errors))
    if not errors:
        return new_cursor, Message(f"brokerbi, {day}: all is well again", "") if cursor.keys else None
    return new_cursor, message


def _lines(errors: Errors, reported: Collection[str] = ()) -> list[str]:
    return list(dict.fromkeys(line for key, line in errors.items() if key not in reported))


def _night_to_report(
    project: Project, instance: dg.DagsterInstance, now: datetime, cursor: MessageCursor, *, waits: bool
) -> dg.DagsterRun | None:
    """The latest nightly run if it is over and not reported; if it `waits`, only once published or late."""
    for record in instance.get_run_records(project.runs_filter(job_name=NIGHTLY), limit=LATEST_RUNS):
        run, end = record.dagster_run, record.end_time
        if NIGHT_TAG in run.tags:
            is_over = end and run.is_finished and not run.is_complete_and_waiting_to_retry
            is_late = now - to_datetime(end or 0.0) > TIME_TO_PUBLISH
            is_due = is_over and (not waits or is_late or _is_published(project))
            return run if is_due and run.run_id != cursor.night else None
    return None


def _is_published(project: Project) -> bool:
    """Whether all loads are published or blocked by a check or mart."""
    try:
        load = loaded_since_publication(Store(project.settings.data_dir, lock_seconds=LOCK_SECONDS))
    except WarehouseError:  # a publication may have the file open
        return False
    return load is None or load.is_blocked


def _failed_runs(project: Project, instance: dg.DagsterInstance, last_tick: float) -> list[dg.DagsterRun]:
    """The runs, other than nightly runs, that failed since the last tick and are not retried."""
    since = to_datetime(last_tick) - LATE_ENTRIES
    filters = project.runs_filter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=since)
    return [
        run
        for run in instance.get_runs(filters, limit=LATEST_RUNS, ascending=True)
        if run.tags.get("dagster/will_retry") != "true" and NIGHT_TAG not in run.tags
    ]


def _conditions(project: Project, now: datetime, unfinished: Sequence[dg.DagsterRun]) -> Errors:
    """The errors, except for what a nightly run may still mend, and for killed runs that are retried."""
    may_end = TRANSIENT if any(NIGHT_TAG in run.tags for run in unfinished) else ()
    ids = (name for run in unfinished for name in (run.run_id, run.parent_run_id) if name)
    retried = tuple(f"run {name[:8]}" for name in ids)
    try:
        planned = plan_full_sync(project.settings, project.store, project.clock)
        view = observe(overview(project.store), project.settings, now, planned=planned)
    except (WarehouseError, ValueError) as error:  # a setting that does not fit is a ValueError
        return {"warehouse": str(error)}
    rows = [row for row in view.conditions if row.is_error and row.cause not in may_end]
    errors = causes(row for row in rows if row.cause or not row.error.startswith(retried))  # a kill has none
    return {key: cause.line for cause in errors for key in keys_of(cause)}


def keys_of(cause: Cause) -> list[str]:
    """The keys by which a cause counts as reported: one for each customer or, if it names none, each report.

    An outage, a denied login, a denial of all reports, and a cause that names neither have one key.
    """
    first = cause.first
    name = f"{first.kind} | {first.cause_key or first.error}"
    subjects = ("",) if first.trouble else cause.customers or cause.reports or ("",)
    return [f"{name} | {subject}" for subject in subjects]


def _reasons(url: str, instance: dg.DagsterInstance, runs: Iterable[dg.DagsterRun], listed: Errors) -> Errors:
    errors: dict[str, str] = {}
    told = " ".join((*listed, *listed.values()))
    for run in runs:
        reason = "" if run.is_success or run.run_id[:8] in told else _reason(instance, run.run_id)
        if reason and not (NO_ROOM in reason and f"{Kind.DISK_NEARLY_FULL} | " in told):
            partitions = "...".join(run.tags[tag] for tag in (RANGE_START, RANGE_END) if tag in run.tags)
            name = job_of(run) + (f" ({partitions})" if partitions else "")
            link = f"{url.rstrip('/')}/runs/{run.run_id}" if url else f"run {run.run_id}"
            # without name and link, the line of a reason equals that of its condition, and only one is shown
            line = reason if reason in listed.values() else f"{name}: {reason} ({link})"
            errors.setdefault(f"run | {reason}", line)
    return errors


def _reason(instance: dg.DagsterInstance, run_id: str) -> str:
    """Why a run failed; empty if conditions state the reason."""
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    records = instance.get_records_for_run(run_id, of_type=kinds, limit=LATEST_RUNS).records
    events = [event for record in records if (event := record.event_log_entry.dagster_event)]
    steps = [event.step_failure_data for event in events if event.is_step_failure]
    reasons = [] if steps else [event.message or "" for event in events]
    for data in steps:
        failure = data.user_failure_data
        if not (failure and CAUSES in failure.metadata):
            reasons.append((failure and failure.description) or (data.error.message if data.error else ""))
    return " ".join(" ".join(dict.fromkeys(reasons)).split())


def _text(lines: Sequence[str], new: Collection[str]) -> str:
    more, lines = len(lines) - MAX_LINES, sorted(lines, key=lambda line: line not in new)
    shown = [shorten(f"- {'new: ' * (line in new)}{line}", MAX_LINE_LENGTH) for line in lines[:MAX_LINES]]
    return "\n".join([*shown, *([f"- and {more} more; `brokerbi status` shows them all"] * (more > 0))])
