"""Health of a data directory: the conditions that no table shows (disk, settings, locks), and the verdict."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.shapes.shapes_file import ShapesError, with_shapes
from pipelines.words import count, counted, size
from warehouse.ledger.conditions import ERROR, WARNING, Condition, Kind, Severity
from warehouse.ledger.status import CHANGED, DAMAGED, GONE, Overview, nearest_existing, unwritable_paths
from warehouse.marts.queries import SQL
from warehouse.persons.erased_list import read_erased
from warehouse.store.database import LOST
from warehouse.store.files import PRIVATE_FILE
from warehouse.store.lock import WAITING, WORK, holder_of, unfinished_work
from warehouse.store.meta_schema import aware, naive_utc
from warehouse.store.versions import FAILED, ROLLED_BACK, Versions

if TYPE_CHECKING:
    from pipelines.planning.plan import PlannedReport
    from pipelines.settings.messages import SettingsError
    from pipelines.settings.model import Settings

ENOUGH_FREE_BYTES, TOO_FEW_FREE_BYTES = 1_000_000_000, 100_000_000
REPORT_PAGE = "report.html"
DAEMON_SEEN = Path("work", "daemon_seen")
"""A file in the data directory. Dagster's sensor `publishing` touches it whenever it ticks."""
DAEMON_LATE_AFTER, DAEMON_SILENT_AFTER = timedelta(minutes=1), timedelta(minutes=5)
"""How long Dagster's daemon may be silent without a warning, and without an error."""
MONTH_CONDITIONS = (Kind.FAILED, Kind.HELD_BACK)
DISK_CONDITIONS = (Kind.NOT_WRITABLE, Kind.DISK_NEARLY_FULL)
NOT_READ = "No report has been read since the customer was added or switched on."
UNREAD = {Kind.NO_ACCESS, Kind.ACCESS_LOST, Kind.ACCESS_DENIED, Kind.NEVER_READ, Kind.MONTHS_MISSING}
SAYS_PUBLISH = {Kind.SYNC_LEFT, Kind.ROLLED_BACK, Kind.UNPUBLISHED}
GAVE_UP = "gave up"
LONG_WAIT = timedelta(hours=1)
FAILED_WRITES = {(Kind.SYNC_LEFT, GAVE_UP), (Kind.UNPUBLISHED, FAILED), (Kind.UNPUBLISHED, REPORT_PAGE)}
"""Kinds and causes of conditions that may follow from a disk that cannot be written or a lost file."""
START_DAEMON = (
    "Start what is down, as docs/operators.md shows, first the code server; if both run, check that the "
    "sensor `publishing` is on"
)


@dataclass(frozen=True)
class Verdict:
    """The state of a data directory: a sentence, its severity, and whether there is data to judge."""

    sentence: str
    severity: Severity
    has_data: bool = True

    @property
    def is_well(self) -> bool:
        """Whether `status --check` succeeds: no condition is an error, and something was published."""
        return self.has_data and self.severity is not ERROR


def judge(view: Overview) -> Verdict:
    """The verdict on a data directory; its sentence names the kinds of errors and warnings."""
    if view.is_lost:
        return Verdict(LOST, ERROR, has_data=False)
    errors, warnings = (
        list(_counts_by_kind([condition for condition in view.conditions if condition.severity == severity]))
        for severity in (ERROR, WARNING)
    )
    if errors:
        also = f"; also {', '.join(warnings)}" if warnings else ""
        return Verdict(f"Action needed: {', '.join(errors)}{also}.", ERROR)
    if not view.standings or not view.is_published:
        what = "published" if view.standings else "requested"
        sentence = f"Nothing has been {what} yet; run `brokerbi sync`."
        if view.standings and view.published_file:
            sentence = "The rebuilt working file has not been published yet; run `brokerbi publish`."
        return Verdict(sentence, WARNING, has_data=False)
    fresh = [row for row in view.standings if row.state == "fresh"]
    customers = {row.customer for row in fresh}
    requested = [row for row in view.standings if row.customer in customers and row.state != "switched off"]
    not_fresh = {row.report for row in requested if row.state != "fresh"}
    reports = counted(len({row.report for row in fresh} - not_fresh), "report")
    if len(customers) > 1:
        reports += f" of {len(customers)} customers"
    acknowledged = sum(condition.severity == Severity.ACKNOWLEDGED for condition in view.conditions)
    noted = f", {counted(acknowledged, 'issue')} acknowledged" if acknowledged else ""
    exceptions = f" except for {', '.join(warnings)}" if warnings else ""
    worst = WARNING if warnings else Severity.WELL
    return Verdict(f"All is well{exceptions}: {reports} fresh{noted}.", worst)


