"""Health of a data directory: the verdict of `brokerbi status`, of its `--check` and of `brokerbi doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.operations.causes import LOGIN_REFUSED, names, shortened
from warehouse.persons.erasure_record import ErasureRecord, erasure_records
from warehouse.store.files import PRIVATE_FILE
from warehouse.store.meta_schema import aware

if TYPE_CHECKING:
    from pipelines.planning.plan import PlannedReport
    from pipelines.settings.model import Settings
    from warehouse.ledger.status import Overview

TIME_TO_PUBLISH = timedelta(hours=3)
"""A night and its publication take less; while fetching goes on there is a new file every hour."""
DAEMON_SEEN = Path("work", "daemon_seen")
"""Of a data directory: its age says when a sensor of Dagster, which ticks every five seconds, last did."""
DAEMON_LATE_AFTER, DAEMON_SILENT_AFTER = timedelta(minutes=1), timedelta(minutes=5)
"""From when on its silence is told, and is an alarm: each of the three sensors may take a minute."""
START_DAEMON = (
    "start it, as docs/operators.md says: dagster-daemon run -w deploy/workspace.yaml; if it runs, see that "
    "the code server does too and that the sensor `publishing` is on"
)
CLOCK_AHEAD = "clock ahead"
"""A kind of meta.problems."""
LONGEST_REASON = 400
"""Of why a file was not published: room for a long path, which is what has to be mended."""
AWAITED = {"late": "late", "never read": "never read", "login refused": "not asked as the login was refused"}
"""States of meta.freshness that are trouble in any case, and what the verdict calls them."""


@dataclass(frozen=True)
class Verdict:
    """What is wrong in one sentence, or that nothing is; `is_well` says whether a monitor may be quiet.

    Rows in quarantine and rights that never were are in the sentence, and no alarm.
    """

    sentence: str
    is_well: bool
    has_begun: bool = True


def judge(
    view: Overview,
    settings: Settings,
    now: datetime,
    besides: Sequence[str] = (),
    daemon: SilentDaemon | None = None,
    planned: Sequence[PlannedReport] = (),
) -> Verdict:
    """The verdict on what is held, of the customers of these settings.

    `besides` is what else is wrong, `planned` what a sync would ask for now, where that is known.
    """
    view = of_configured(view, settings)
    if daemon and daemon.is_dead:
        besides = [*besides, daemon.found]
    if not view.standings and not besides:
        return Verdict("Nothing has been asked yet; `brokerbi sync` begins.", is_well=False, has_begun=False)
    states = Counter(one.state for one in view.standings)
    is_taken_away = bool(view.rights_lost or view.shut_out)
    alarms = [*besides, *_alarms(view, settings, now)]
    notes = [daemon.found] if daemon and not daemon.is_dead else []
    notes += [*([f"{states['no access']} refused"] if states["no access"] else []), *_notes(view)]
    notes += _never_read(view, planned, now)
    problems = sum(one.number for one in view.problems)
    open_problems = f"{problems:,} open {'problem' if problems == 1 else 'problems'}".replace(",", " ")
    if alarms or notes:
        in_all = f"; {open_problems} in all" if problems else ""
        return Verdict(f"Look: {', '.join([*alarms, *notes])}{in_all}.", not alarms and not is_taken_away)
    well = f"All is well but for {open_problems} of which none is an error" if problems else "All is well"
    return Verdict(f"{well}: {states['fresh']} reports are fresh, and nothing failed.", is_well=True)


def note_daemon(data_dir: Path) -> None:
    """Let the data directory say that Dagster's daemon lives; before there is one, nothing is said."""
    with suppress(OSError):
        (data_dir / DAEMON_SEEN).touch(mode=PRIVATE_FILE)


def daemon_seen(data_dir: Path) -> datetime | None:
    """When Dagster's daemon last gave a sign of life in this data directory; None where it never did."""
    try:
        return datetime.fromtimestamp((data_dir / DAEMON_SEEN).stat().st_mtime, UTC)
    except OSError:
        return None


@dataclass(frozen=True)
class SilentDaemon:
    """What is said of Dagster's daemon without a sign of life; `is_dead` says that this is an alarm."""

    found: str
    remedy: str
    is_dead: bool


def silent_daemon(data_dir: Path, now: datetime) -> SilentDaemon | None:
    """Dagster's daemon if it is silent; None while it lives and where nobody uses Dagster."""
    seen = daemon_seen(data_dir)
    if seen is None or now - seen <= DAEMON_LATE_AFTER:
        return None
    return SilentDaemon(
        f"Dagster's daemon was last seen {seen:%Y-%m-%d %H:%M:%S} UTC",
        f"{START_DAEMON}; where Dagster is not used any more, remove {data_dir / DAEMON_SEEN}",
        now - seen > DAEMON_SILENT_AFTER,
    )


