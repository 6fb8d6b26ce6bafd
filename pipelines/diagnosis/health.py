"""Health of a data directory: what only a running process knows of it, and the verdict on all conditions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.planning.selection import correct_customers, left_customers
from pipelines.sync.causes import LONGEST_REASON, sentence, shortened
from pipelines.words import count, counted, size
from warehouse.ledger.conditions import (
    ERROR,
    LOGIN_REFUSED,
    REFUSAL,
    SERVICE,
    WARNING,
    Condition,
    Kind,
    Severity,
)

if TYPE_CHECKING:
    from pipelines.planning.plan import PlannedReport
    from pipelines.settings.messages import SettingsError
    from pipelines.settings.model import Settings
    from warehouse.ledger.status import Overview
    from warehouse.persons.erasure_record import ErasureRecord

ENOUGH_FREE_BYTES, TOO_FEW_FREE_BYTES = 1_000_000_000, 100_000_000
DAEMON_SEEN = Path("work", "daemon_seen")
"""Of a data directory: its age says when a sensor of Dagster, which ticks every five seconds, last did."""
DAEMON_LATE_AFTER, DAEMON_SILENT_AFTER = timedelta(minutes=1), timedelta(minutes=5)
"""From when on its silence is told, and is an error: each of the three sensors may take a minute."""
START_DAEMON = (
    "Start it, as docs/operators.md says: dagster-daemon run -w deploy/workspace.yaml; if it runs, see that "
    "the code server does too and that the sensor `publishing` is on"
)
TROUBLES = {
    SERVICE: "not read as the service is down",
    REFUSAL: "not read as the service refuses everybody (403)",
}
"""What failures are counted as that have the same behind them; of any other it is a login."""


@dataclass(frozen=True)
class Verdict:
    """What is wrong in one sentence, or that nothing is, and how bad it is."""

    sentence: str
    severity: Severity
    has_begun: bool = True

    @property
    def is_well(self) -> bool:
        """Whether a monitor may be quiet."""
        return self.has_begun and self.severity is not ERROR


def judge(view: Overview) -> Verdict:
    """Each kind with how many reports of customers it concerns: an error is an alarm, a warning is not.

    As long as meta.freshness has no state nothing was asked. All begins with the first publication.
    """
    conditions = view.conditions
    errors, warnings = (
        list(_counted(one for one in conditions if one.severity == severity)) for severity in (ERROR, WARNING)
    )
    if not view.states and not errors:
        begin = "Nothing has been asked yet; `brokerbi sync` begins."
        return Verdict(begin, WARNING, has_begun=False)
    if errors:
        also = f"; also {', '.join(warnings)}" if warnings else ""
        return Verdict(sentence(f"Look: {', '.join(errors)}{also}"), ERROR)
    if not view.is_published:
        go_on = "Nothing has been published yet; `brokerbi sync` goes on."
        return Verdict(go_on, WARNING, has_begun=False)
    fresh = sum(state == "fresh" for state in view.states)
    but = f" but for {', '.join(warnings)}" if warnings else ""
    worst = Severity.worst(one.severity for one in conditions)
    return Verdict(f"All is well{but}: {counted(fresh, 'report')} fresh, and nothing failed.", worst)


def _counted(conditions: Iterable[Condition]) -> Iterator[str]:
    several = list(conditions)
    for one in several:
        if not one.kind.traits.is_counted:
            yield shortened(one.error.rstrip("."), LONGEST_REASON)
    if rows := sum(one.row_count for one in several if one.kind == Kind.QUARANTINE):
        yield f"{counted(rows, 'row')} in quarantine"
    others = (one for one in several if one.kind.traits.is_counted and one.kind != Kind.QUARANTINE)
    concerned = {
        (_counted_as(one), one.report, one.customer, "" if one.customer else one.cause) for one in others
    }
    counts: dict[str, Counter[str]] = {}
    for words, report, customer, _ in concerned:
        unit = "report" if report else "customer" if customer else ""
        counts.setdefault(words, Counter())[unit] += 1
    for words, units in sorted(counts.items(), key=lambda found: (-found[1].total(), found[0])):
        numbers = [counted(number, unit) if unit else count(number) for unit, number in sorted(units.items())]
        yield f"{words} ({', '.join(numbers)})"


def _counted_as(one: Condition) -> str:
    """What the reports of customers are counted as; their months are one."""
    if one.kind != Kind.FAILED or not one.trouble:
        return one.kind
    return TROUBLES.get(one.trouble, "failed as a login was refused")


def observed(
    view: Overview,
    settings: Settings,
    now: datetime,
    *,
    planned: Sequence[PlannedReport] = (),
    refusal: SettingsError | None = None,
) -> Overview:
    """The overview as these settings have it, with the conditions that only this process knows.

    `planned` is what a sync would ask for now, where that is known, and `refusal` why a sync would not accept
    these settings. Of customers that left the settings only they are shown of whom something was read: a
    mistyped id, corrected, is gone.
    """
    conditions = view.conditions
    if any(one.cause == LOGIN_REFUSED for one in conditions):  # needs the client, which starts slowly
        from pipelines.sync.logins import with_corrected_logins

        conditions = with_corrected_logins(conditions, settings)
    standings, of_settings = view.standings, list[Condition]()
    if "customers" in settings.model_fields_set:
        active = {one.id for one in settings.active_customers}
        shown = {one.id for one in settings.customers}
        shown |= {one.customer for one in standings if one.last_success_utc or one.held_months}
        conditions = [one for one in conditions if not one.customer or one.customer in active]
        of_settings = list(_of_customers(view, settings))
        standings = [
            one if one.customer in active else replace(one, state="switched off")
            for one in standings
            if one.customer in shown
        ]
    if refusal:
        more = f" (and {len(refusal.problems) - 1} more)" if len(refusal.problems) > 1 else ""
        of_settings.append(
            Condition(Kind.SETTINGS, error=f"the settings do not load: {refusal.problems[0]}{more}")
        )
    missing = _months_missing(planned, conditions, now) if standings else []
    of_process = [
        *of_settings,
        *missing,
        *_of_published_file(view, settings.data_dir),
        *of_directory(settings.data_dir, now),
    ]
    return replace(view, standings=standings, conditions=[*of_process, *conditions])


def _of_published_file(view: Overview, data_dir: Path) -> Iterator[Condition]:
    """The published file, if it is not as the latest publication left it."""
    from warehouse.ledger.status import CHANGED, GONE
    from warehouse.store.versions import Versions

    words = {GONE: "is gone", CHANGED: "is not as it was published"}
    if found := words.get(view.published_file):
        yield Condition(
            Kind.UNPUBLISHED,
            cause=view.published_file,
            error=f"The published file {Versions(data_dir).published} {found}.",
            remedy="Run `brokerbi publish`.",
        )


def of_directory(data_dir: Path, now: datetime) -> Iterator[Condition]:
    """What is wrong with a data directory itself: its disk, open erasures, a silent daemon."""
    yield from _of_disk(data_dir)
    yield from open_erasures(data_dir)
    yield from silent_daemon(data_dir, now)
    yield from _left_syncs(data_dir)


def _left_syncs(data_dir: Path) -> Iterator[Condition]:
    """The latest `brokerbi sync` that did not come to its end, and why."""
    from pipelines.sync.under_way import sync_notes

    for one in [note for note in sync_notes(data_dir) if note.was_left][-1:]:
        ended = f"gave up: {one.error}" if one.error else "was stopped before it ended."
        yield Condition(
            Kind.SYNC_LEFT,
            since_utc=one.begun_utc.replace(tzinfo=None),
            error=f"The sync begun {one.begun_utc:%Y-%m-%d %H:%M} UTC {ended}",
            remedy="What it loaded is held; the next `brokerbi sync` goes on from there.",
        )


def free_bytes(data_dir: Path) -> int:
    """How much room there is for a data directory, which may not be there yet."""
    from warehouse.ledger.status import existing

    return disk_usage(existing(data_dir)).free


def _of_disk(data_dir: Path) -> Iterator[Condition]:
    from warehouse.errors import MAKES_ROOM
    from warehouse.ledger.status import unwritable

    for path in unwritable(data_dir)[:1]:
        is_read_only = os.statvfs(path).f_flag & os.ST_RDONLY
        yield Condition(
            Kind.NOT_WRITABLE,
            error=f"{path} cannot be written{', as its file system is read-only' if is_read_only else ''}.",
            remedy="Mount it for writing." if is_read_only else "Give this user the right to.",
        )
    if (free := free_bytes(data_dir)) < ENOUGH_FREE_BYTES:
        yield Condition(
            Kind.DISK_NEARLY_FULL,
            ERROR if free < TOO_FEW_FREE_BYTES else WARNING,
            error=f"{size(free)} are free.",
            remedy=f"Free some space; {MAKES_ROOM}.",
        )


def _of_customers(view: Overview, settings: Settings) -> Iterator[Condition]:
    """Customers of the settings that were never asked for, and those that are held and no longer there."""
    known = {one.customer for one in view.standings if one.last_success_utc or one.state != "switched off"}
    for one in settings.active_customers if view.standings else ():
        if one.id not in known:
            yield Condition(
                Kind.NEVER_READ,
                customer=one.id,
                cause=Kind.NEVER_READ,
                error="It was never read so far.",
                remedy="Launch a backfill, or wait for the next night.",
            )
    held = ((one.report, one.customer) for one in view.standings if one.last_success_utc)
    for name, words in left_customers(settings, held).items() if settings.customers else ():
        yield Condition(
            Kind.NOT_IN_SETTINGS,
            customer=name,
            error=words,
            remedy=correct_customers(settings),
        )


def _months_missing(
    planned: Sequence[PlannedReport], conditions: Sequence[Condition], now: datetime
) -> Iterator[Condition]:
    """That months which are over were not read yet, as of a customer whose first backfill was cancelled.

    It counts what the tables of `status` and `plan` call missing, the current and coming months among it.
    """
    refused = {
        (one.report, one.customer) for one in conditions if one.kind in (Kind.NO_RIGHT, Kind.RIGHT_LOST)
    }
    refused |= {("", one.customer) for one in conditions if one.kind == Kind.SHUT_OUT}
    is_behind = any(
        month < Month.of(now.date())
        for one in planned
        if one.customer.active and refused.isdisjoint({one.pair, ("", one.customer.id)})
        for month in {*one.wanted.missing} - {*one.wanted.waited}
    )
    if is_behind:
        found = f"{counted(sum(len(one.wanted.missing) for one in planned), 'month')} of reports missing"
        yield Condition(Kind.MONTHS_MISSING, error=found, remedy="Wait for the next nights, or sync.")


def note_daemon(data_dir: Path) -> None:
    """Let the data directory say that Dagster's daemon lives; before there is one, nothing is said."""
    from warehouse.store.files import PRIVATE_FILE

    with suppress(OSError):
        (data_dir / DAEMON_SEEN).touch(mode=PRIVATE_FILE)