def _counts_by_kind(conditions: Sequence[Condition]) -> Iterator[str]:
    """Each kind with numbers, like "failed (2 reports of 3 customers)" or "quarantine (12 rows)"."""
    by_kind: defaultdict[str, list[Condition]] = defaultdict(list)
    for condition in conditions:
        by_kind[condition.kind].append(condition)
    for kind, group in sorted(by_kind.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        reports = {condition.report for condition in group if condition.report}
        customers = {condition.customer for condition in group if condition.customer}
        named = len(customers) if len(customers) > 1 or not reports else 0
        counts = {"report": len(reports), "customer": named}
        counts = {"row": sum(row.row_count for row in group)} if kind == Kind.QUARANTINE else counts
        words = " of ".join(counted(number, unit) for unit, number in counts.items() if number)
        yield f"{kind} ({words or count(len({row.cause_key or row.error for row in group}))})"


def observe(
    view: Overview,
    settings: Settings,
    now: datetime,
    *,
    planned: Sequence[PlannedReport] = (),
    settings_error: SettingsError | None = None,
) -> Overview:
    """The overview, adjusted to the settings, with the conditions that no table shows.

    `planned` has the reports that a sync would plan now. `settings_error` is the error with which a sync
    would reject the settings. The result also differs from `view` in these ways:
    - A fresh report with a failed or held-back month becomes "failed" or "held back". A report that was
      switched off and is on again becomes "due".
    - Failures of months that no sync requests any more are dropped.
    - Conditions that the settings acknowledge get the severity `acknowledged`.
    - If the settings name customers, each customer that they leave out and for which nothing was loaded is
      dropped: its id was probably a typing error in earlier settings. Reports of the remaining customers that
      are not active, or that are not planned, become "switched off"; their conditions are dropped, except
      for the quarantine of a report.
    - Months missing are no condition while work is left, because to repeat that work requests them.
    - Loads that are not published yet are no condition if the verdict or another condition says to publish,
      or if Dagster or the command that is running will.
    - If nothing can be written, or the working file is lost, conditions that follow from this are dropped.
    """
    requested = {plan.pair: plan.months.requested for plan in planned if not plan.skipped}
    conditions, added = list[Condition](), list[Condition]()
    for row in view.conditions:
        months = requested.get((row.report, row.customer))
        if row.kind is not Kind.FAILED or not row.month or months is None or Month.of(row.month) in months:
            conditions.append(row)
    failed = [row for row in conditions if row.kind in MONTH_CONDITIONS]
    states: dict[tuple[str, ...], str] = {("fresh", row.report, row.customer): row.kind for row in failed}
    states |= {("switched off", *plan.pair): "due" for plan in planned if not plan.skipped}
    standings = [
        replace(row, state=states.get((row.state, row.report, row.customer), row.state))
        for row in view.standings
    ]
    if "customers" in settings.model_fields_set:
        active = {customer.id for customer in settings.active_customers}
        shown = {customer.id for customer in settings.customers}
        shown |= {row.customer for row in standings if row.last_success_utc or row.held_months}
        known = {(row.report, row.customer) for row in standings if planned and row.state != "switched off"}
        off = known - {plan.pair for plan in planned}
        conditions = [
            row
            for row in conditions
            if (not row.customer or row.customer in active)
            and ((row.report, row.customer) not in off or row.kind == Kind.QUARANTINE)
            and row.kind != Kind.NOT_REFRESHED  # its customer is in the settings again
        ]
        added += _customer_conditions(view, settings)
        standings = [
            replace(row, state="switched off")
            if row.customer not in active or (row.report, row.customer) in off
            else row
            for row in standings
            if row.customer in shown
        ]
    problems = settings_error.problems if settings_error else ()
    added += [Condition(Kind.SETTINGS, error=f"the settings do not load: {problem}") for problem in problems]
    added += _unknown_acknowledgements(settings)
    try:
        with_shapes(REPORTS, settings.shapes_file)
    except ShapesError as problem:
        remedy = "Correct that line; until then nothing is requested. `brokerbi shapes` shows what arrives."
        added.append(Condition(Kind.SETTINGS, error=str(problem), remedy=remedy))
    if standings:
        added += _months_missing(planned, (*added, *conditions), now)
    added += _published_file_conditions(view, settings.data_dir)
    added += directory_conditions(settings.data_dir, now)
    if any(row.kind == Kind.SYNC_LEFT for row in added):  # its remedy also requests the months missing
        added = [row for row in added if row.kind != Kind.MONTHS_MISSING]
    told, data_dir = [row for row in (*added, *conditions) if row.kind in SAYS_PUBLISH], settings.data_dir
    if len(told) > 1 or not view.is_published or daemon_seen(data_dir) or holder_of(data_dir / WORK):
        conditions = [row for row in conditions if (row.kind, row.severity) != (Kind.UNPUBLISHED, WARNING)]
    today = settings.today or now.date()
    conditions = [_acknowledged(condition, settings, today) for condition in (*added, *conditions)]
    if view.is_lost or any(row.kind in DISK_CONDITIONS and row.is_error for row in conditions):
        conditions = [row for row in conditions if (row.kind, row.cause) not in FAILED_WRITES]
    return replace(view, standings=standings, conditions=conditions)


def _unknown_acknowledgements(settings: Settings) -> Iterator[Condition]:
    checks = [path.stem for path in (SQL / "checks").glob("*.sql")]
    customers = [customer.id for customer in settings.customers]
    known = {"kind": [*Kind], "report": [*REPORTS], "customer": customers, "check_name": checks}
    for entry in settings.acknowledge:
        for key, names in known.items():
            if (name := getattr(entry, key)) not in ("", *names):
                error = f"[[acknowledge]] names the {key} {name!r}, not one of {', '.join(sorted(names))}"
                yield Condition(Kind.SETTINGS, error=error)


def _acknowledged(condition: Condition, settings: Settings, today: date) -> Condition:
    for entry in settings.acknowledge:
        if today <= entry.until and all(
            getattr(entry, name) in ("", getattr(condition, name))
            for name in ("kind", "report", "customer", "check_name")
        ):
            return replace(
                condition,
                severity=Severity.ACKNOWLEDGED,
                remedy=f"Acknowledged until {entry.until}: {entry.reason}",
                cause_key=f"{entry.reason} | {condition.cause_key}",
            )
    return condition


def _published_file_conditions(view: Overview, data_dir: Path) -> Iterator[Condition]:
    words = {GONE: "is gone", CHANGED: "is not what was published", DAMAGED: "is damaged"}
    page, published = data_dir / REPORT_PAGE, Versions(data_dir).published
    if problem := words.get(view.published_file):
        error, remedy = f"The published file {published} {problem}.", "Run `brokerbi publish`."
        yield Condition(Kind.UNPUBLISHED, cause=view.published_file, error=error, remedy=remedy)
    elif page.exists() and published.exists() and not holder_of(data_dir / WORK):
        drawn, *made = (datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in (page, published))
        latest = [row for row in view.publications if row.name][:1]
        made += [aware(row.at_utc) for row in latest]
        if drawn < min(made):  # a copied file has a later time, and a publication on a rehearsed day any time
            error = f"The pages are of {drawn:%Y-%m-%d %H:%M} UTC; the published file was put there later."
            back = [f"rollback --to {row.name}" for row in latest if row.status == ROLLED_BACK]
            again = next(iter(back), "publish")
            remedy = f"Correct what `brokerbi doctor` finds, then run `brokerbi {again}`."
            yield Condition(Kind.UNPUBLISHED, WARNING, cause=REPORT_PAGE, error=error, remedy=remedy)


def directory_conditions(data_dir: Path, now: datetime) -> Iterator[Condition]:
    """The conditions that need no working file: disk, unfinished erasures, daemon and stuck commands."""
    yield from _disk_conditions(data_dir)
    if all(os.access(path, os.X_OK) for path in (data_dir, *data_dir.glob("work"))):
        yield from open_erasures(data_dir)
        yield from silent_daemon(data_dir, now)
        yield from _unfinished_work(data_dir, now)


def _unfinished_work(data_dir: Path, now: datetime) -> Iterator[Condition]:
    for left in unfinished_work(data_dir / WORK):
        ended = f"{GAVE_UP}: {left.error}" if left.error else "was stopped before it ended."
        error = f"{left.what}, begun {left.begun_utc:%Y-%m-%d %H:%M} UTC, {ended}"
        cause, since = GAVE_UP if left.error else "", naive_utc(left.begun_utc)
        first = "First do what the error says, if anything. " if left.error else ""
        remedy = f"Its loads are kept. {first}{left.remedy}"
        yield Condition(Kind.SYNC_LEFT, cause=cause, since_utc=since, error=error, remedy=remedy)
    work, waiting = holder_of(data_dir / WORK), holder_of(data_dir / WAITING)
    if work and waiting and now - waiting.begun_utc > LONG_WAIT:
        error = f"{waiting.what} has waited since {waiting.begun_utc:%H:%M} UTC for {work.sentence}."
        remedy, since = f"Let that command end, or `kill {work.pid}`.", naive_utc(work.begun_utc)
        yield Condition(Kind.SYNC_LEFT, cause="waiting", since_utc=since, error=error, remedy=remedy)


def _disk_conditions(data_dir: Path) -> Iterator[Condition]:
    for path in unwritable_paths(data_dir)[:1]:
        remedy = "Run brokerbi as its owner, or give it access."
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            remedy = "Its file system is read-only: mount it for writing."
        yield Condition(Kind.NOT_WRITABLE, error=f"{path} is not writable.", remedy=remedy)
    if (free := disk_usage(nearest_existing(data_dir)).free) < ENOUGH_FREE_BYTES:
        yield Condition(
            Kind.DISK_NEARLY_FULL,
            ERROR if free < TOO_FEW_FREE_BYTES else WARNING,
            cause_key=Kind.DISK_NEARLY_FULL,  # the same issue, however much is free
            error=f"Only {size(free)} of the disk is free.",
            remedy="Lower BROKERBI_KEEP_PUBLISHED, set BROKERBI_LANDING_DAYS, and delete the oldest files in "
            "published/. Then run `brokerbi sync`.",
        )


def _customer_conditions(view: Overview, settings: Settings) -> Iterator[Condition]:
    loaded = {row.customer for row in view.standings if row.last_success_utc}
    for customer in settings.active_customers if view.standings else ():
        if customer.id not in loaded | {row.customer for row in view.conditions}:
            remedy = "Run `brokerbi sync --customer ID`, or wait for the next nightly run."
            yield Condition(
                Kind.MONTHS_MISSING, customer=customer.id, error=NOT_READ, remedy=remedy, cause_key=NOT_READ
            )
    removed = loaded - {customer.id for customer in settings.customers} if settings.customers else ()
    for name in sorted(removed):
        yield Condition(
            Kind.NOT_IN_SETTINGS,
            customer=name,
            cause_key=Kind.NOT_IN_SETTINGS,
            error="The customer has loaded rows and is no longer in BROKERBI_CUSTOMERS; its rows stay.",
            remedy="Correct BROKERBI_CUSTOMERS, or keep the customer there with active = false.",
        )


def _months_missing(
    planned: Sequence[PlannedReport], conditions: Sequence[Condition], now: datetime
) -> Iterator[Condition]:
    # these have conditions of their own
    excluded = {(row.report, row.customer) for row in conditions if row.kind in UNREAD}
    told = {(row.report, row.customer, row.month) for row in conditions if row.kind in MONTH_CONDITIONS}
    missing = [
        month
        for plan in planned
        if plan.customer.active and excluded.isdisjoint({plan.pair, ("", plan.customer.id)})
        for month in plan.months.missing
        if (*plan.pair, month.first_day) not in told
    ]
    if any(month < Month.of(now.date()) for month in missing):
        months = counted(len(missing), "report month")
        remedy = "Wait for the next nightly runs, or run `brokerbi sync`."
        yield Condition(Kind.MONTHS_MISSING, error=f"{months} missing", remedy=remedy)


def record_daemon(data_dir: Path) -> None:
    """Record that Dagster's daemon is alive; does nothing if the folder `work` is missing."""
    with suppress(OSError):
        (data_dir / DAEMON_SEEN).touch(mode=PRIVATE_FILE)


def daemon_seen(data_dir: Path) -> datetime | None:
    """When Dagster's daemon last recorded that it was alive; None if it never did."""
    try:
        return datetime.fromtimestamp((data_dir / DAEMON_SEEN).stat().st_mtime, UTC)
    except OSError:
        return None


def silent_daemon(data_dir: Path, now: datetime) -> Iterator[Condition]:
    """A condition if Dagster's daemon is silent; none if it is alive or was never started."""
    seen = daemon_seen(data_dir)
    if seen and now - seen > DAEMON_LATE_AFTER:
        yield Condition(
            Kind.DAEMON,
            ERROR if now - seen > DAEMON_SILENT_AFTER else WARNING,
            since_utc=seen.replace(tzinfo=None),
            error=f"Dagster's daemon was last seen {seen:%Y-%m-%d %H:%M} UTC; it or the code server is down.",
            remedy=f"{START_DAEMON}; if Dagster is no longer used, remove {data_dir / DAEMON_SEEN}.",
        )


def open_erasures(data_dir: Path) -> list[Condition]:
    """A condition for each unfinished erasure; it does not name the person."""
    return [
        Condition(
            Kind.ERASURE,
            error=f"The erasure of a {person.kind}, begun {person.begun_at_utc[:16].replace('T', ' ')} UTC, "
            "is not finished.",
            remedy=f"Run `brokerbi erase --{person.kind}` with the same id again.",
        )
        for person in read_erased(data_dir).persons
        if not person.is_finished
    ]
