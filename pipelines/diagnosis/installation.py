"""Findings about this installation: settings, disk, lock, files and Dagster, without asking the service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

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
from pipelines.settings.alerts import CHANNELS, alert_channels
from pipelines.sync.causes import causes
from pipelines.words import count, size
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Condition, Kind, Severity
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.status import (
    is_readable_by_all,
    lock_state,
    overview,
    storage_version,
)
from warehouse.store.database import Store
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
    """One thing looked at: what was found, and what to do about it.

    `unusable` is the file that could not be used; it is so for all that look at it.
    """

    subject: str
    severity: Severity
    found: str
    remedy: str = ""
    unusable: Path | None = None


def settings_findings(settings: Settings) -> Iterator[Finding]:
    """What is odd about the settings, who is asked, and whether anybody hears of a failed night."""
    for warning in settings.warnings:
        yield Finding("settings", Severity.WARNING, warning, "take it out, or correct its name")
    if settings.today is not None:
        found = f"BROKERBI_TODAY says that it is {settings.today}: this is a rehearsal"
        yield Finding("settings", Severity.WARNING, found, "take BROKERBI_TODAY out for real nights")
    asked, all_ = len(settings.active_customers), len(settings.customers)
    off = f", {all_ - asked} are switched off" if asked < all_ else ""
    found = f"{asked} customers are asked since {settings.start}{off}; days are those of {settings.timezone}"
    yield Finding("settings", Severity.WELL, found)
    if channels := alert_channels(settings):
        named = " and ".join(one.name for one in channels)
        yield Finding("alerts", Severity.WELL, f"trouble is told by {named}")
    else:
        remedy = f"set {', or '.join(one.how for one in CHANNELS)}"
        yield Finding("alerts", Severity.WARNING, "nobody is told of a night that went wrong", remedy)


def disk_findings(data_dir: Path) -> Iterator[Finding]:
    """How much room there is for the data directory; too little of it, or of rights, is a condition."""
    if (free := free_bytes(data_dir)) >= ENOUGH_FREE_BYTES:
        yield Finding("disk", Severity.WELL, f"{size(free)} are free in {data_dir}")


def lock_finding(data_dir: Path) -> Finding:
    """Which process holds the write lock."""
    state = lock_state(data_dir)
    if not state.is_held:
        return Finding("write lock", Severity.WELL, "nobody holds it")
    who = f"process {state.pid}" if state.pid else "a process that cannot be told"
    remedy = "let it end; a process that hangs may be killed, and the lock dies with it"
    return Finding("write lock", Severity.WARNING, f"{who} is writing", remedy)


def working_file_findings(settings: Settings) -> Iterator[Finding]:
    """What is held, and which windows were learned."""
    store = Store(settings.data_dir, lock_seconds=LOCK_SECONDS)
    try:
        ledger = ledger_of(store)
    except WarehouseError as error:
        yield Finding("working file", Severity.ERROR, str(error), SEE_SENTENCE, store.path)
        return
    yield Finding("working file", Severity.WELL, f"{count(len(ledger.months))} months of reports are held")
    for (report, customer), cap in ledger.caps.items():
        found = f"{report} of {customer} is only answered {cap}"
        remedy = "brokerbi status --forget-caps, if the service has changed"
        yield Finding("windows", Severity.WARNING, found, remedy)


def state_findings(
    settings: Settings, clock: Clock, refusal: SettingsError | None = None
) -> Iterator[Finding]:
    """What `brokerbi status` says, a finding for each cause; of an unreadable file, what is known besides.

    `refusal` is why a sync would not accept these settings.
    """
    now, store = clock.utc_now(), Store(settings.data_dir, lock_seconds=LOCK_SECONDS)
    try:
        planned = planned_now(settings, store, clock)
        view = observed(overview(store), settings, now, planned=planned, refusal=refusal)
    except WarehouseError:  # which is a finding already
        yield from findings_of(of_directory(settings.data_dir, now))
        return
    verdict = judge(view)
    if verdict.is_well:
        yield Finding("state", Severity.WELL, verdict.sentence)
    elif not verdict.has_begun:
        yield Finding("state", verdict.severity, verdict.sentence)
    yield from findings_of(view.conditions)


def findings_of(conditions: Iterable[Condition]) -> Iterator[Finding]:
    """A finding for each cause; its subject is the kind of condition."""
    for cause in causes(conditions):
        first, whom = cause.first, f" ({cause.whom})" if cause.whom else ""
        yield Finding(first.kind, Severity(first.severity), f"{first.error}{whom}", first.remedy)


def file_findings(data_dir: Path) -> Iterator[Finding]:
    """Storage versions of both files, and who may look at personal data."""
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
        except WarehouseError as error:
            yield Finding(subject, Severity.ERROR, str(error), SEE_SENTENCE, path)
            continue
        if is_readable_by_all(version):
            found = f"its storage version is {version}, which every client can open"
            yield Finding(subject, Severity.WELL, found)
        else:
            found = f"its storage version is {version}: older clients cannot open it"
            remedy = (
                "remove {path}, then `brokerbi replay` and `brokerbi publish` write it in the version of 1.0"
            )
            yield Finding(subject, Severity.WARNING, found, remedy)
    for name in PRIVATE_FOLDERS:
        folder = data_dir / name
        if folder.exists() and folder.stat().st_mode & 0o077:
            found = f"{folder} holds personal data, and others than its owner can look into it"
            yield Finding("privacy", Severity.WARNING, found, f"chmod 700 {folder}")


def dagster_findings(environment: Mapping[str, str], shipped: Path | None) -> Iterator[Finding]:
    """What is missing or different in Dagster's own settings; nothing is asked of a running one.

    Several shards share one Dagster, whose settings differ from the shipped ones.
    """
    home = environment.get("DAGSTER_HOME", "")
    if not home:
        found = "DAGSTER_HOME is not set: fine for `brokerbi sync`, but Dagster would forget its runs"
        remedy = "set DAGSTER_HOME to a directory of its own for webserver and daemon"
        yield Finding("dagster", Severity.WARNING, found, remedy)
        return
    if not Path(home).is_absolute() or not Path(home).is_dir():
        found = f"DAGSTER_HOME is {home}, which is no absolute path of a directory"
        yield Finding("dagster", Severity.ERROR, found, "make the directory, and write its whole path")
        return
    file = Path(home) / "dagster.yaml"
    put_it_there = f"cp {shipped or 'dagster.yaml'} {home}/"
    if not file.is_file():
        found = f"there is no dagster.yaml in {home}: no retries, no limits, no watch over runs that die"
        yield Finding("dagster", Severity.ERROR, found, put_it_there)
        return
    if not shipped or not shipped.is_file():
        return
    try:
        current = yaml_entries(file.read_text("utf-8"))
    except yaml.YAMLError as error:
        yield Finding("dagster", Severity.ERROR, f"{file} is not YAML: {error}", put_it_there)
        return
    wanted = yaml_entries(shipped.read_text("utf-8"))
    wanted = {name: one for name, one in wanted.items() if name.split(".")[0] not in CHOSEN_BY_OPERATORS}
    lacking = [f"{name}: {value}" for name, value in wanted.items() if name not in current]
    different = [
        f"{name}: {current[name]} instead of {value}"
        for name, value in wanted.items()
        if current.get(name, value) != value
    ]
    for words, entries in (("lacks", lacking), ("has other values", different)):
        if entries:
            remedy = "take them over from the shipped dagster.yaml, unless it was meant so, and restart"
            yield Finding("dagster", Severity.WARNING, f"{file} {words}: {', '.join(entries)}", remedy)
    if not lacking and not different:
        yield Finding("dagster", Severity.WELL, f"{file} says what the shipped one says")


def daemon_findings(data_dir: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether Dagster's daemon was ever started, where Dagster is used; its silence is a condition."""
    if daemon_seen(data_dir) is None and environment.get("DAGSTER_HOME"):
        found = "it was never started for this data directory: no night, no run and no message"
        yield Finding(Kind.DAEMON, Severity.ERROR, found, START_DAEMON)


def yaml_entries(text: str) -> dict[str, str]:
    """The plain values of a YAML file by their keys: "concurrency.runs.max_concurrent_runs" -> "3".

    Entries of a list go by the key of the list.
    """
    found: dict[str, str] = {}

    def collect(value: Any, place: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                collect(inner, f"{place}.{key}" if place else str(key))
        elif isinstance(value, list):
            for inner in value:
                collect(inner, place)
        else:
            found[place] = str(value).lower() if isinstance(value, bool) else str(value)

    collect(yaml.safe_load(text), "")
    return found
