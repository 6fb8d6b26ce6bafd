"""Findings about this installation: settings, disk, lock, files and Dagster; the service is not asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from pipelines.catalogue.reports import REPORTS
from pipelines.causes import causes
from pipelines.diagnosis.health import (
    ENOUGH_FREE_BYTES,
    START_DAEMON,
    daemon_seen,
    free_bytes,
    judge,
    observed,
    of_directory,
)
from pipelines.planning.plan import planned_now
from pipelines.shapes.shapes_file import ShapesError, with_shapes
from pipelines.words import counted, size
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Kind, Severity
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.status import overview, storage_version
from warehouse.store.database import Store
from warehouse.store.duckdb_file import STORAGE_VERSION
from warehouse.store.lock import work_of
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.messages import SettingsError
    from pipelines.settings.model import Settings

PRIVATE_FOLDERS = ("landing", "work")
LOCK_SECONDS = 5.0
CHOSEN_BY_OPERATORS = frozenset(
    ("storage", "run_storage", "event_log_storage", "schedule_storage", "run_launcher", "compute_logs")
)
"""Sections of dagster.yaml that depend on where it runs."""
SEE_SENTENCE = "see the sentence itself"


@dataclass(frozen=True)
class Finding:
    """One thing that was examined: what was found, and what to do about it."""

    subject: str
    severity: Severity
    found: str
    remedy: str = ""


def local_findings(
    settings: Settings, environment: Mapping[str, str], shipped: Path | None
) -> Iterator[Finding]:
    """Everything that can be examined on this machine; `shipped` is the dagster.yaml to compare with."""
    yield from settings_findings(settings)
    if (free := free_bytes(settings.data_dir)) >= ENOUGH_FREE_BYTES:  # too little is a condition
        yield Finding("disk", Severity.WELL, f"{size(free)} are free in {settings.data_dir}")
    yield _work_finding(settings.data_dir)
    yield from file_findings(settings.data_dir)
    yield _dagster_finding(environment, shipped)
    yield from daemon_findings(settings.data_dir, environment)


def settings_findings(settings: Settings) -> Iterator[Finding]:
    """Oddities of the settings, the customers, and whether a failed nightly run is reported to anybody."""
    for warning in settings.warnings:
        yield Finding("settings", Severity.WARNING, warning, "remove it, or correct its name")
    if settings.today is not None:
        found = f"BROKERBI_TODAY is {settings.today}: this is a rehearsal"
        yield Finding("settings", Severity.WARNING, found, "remove BROKERBI_TODAY for real nightly runs")
    active, all_ = len(settings.active_customers), len(settings.customers)
    off = f", {all_ - active} are switched off" if active < all_ else ""
    read = f"{counted(active, 'customer')} read from {settings.start} on"
    found = f"{read}{off}; days are those of {settings.timezone}"
    yield Finding("settings", Severity.WELL, found)
    try:
        with_shapes(REPORTS, settings.shapes_file)
    except ShapesError as error:
        remedy = "correct that line; `brokerbi shapes` shows what arrives"
        yield Finding("shapes", Severity.ERROR, str(error), remedy)
    else:
        if settings.shapes_file.exists():
            yield Finding("shapes", Severity.WELL, f"{settings.shapes_file} is used")
    if settings.alert_channels:
        found = f"messages go by {' and '.join(settings.alert_channels)}"
        yield Finding("alerts", Severity.WELL, found)
    else:
        remedy = "set BROKERBI_ALERT_WEBHOOK, or BROKERBI_ALERT_EMAIL_TO with a mail server"
        yield Finding("alerts", Severity.WARNING, "no message is sent if a nightly run fails", remedy)


def _work_finding(data_dir: Path) -> Finding:
    work = work_of(data_dir)
    if work is None or not work.is_running or work.pid == os.getpid():
        return Finding("work", Severity.WELL, "no other command works")
    return Finding(
        "work",
        Severity.WARNING,
        f"{work.sentence}; so this command sent no request",
        "run `brokerbi doctor` again when that has ended",
    )


def file_findings(data_dir: Path) -> Iterator[Finding]:
    """Both database files, and who may look at personal data."""
    store, versions = Store(data_dir, lock_seconds=LOCK_SECONDS), Versions(data_dir)
    for subject, path, reading in (
        ("working file", store.path, store.reading),
        ("published file", versions.published, versions.reading),
    ):
        if not path.exists():
            continue
        try:
            with reading() as connection:
                version = storage_version(connection)
            if path == store.path:
                ledger_of(store)  # reads more of the file
        except WarehouseError as error:
            yield Finding(subject, Severity.ERROR, str(error), SEE_SENTENCE)
            continue
        if version == STORAGE_VERSION:
            found = f"its storage version is {version}, which every client can open"
            yield Finding(subject, Severity.WELL, found)
        else:
            found = f"its storage version is {version}: older clients cannot open it"
            remedy = "put the working file and its .wal aside, then `brokerbi replay` and `brokerbi publish`"
            yield Finding(subject, Severity.WARNING, found, remedy)
    for name in PRIVATE_FOLDERS:
        folder = data_dir / name
        if folder.exists() and folder.stat().st_mode & 0o077:
            found = f"{folder} holds personal data, and other users can read it"
            yield Finding("privacy", Severity.WARNING, found, f"chmod 700 {folder}")


def state_findings(
    settings: Settings, clock: Clock, refusal: SettingsError | None = None
) -> Iterator[Finding]:
    """The conditions that `brokerbi status` shows, a finding for each cause.

    If the working file cannot be read, only conditions of the directory are known. `refusal` is why a sync
    would not accept these settings.
    """
    now, store = clock.utc_now(), Store(settings.data_dir, lock_seconds=LOCK_SECONDS)
    try:
        planned = planned_now(settings, store, clock)
        view = observed(
            overview(store, unless_checked_since=now), settings, now, planned=planned, refusal=refusal
        )
    except WarehouseError:  # which is a finding already
        conditions = list(of_directory(settings.data_dir, now))
    else:
        conditions = list(view.conditions)
        verdict = judge(view)
        if verdict.is_well or not verdict.has_begun:
            yield Finding("state", Severity.WELL if verdict.is_well else verdict.severity, verdict.sentence)
    for cause in causes(conditions):
        first, whom = cause.first, f" ({cause.whom})" if cause.whom else ""
        yield Finding(first.kind, Severity(first.severity), f"{first.error}{whom}", first.remedy)


def _dagster_finding(environment: Mapping[str, str], shipped: Path | None) -> Finding:
    """Whether Dagster's own settings are the shipped ones; a running Dagster is not asked.

    Several shards share one Dagster, whose settings differ from the shipped ones.
    """
    home = environment.get("DAGSTER_HOME", "")
    if not home:
        found = "DAGSTER_HOME is not set: fine for `brokerbi sync`, but Dagster would forget its runs"
        remedy = "set DAGSTER_HOME to a directory of its own for webserver and daemon"
        return Finding("dagster", Severity.WARNING, found, remedy)
    if not Path(home).is_absolute() or not Path(home).is_dir():
        found = f"DAGSTER_HOME is {home}, which is not an absolute path of a directory"
        return Finding("dagster", Severity.ERROR, found, "make the directory, and write its whole path")
    file = Path(home) / "dagster.yaml"
    put_it_there = f"cp {shipped or 'dagster.yaml'} {home}/"
    if not file.is_file():
        found = f"there is no dagster.yaml in {home}: no retries, no limits, no watch over runs that die"
        return Finding("dagster", Severity.ERROR, found, put_it_there)
    try:
        current = yaml.safe_load(file.read_text("utf-8")) or {}
    except yaml.YAMLError as error:
        return Finding("dagster", Severity.ERROR, f"{file} is not YAML: {error}", put_it_there)
    expected = yaml.safe_load(shipped.read_text("utf-8")) if shipped and shipped.is_file() else {}
    different = [
        section
        for section, values in expected.items()
        if section not in CHOSEN_BY_OPERATORS and current.get(section) != values
    ]
    if different:
        found = f"{file} differs from the shipped one in {', '.join(different)}"
        remedy = f"copy them from {shipped}, unless you changed them on purpose, and restart"
        return Finding("dagster", Severity.WARNING, found, remedy)
    return Finding("dagster", Severity.WELL, f"{file} is as shipped")


def daemon_findings(data_dir: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether Dagster's daemon was ever started, if Dagster is used; its silence is a condition."""
    if daemon_seen(data_dir) is None and environment.get("DAGSTER_HOME"):
        found = "it was never started for this data directory: no nightly run, no backfill and no message"
        yield Finding(Kind.DAEMON, Severity.ERROR, found, START_DAEMON)