def daemon_seen(data_dir: Path) -> datetime | None:
    """When Dagster's daemon last gave a sign of life in this data directory; None where it never did."""
    try:
        return datetime.fromtimestamp((data_dir / DAEMON_SEEN).stat().st_mtime, UTC)
    except OSError:
        return None


def silent_daemon(data_dir: Path, now: datetime) -> Iterator[Condition]:
    """Dagster's daemon if it is silent; nothing while it lives and where nobody uses Dagster."""
    seen = daemon_seen(data_dir)
    if seen and now - seen > DAEMON_LATE_AFTER:
        yield Condition(
            Kind.DAEMON,
            ERROR if now - seen > DAEMON_SILENT_AFTER else WARNING,
            since_utc=seen.replace(tzinfo=None),
            error=f"Dagster's daemon was last seen {seen:%Y-%m-%d %H:%M:%S} UTC.",
            remedy=f"{START_DAEMON}; where Dagster is not used any more, remove {data_dir / DAEMON_SEEN}.",
        )


def open_erasures(data_dir: Path) -> list[Condition]:
    """The erasures that were cut short, or that left something, the oldest first; nobody is named."""
    from warehouse.persons.erasure_record import erasure_records

    return [_open_erasure(one) for one in erasure_records(data_dir)]


def _open_erasure(one: ErasureRecord) -> Condition:
    begun = one.begun_at_utc[:16].replace("T", " ")
    subject = f"The erasure of a {one.kind}, begun {begun} UTC,"
    again = f"`brokerbi erase --{one.kind}` with the same id again"
    if not one.is_finished:
        return Condition(Kind.ERASURE, error=f"{subject} is not finished.", remedy=f"Run {again}.")
    return Condition(
        Kind.ERASURE,
        WARNING,
        error=f"{subject} left something: {'; '.join(one.remarks)}",
        remedy=f"Mend that and run {again}, or remove {one.path}.",
    )
