"""Alerts: a message when a run fails, after a night that left something to do, and when trouble is over."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from logging import Logger

import dagster as dg

from assets.failed_runs import FailedRun, failed_runs, has_succeeded_since, job_in_words
from assets.notify import Channel, ChannelRefused, Message
from assets.overdue import DataState, find_overdue, lost_rights, read_data_state
from assets.partitions import customers_in_order
from assets.project import Project
from assets.run_log import columns_in_words
from assets.schedules import NIGHTLY
from assets.told_troubles import (
    BROKEN_RUN,
    SILENCE,
    ToldTrouble,
    ended_by_answers,
    ends_in_words,
    new_troubles,
    remembered,
    still_asked,
    told_trouble,
)
from assets.under_way import NIGHT_OF, customers_being_fetched, is_to_try_again, unfinished_runs
from pipelines.operations.causes import (
    LOGIN_CORRECTED,
    NO_RIGHT,
    PASSING,
    SHUT_OUT,
    FailedReport,
    causes,
    shortened,
    with_kinds,
)
from pipelines.operations.logins import with_corrected_logins
from pipelines.planning.plan import Plan
from pipelines.planning.selection import Pair
from warehouse.errors import WarehouseError
from warehouse.ledger.column_news import column_news_since
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.status import Overview
from warehouse.publishing.publish import loaded_since_publication

SECONDS_BETWEEN_LOOKS = 60
SILENT_AFTER = timedelta(hours=30)
TIME_TO_PUBLISH = timedelta(minutes=1)
"""So long after a night its message waits for what was loaded to be published."""
LATE_ENTRIES = timedelta(minutes=2)
"""Runs that ended so long before the last look may have been written down after it."""
LATEST_RUNS = 50
MOST_RUNS_NAMED = 3
MOST_ENDS = 5
LONGEST_LINE = 300
LONGEST_TEXT = 1400
"""Signs of a message below its subject; what is beyond is in the UI and in `brokerbi status`."""

NOTHING_KNOWN = DataState(Plan((), 1.0, 1, 1.0), Ledger(), Overview((), (), (), (), (), ()))


@dataclass(frozen=True)
class AlertState:
    """The sensor's cursor: the night of the last message, and the channels that have yet to take it.

    `until` is when a night was reported last and `looked` when what was found was last gone through, in
    seconds of the Unix epoch; runs in `told` were reported or need no report. `open` are the troubles that
    were told and are not over.
    """

    day: str = ""
    until: float = 0.0
    subject: str = ""
    text: str = ""
    channels: Sequence[str] = ()
    told: Sequence[str] = ()
    looked: float = 0.0
    open: Sequence[ToldTrouble] = field(default_factory=list)

    @classmethod
    def from_cursor(cls, cursor: str | None) -> AlertState:
        """The state of a cursor, also of one that an earlier version wrote."""
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in json.loads(cursor or "{}").items() if name in known}
        return cls(**{**values, "open": [ToldTrouble(*one) for one in values.get("open", ())]})

    @property
    def cursor(self) -> str:
        return json.dumps(asdict(self) | {"open": [list(one) for one in self.open]})

    @property
    def since(self) -> datetime:
        """Since when runs that ended are of interest."""
        looked = self.looked - LATE_ENTRIES.total_seconds() if self.looked else self.until
        return datetime.fromtimestamp(looked, UTC)


@dataclass(frozen=True)
class Findings:
    """What a message is made of: causes of trouble, runs that broke down for other reasons, a silence.

    `runs` are those that failed for these causes, `ended` says what is over, and `columns` what is new in the
    answers; both ask for nothing to be done.
    """

    causes: Sequence[str] = ()
    broken: Sequence[FailedRun] = ()
    silence: str = ""
    ended: Sequence[str] = ()
    columns: Sequence[str] = ()
    runs: Sequence[FailedRun] = ()


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
    """The state after this look: the same as before, or with another message.

    A run that failed by day is told at once, whatever else goes on; so is a lost right while its run waits
    to ask again; what is over is told with it, or when nothing is being fetched any more. A night of another
    date is told with all that is left to do. Until a channel takes a message there is no other.
    """
    if not state.until:
        return replace(state, until=now.timestamp())
    if state.channels and set(channels) <= set(state.channels):
        return state
    occasion = _occasion(project, instance, now, state)
    is_due = occasion.day or occasion.failed or occasion.is_trying
    if not (is_due or (state.open and _all_has_ended(instance, state))):
        return state
    look, occasion = _look_at(project, instance, now, occasion)
    told = still_asked(state.open, project)
    ended = look.ended(told, is_night=bool(occasion.day and not occasion.silence))
    findings, more = look.findings(occasion, [one for one in told if one not in ended])
    since = project.as_of(datetime.fromtimestamp(state.until, UTC))
    columns = columns_in_words(column_news_since(project.store, since)) if occasion.day else {}
    after = replace(
        state,
        looked=now.timestamp(),
        told=[*state.told, *(one.run_id for one in occasion.failed)][-LATEST_RUNS:],
        open=[one for one in remembered(told, more) if one not in ended],
    )
    if occasion.day:
        after = replace(after, day=occasion.day, until=now.timestamp(), subject="", text="", channels=())
    message = alert_message(
        occasion.day or str(project.calendar.today),
        replace(findings, ended=ends_in_words(ended), columns=list(columns.values())),
    )
    if message is None:
        return after
    return replace(after, subject=message.subject, text=message.text, channels=channels)


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


@dataclass(frozen=True)
class Occasion:
    """What a message may be made for: the day of a night, why there was none, and runs that failed.

    `is_trying` while a run has failed at something and waits to ask once more.
    """

    day: str
    silence: str
    failed: Sequence[FailedRun]
    is_trying: bool


@dataclass(frozen=True)
class Look:
    """What is held and wrong at a moment, `at` in seconds of the Unix epoch.

    `troubles` are everything overdue and every right that was lost, with what is corrected by now.
    """

    project: Project
    instance: dg.DagsterInstance
    at: float
    state: DataState
    lost: Collection[Pair]
    troubles: Sequence[FailedReport]
    being_fetched: Collection[str]

    def ended(self, told: Sequence[ToldTrouble], *, is_night: bool) -> list[ToldTrouble]:
        """What was told and is over; a night ends the silence."""
        return [
            *ended_by_answers(told, self.troubles, self.state, self.project),
            *(one for one in told if one.kind == BROKEN_RUN and self._succeeds_again(one)),
            *(one for one in told if one.kind == SILENCE and is_night),
        ]

    def findings(self, occasion: Occasion, told: Sequence[ToldTrouble]) -> tuple[Findings, list[ToldTrouble]]:
        """What to tell of runs that failed, and how to remember it; of a night, all that is wrong.

        A lost right is told once, everything else again after each night until it is over; what may pass and
        is being tried again by a run has time until that ends. Only runs that
        failed at what is told are linked, and what nothing else tells is told in the words of its run.
        """
        failed, settings = occasion.failed, self.project.settings
        wrong = [one for one in self.troubles if one.kind != LOGIN_CORRECTED]
        known = {(one.report, one.customer) for one in self.troubles}
        by_run = {one.run_id: known & one.failed_still(self.state, self.lost, self.project) for one in failed}
        of_runs = set().union(*by_run.values())
        new = new_troubles(wrong, told, settings)
        if occasion.day:
            others = [one for one in wrong if (one.report, one.customer) not in of_runs]
            tried = [one for one in others if one.kind in PASSING and one.customer in self.being_fetched]
            again = [one for one in wrong if one in new or one.kind not in (NO_RIGHT, SHUT_OUT)]
            to_tell = [one for one in again if one not in tried]
        else:
            rights = (NO_RIGHT, SHUT_OUT) if occasion.is_trying else ()
            to_tell = [one for one in new if (one.report, one.customer) in of_runs or one.kind in rights]
        pairs = {(one.report, one.customer) for one in to_tell}
        runs = [one for one in failed if by_run[one.run_id] & pairs]
        subjects = {one.subject for one in told}
        broken: dict[tuple[str, str, str], FailedRun] = {}
        for one in failed:
            subject = (BROKEN_RUN, one.name, shortened(one.reason, 80))
            if not by_run[one.run_id] and subject not in subjects and not self._is_over(one):
                broken[subject] = one
        more = [told_trouble(one, self.at) for one in to_tell]
        more += [ToldTrouble(*one, self.at) for one in broken]
        if occasion.silence:
            more.append(ToldTrouble(SILENCE, told_at=self.at))
        return Findings(causes(to_tell, settings), list(broken.values()), occasion.silence, runs=runs), more

    def _is_over(self, run: FailedRun) -> bool:
        if run.pairs:
            return run.is_mended(self.state, self.project)
        return has_succeeded_since(self.instance, run.name, run.ended, self.state, self.project)

    def _succeeds_again(self, told: ToldTrouble) -> bool:
        since = datetime.fromtimestamp(told.told_at, UTC)
        return has_succeeded_since(self.instance, told.report, since, self.state, self.project)


def take_a_look(project: Project, instance: dg.DagsterInstance, now: datetime) -> Look:
    """What is wrong right now."""
    at = project.run_context.clock.utc_now().timestamp()
    state = read_data_state(project)
    lost = lost_rights(state)
    fetched = customers_being_fetched(instance, customers_in_order(project.settings))
    troubles = [
        FailedReport(one.report, one.customer, one.kind, one.why, one.months, one.last_try)
        for one in find_overdue(state, project.as_of(now), fetched)
    ]
    troubles += [FailedReport(*one, NO_RIGHT if one[0] else SHUT_OUT) for one in sorted(lost)]
    wrong = with_kinds(with_corrected_logins(troubles, project.settings))
    return Look(project, instance, at, state, lost, wrong, fetched)


def _look_at(
    project: Project, instance: dg.DagsterInstance, now: datetime, occasion: Occasion
) -> tuple[Look, Occasion]:
    """What is wrong; where nothing can be read, only runs that broke down are told, and the night later."""
    try:
        return take_a_look(project, instance, now), occasion
    except WarehouseError:
        if all(one.pairs for one in occasion.failed):
            raise
        at = project.run_context.clock.utc_now().timestamp()
        return Look(project, instance, at, NOTHING_KNOWN, (), (), ()), replace(occasion, day="")


def alert_message(day: str, found: Findings) -> Message | None:
    """The message of a night or of failed runs; None when there is nothing new to report."""
    parts = [f"- {sentence}" for sentence in found.causes]
    if found.silence:
        parts.append(f"- See that the daemon runs and the schedule `nightly` is on: {found.silence}.")
    parts += [
        f"- {job_in_words(one.name)} failed: {shortened(one.reason, LONGEST_LINE)}" for one in found.broken
    ]
    last = [f"- {sentence}" for sentence in found.ended[:MOST_ENDS]]
    if len(found.ended) > MOST_ENDS:
        last.append(f"- {len(found.ended) - MOST_ENDS} more troubles are over.")
    if found.columns:
        last.append(f"- New in the answers: {shortened('; '.join(found.columns), LONGEST_LINE)}")
    if not parts and not last:
        return None
    if runs := [*found.runs, *found.broken]:
        last.append(_runs_in_words(runs))
    wrong, over = len(found.causes) + len(found.broken) + bool(found.silence), len(found.ended)
    if wrong:
        subject = f"{wrong} thing{'s' if wrong > 1 else ''} to do"
    elif over:
        subject = f"{over} troubles are over" if over > 1 else "1 trouble is over"
    else:
        subject = "the service answers in other columns"
    return Message(f"brokerbi, {day}: {subject}", _limited(parts, last))


def _runs_in_words(failed: Sequence[FailedRun]) -> str:
    latest = failed[-MOST_RUNS_NAMED:]
    where = ", ".join(one.link or f"run {one.run_id}" for one in latest)
    count = "1 run" if len(failed) == 1 else f"{len(failed)} runs"
    return f"{count} failed{', the latest' if len(failed) > len(latest) else ''}: {where}"


def _limited(parts: Sequence[str], last: Sequence[str]) -> str:
    """As many parts as fit with those that come last, and how many do not."""
    kept: list[str] = []
    for part in parts:
        if len("\n".join([*kept, part, *last])) > LONGEST_TEXT:
            kept.append(f"- and {len(parts) - len(kept)} more; `brokerbi status` shows them all")
            break
        kept.append(part)
    return "\n".join([*kept, *last])


def latest_night(instance: dg.DagsterInstance) -> dg.RunRecord | None:
    """The latest run of a night, its retry if there is one."""
    records = instance.get_run_records(dg.RunsFilter(job_name=NIGHTLY), limit=LATEST_RUNS)
    return next((one for one in records if NIGHT_OF in one.dagster_run.tags), None)


def _night_to_report(
    project: Project, night: dg.RunRecord | None, now: datetime, state: AlertState
) -> tuple[str, str]:
    """The day to report, if there is one, and a sentence about a night that never came."""
    if night is not None and now - night.create_timestamp < SILENT_AFTER:
        day = night.dagster_run.tags[NIGHT_OF]
        return (day if day != state.day and _is_over(project, night, now) else ""), ""
    since = night.create_timestamp if night else datetime.fromtimestamp(state.until, UTC)
    day = f"{now:%Y-%m-%d}, without a night"
    if state.day == day or now - since < SILENT_AFTER:
        return "", ""
    return day, f"there has been no night since {since:%Y-%m-%d %H:%M} UTC"


def _occasion(project: Project, instance: dg.DagsterInstance, now: datetime, state: AlertState) -> Occasion:
    """What has happened since the last look."""
    night = latest_night(instance)
    day, silence = _night_to_report(project, night, now, state)
    failed = [
        one
        for one in failed_runs(instance, state.since, project.settings.ui_url)
        if one.run_id not in state.told and (day or not _is_awaited(one, night, state))
    ]
    looked = datetime.fromtimestamp(max(state.looked, state.until), UTC)
    return Occasion(day, silence, failed, is_to_try_again(instance, looked))


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


def _is_awaited(run: FailedRun, night: dg.RunRecord | None, state: AlertState) -> bool:
    """Whether a failed run is the night of a date of which there was no message yet."""
    return (
        night is not None
        and run.run_id == night.dagster_run.run_id
        and night.dagster_run.tags[NIGHT_OF] != state.day
    )


def _all_has_ended(instance: dg.DagsterInstance, state: AlertState) -> bool:
    """Whether a run has ended since the last look, and no other goes on."""
    since = datetime.fromtimestamp(state.looked, UTC)
    ended = dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS], updated_after=since)
    return bool(instance.get_run_records(ended, limit=1)) and not unfinished_runs(instance)
