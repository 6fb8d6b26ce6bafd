"""Diagnosis of an installation: its settings, alerts, files, Dagster, logins and access, with remedies."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from pipelines.catalogue.model import Report
from pipelines.causes import TRANSIENT, causes, denial_conditions, list_names
from pipelines.connect.errors import CircuitOpen, Unauthorized
from pipelines.diagnosis.health import START_DAEMON, daemon_seen, directory_conditions, judge, observe
from pipelines.diagnosis.samples import Sample, request_samples
from pipelines.planning.plan import plan_full_sync
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.words import counted, duration
from warehouse.errors import NotWritable, WarehouseError
from warehouse.ledger.conditions import Kind, Severity
from warehouse.ledger.status import overview
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.messages import SettingsError
    from pipelines.settings.model import Settings
    from pipelines.sync.run_context import RunContext

SHIPPED_FILE = Path(__file__).resolve().parents[2] / "dagster.yaml"
OPERATORS_SECTIONS = frozenset(
    ("storage", "run_storage", "event_log_storage", "schedule_storage", "run_launcher", "compute_logs")
)
"""Sections of dagster.yaml that operators adapt to their machine; they may differ from the shipped file."""
LOCK_SECONDS = 5.0
ASK_SUPPORT = "if `brokerbi doctor` shows this again, ask the service's support"


@dataclass(frozen=True)
class Finding:
    """One result of the diagnosis, and a remedy if something is wrong."""

    subject: str
    severity: Severity
    result: str
    remedy: str = ""


def examine(
    settings: Settings,
    context: RunContext,
    *,
    environment: Mapping[str, str],
    may_request: bool = True,
    lock: AbstractContextManager[object] | None = None,
    settings_error: SettingsError | None = None,
) -> Iterator[Finding]:
    """Examine an installation; with `may_request`, request a month of each report of each active customer.

    Reports that are requested one id at a time are left out. `lock` is held during the requests.
    `settings_error` is the error with which a sync would reject the settings. Raises SettingsError if the
    settings `reports` or `logins` do not fit the catalogue.
    """
    reports = chosen_reports(settings, Selection(), context.catalogue)
    problems = settings_error.problems if settings_error else ()  # the state findings name them
    yield from _settings_findings(settings, [text for text in settings.warnings if text not in problems])
    for folder in (*settings.data_dir.glob("landing"), *settings.data_dir.glob("work")):
        if folder.stat().st_mode & 0o077:
            result = f"{folder} holds personal data, and other system users can read it"
            yield Finding("privacy", Severity.WARNING, result, f"chmod 700 {folder}")
    yield from _dagster_findings(settings, environment)
    samples, service_findings, unchecked = list[Sample](), list[Finding](), ""
    if may_request:
        try:
            with lock or nullcontext():  # released before the state findings, which may name its holder
                samples = _request(settings, context, reports)
                service_findings += _service_findings(settings, samples)
        except WarehouseError as error:
            unchecked = str(error)
    yield from service_findings
    # These are examined last, because an answer above may have cleared a recorded denial.
    state_findings = list(_state_findings(settings, context, settings_error, samples))
    failed = {row.subject for row in state_findings if row.severity is Severity.ERROR}
    if unchecked and failed.isdisjoint(("working file", Kind.NOT_WRITABLE, Kind.DISK_NEARLY_FULL)):
        yield Finding("service", Severity.WARNING, f"not checked. {unchecked}")
    remedies = {row.remedy for row in service_findings if row.severity is Severity.ERROR} - {""}
    yield from (finding for finding in state_findings if finding.remedy not in remedies)


def _settings_findings(settings: Settings, warnings: Sequence[str]) -> Iterator[Finding]:
    for warning in warnings:
        yield Finding("settings", Severity.WARNING, warning, "remove the setting, or correct its name")
    if settings.today is not None:
        result = f"BROKERBI_TODAY is {settings.today}: this is a rehearsal"
        yield Finding("settings", Severity.WARNING, result, "remove BROKERBI_TODAY for real nightly runs")
    customers = counted(len(settings.active_customers), "active customer")
    result = f"{customers} read from {settings.start} on; days are in {settings.timezone}"
    yield Finding("settings", Severity.WELL, result)


def _dagster_findings(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    home = environment.get("DAGSTER_HOME", "")
    if not home and daemon_seen(settings.data_dir) is None:
        result = "it is not used, as DAGSTER_HOME is not set: `brokerbi sync` sends no messages"
        yield Finding("dagster", Severity.WELL, result)
        return
    if not settings.alert_webhook and not settings.alert_email_to:
        remedy = "set BROKERBI_ALERT_WEBHOOK, or BROKERBI_ALERT_EMAIL_TO with a mail server"
        yield Finding("alerts", Severity.WARNING, "no message is sent if a nightly run fails", remedy)
    if not home:
        result = "DAGSTER_HOME is not set: fine for `brokerbi sync`, but Dagster would forget its runs"
        remedy = "set DAGSTER_HOME to a directory that only the webserver and the daemon use"
        yield Finding("dagster", Severity.WARNING, result, remedy)
        return
    file = Path(home) / "dagster.yaml"
    try:
        current = yaml.safe_load(file.read_text("utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        result = f"{file} cannot be read ({error}): no retries or limits, and dead runs go unnoticed"
        yield Finding("dagster", Severity.ERROR, result, f"cp {SHIPPED_FILE} {home}/")
    else:
        shipped = yaml.safe_load(SHIPPED_FILE.read_text("utf-8")) if SHIPPED_FILE.exists() else {}
        different = [  # shards use deploy/locations/dagster.yaml, which is not compared
            section
            for section, values in ({} if settings.shard else shipped).items()
            if section not in OPERATORS_SECTIONS and current.get(section) != values
        ]
        if different:
            result = f"{file} differs from the shipped one in {', '.join(different)}"
            remedy = f"unless this is on purpose, copy these sections from {SHIPPED_FILE} and restart Dagster"
            yield Finding("dagster", Severity.WARNING, result, remedy)
        else:
            state = "readable" if settings.shard else "as shipped"
            yield Finding("dagster", Severity.WELL, f"{file} is {state}")
    if daemon_seen(settings.data_dir) is None:  # a daemon that stopped is reported as a condition
        result = "it was never started for this data directory: no nightly run, backfill or message"
        yield Finding(Kind.DAEMON, Severity.ERROR, result, START_DAEMON)


def _request(settings: Settings, context: RunContext, reports: Sequence[Report]) -> list[Sample]:
    customers = [customer.id for customer in settings.active_customers]
    pairs = [(report, name) for name in customers for report in reports if not report.endpoint.by_id]
    plan = f"{counted(len(pairs), 'request')} in about {duration(len(pairs) / settings.requests_per_second)}"
    logging.getLogger(__name__).warning("brokerbi: if the login is accepted, the doctor sends %s", plan)
    return asyncio.run(request_samples(settings, context, pairs, defaultdict(set)))


def _service_findings(settings: Settings, samples: Sequence[Sample]) -> Iterator[Finding]:
    conditions = overview(Store(settings.data_dir)).conditions
    if outage := next((sample.error for sample in samples if isinstance(sample.error, CircuitOpen)), None):
        yield Finding("service", Severity.ERROR, outage.issue, outage.remedy)  # it caused the other errors
        return
    by_cause: defaultdict[tuple[str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.state == "not answered":
            remedy = sample.error.remedy if sample.error else ASK_SUPPORT
            # A denied login is one finding, although its sentences differ: only the first quotes the answer.
            is_denied = isinstance(sample.error, Unauthorized)
            by_cause[remedy, "" if is_denied else sample.sentence].append(sample)
    for (remedy, sentence), group in by_cause.items():
        what = list_names(sample.report for sample in group) if sentence else "login"
        subject = f"{what} of {list_names(sample.customer for sample in group)}"
        yield Finding(subject, Severity.ERROR, group[0].sentence, remedy)
    access: defaultdict[tuple[Severity, str, str], list[str]] = defaultdict(list)
    for customer in dict.fromkeys(sample.customer for sample in samples):
        own_samples = [sample for sample in samples if sample.customer == customer]
        accepted = [sample for sample in own_samples if not isinstance(sample.error, Unauthorized)]
        answered = [sample for sample in accepted if sample.state not in ("no access", "not answered")]
        result = f"answered: {len(answered)} of {counted(len(accepted), 'report')}"
        denied = [sample.report for sample in accepted if sample.state == "no access"]
        severity, remedy = Severity.WELL, ""
        if any(not denial_conditions(report, customer, conditions) for report in denied):
            # no sync has requested some of these reports yet, so no condition below reports their denial
            result += f"; denied today, so not requested again: {list_names(denied)}"
            severity, remedy = Severity.ERROR, "Check the customer id and the access of the login."
            if answered:
                severity = Severity.WARNING
                remedy = "ask the service's support for access, or switch each off (BROKERBI_REPORTS=-name)"
        if answered or remedy:
            access[severity, result, remedy].append(customer)
    for (severity, result, remedy), customers in access.items():
        yield Finding(f"access of {', '.join(customers)}", severity, result, remedy)


def _state_findings(
    settings: Settings, context: RunContext, settings_error: SettingsError | None, samples: Sequence[Sample]
) -> Iterator[Finding]:
    is_answering = all(sample.state != "not answered" for sample in samples)
    answered = {(row.report, row.customer) for row in samples if is_answering and row.state != "no access"}
    now, store = context.clock.utc_now(), Store(settings.data_dir, lock_seconds=LOCK_SECONDS)
    try:
        planned = plan_full_sync(settings, store, context.clock)
        state = overview(store, unless_checked_since=now)
    except WarehouseError as error:
        # what cannot be written, and work that met the same error, are told once
        conditions = [
            row for row in directory_conditions(settings.data_dir, now) if str(error) not in row.error
        ]
        if not isinstance(error, NotWritable) or all(row.kind != Kind.NOT_WRITABLE for row in conditions):
            yield Finding("working file", Severity.ERROR, str(error))
    else:
        view = observe(state, settings, now, planned=planned, settings_error=settings_error)
        # the findings about access already explain why nothing has been read
        told, verdict = {(Kind.MONTHS_MISSING, sample.customer) for sample in samples}, judge(view)
        conditions = [row for row in view.conditions if (row.kind, row.customer) not in told]
        if verdict.is_well or not verdict.has_data:  # otherwise the causes below state what is wrong
            yield Finding("state", Severity.WELL if verdict.is_well else verdict.severity, verdict.sentence)
    for cause in causes(conditions):
        first = cause.first
        severity, remedy = Severity(first.severity), cause.remedy
        may_have_ended = first.trouble or first.cause in TRANSIENT
        if first.is_error and may_have_ended and answered & {*product(cause.reports, cause.customers)}:
            severity, remedy = Severity.WARNING, "The service answers now: run `brokerbi sync`."
        yield Finding(first.kind, severity, cause.issue, remedy)