@dataclass(frozen=True)
class OpenErasure:
    """What is said of an erasure that was cut short, or that left something; nobody is named."""

    found: str
    remedy: str
    is_cut_short: bool


def open_erasures(data_dir: Path) -> list[OpenErasure]:
    """The erasures that somebody must look at, the oldest first."""
    return [_open_erasure(one) for one in erasure_records(data_dir)]


def _open_erasure(one: ErasureRecord) -> OpenErasure:
    begun = one.begun_at_utc[:16].replace("T", " ")
    subject = f"the erasure of a {one.kind}, begun {begun} UTC,"
    again = f"run `brokerbi erase --{one.kind}` with the same id again"
    if not one.is_finished:
        return OpenErasure(f"{subject} is not finished", again, True)
    found = f"{subject} left something: {'; '.join(one.remarks)}"
    return OpenErasure(found, f"mend that and {again}, or remove {one.path}", False)


def of_configured(view: Overview, settings: Settings) -> Overview:
    """Without the trouble of customers that were switched off or left the settings since the last sync.

    Of those that left, only they are shown of whom something was read: a mistyped id, corrected, is gone.
    """
    if "customers" not in settings.model_fields_set:
        return view
    active = {one.id for one in settings.active_customers}
    shown = {one.id for one in settings.customers}
    shown |= {one.customer for one in view.standings if one.last_success_utc or one.held_months}
    return replace(
        view,
        standings=[
            one if one.customer in active else replace(one, state="switched off")
            for one in view.standings
            if one.customer in shown
        ],
        failures=[one for one in view.failures if one.customer in active],
        refusals=[one for one in view.refusals if one.customer in active],
        conditions=[one for one in view.conditions if one.customer in active],
    )


def _alarms(view: Overview, settings: Settings, now: datetime) -> Iterator[str]:
    """What a monitor must hear of, in a few words each."""
    states = Counter(one.state for one in view.standings)
    yield from (f"{states[state]} {words}" for state, words in AWAITED.items() if states[state])
    not_asked = {(one.report, one.customer) for one in view.standings if one.state == "login refused"}
    failed = sum(
        one.cause != LOGIN_REFUSED or (one.report, one.customer) not in not_asked for one in view.failures
    )
    if failed:
        yield f"{failed} failed and not loaded since"
    for one in view.problems:
        if one.kind == CLOCK_AHEAD:
            yield f"{names(one.customers)} dated later than now: see that the clock is right, and sync"
    known = {one.customer for one in view.standings if one.last_success_utc or one.state != "switched off"}
    if unknown := [one.id for one in settings.active_customers if one.id not in known]:
        yield f"{names(unknown)} never fetched"
    yield from _unpublished(view, now)


def _unpublished(view: Overview, now: datetime) -> Iterator[str]:
    """What analysts do not see: the latest publication made no file, or none followed the last loads."""
    since = view.unpublished_since_utc
    if not view.publications:
        yield "nothing is published"
    elif view.publications[0].made_no_file:
        reason = "".join(view.publications[0].reasons[:1]).partition("; ")[0].rstrip(".")
        why = f" ({shortened(reason, LONGEST_REASON)})" if reason else ""
        yield f"the latest file was not published{why}"
    elif since and now - aware(since) > TIME_TO_PUBLISH:
        yield f"what was loaded since {since:%Y-%m-%d %H:%M} UTC is not published"


def _never_read(view: Overview, planned: Sequence[PlannedReport], now: datetime) -> Iterator[str]:
    """Months that are over and were not read yet, as of a customer whose first backfill was cancelled."""
    refused = {(one.report, one.customer) for one in view.standings if one.state == "no access"}
    missing = sum(
        month < Month.of(now.date())
        for one in planned
        if one.customer.active and one.pair not in refused
        for month in {*one.wanted.missing} - {*one.wanted.waited}
    )
    if missing:
        yield f"{missing:,} months of reports are not read yet".replace(",", " ")


def _notes(view: Overview) -> Iterator[str]:
    """What is for the next look, and no alarm by itself."""
    if rows := sum(one.rows for one in view.quarantined):
        yield f"{rows:,} rows in quarantine".replace(",", " ")
    refused = sum(one.number for one in view.problems if one.kind == "check" and one.severity == "error")
    if refused:
        yield f"{refused} checks of severity error failed"
