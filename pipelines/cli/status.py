"""Commands that examine an installation: `status`, `doctor`, `shapes` and `reports`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from pipelines.catalogue.reports import REPORTS
from pipelines.causes import causes, sentence
from pipelines.cli.main import Json, Reports, command, flag, working
from pipelines.cli.output import cell, print_json, print_records, print_wrapped, read_settings, say, warn
from pipelines.clock import SystemClock
from pipelines.settings.model import load_settings, sync_settings_error
from pipelines.words import size
from warehouse.ledger.conditions import Severity

if TYPE_CHECKING:
    from pipelines.planning.plan import PlannedReport
    from warehouse.ledger.status import Overview

COUNTED_FIELDS = ("columns", "missing", "extra")


@command("status")
def run_status(
    check: Annotated[bool, flag("--check", "exit with 1 if there is an error or no published file")] = False,
    forget_caps: Annotated[bool, flag("--forget-caps", "forget the limits of meta.window_caps")] = False,
    details: Annotated[bool, flag("--details", "a line for each report of each customer")] = False,
    json: Json = False,
) -> int:
    """Show what is loaded, missing, failed and published."""
    from pipelines.diagnosis.health import judge, observe
    from pipelines.planning.plan import plan_full_sync
    from warehouse.ledger import ledger
    from warehouse.ledger.status import overview
    from warehouse.store.database import Store
    from warehouse.store.lock import WORK, holder_of

    settings = load_settings(os.environ, reading=True)
    if not (settings_error := sync_settings_error(os.environ, settings)):  # this error has the warnings too
        warn(*settings.warnings)
    store = Store(settings.data_dir)
    if forget_caps:
        with store.writing() as connection:
            ledger.forget_caps(connection)
        say("the learned window and page sizes are forgotten; the next sync starts with full windows")
    planned = plan_full_sync(settings, store, SystemClock())
    now = SystemClock().utc_now()
    state = overview(store, unless_checked_since=now - timedelta(days=1) if check else None)
    view = observe(state, settings, now, planned=planned, settings_error=settings_error)
    verdict = judge(view)
    if json:
        print_json({"verdict": verdict.sentence, **asdict(view)})
    else:
        print_wrapped("", verdict.sentence)
        if work := holder_of(settings.data_dir / WORK):
            print_wrapped("", f"under way: {work.sentence}")
        _print_view(view, planned, details=details)
    return int(check and not verdict.is_well)


def _print_view(view: Overview, planned: tuple[PlannedReport, ...], *, details: bool) -> None:
    shown = ("report", "customer", "missing", "last_success_utc", "state") if details else ()
    print_records(list(_standings(view, planned, details=details)), shown)
    for cause in causes(view.conditions, by_report=details):
        is_grey = cause.first.severity == Severity.ACKNOWLEDGED
        print_wrapped("- ", cause.issue, is_grey=is_grey)
        if cause.remedy:
            print_wrapped("  -> ", cause.remedy, is_grey=is_grey)
    nights = [{**asdict(night), "received": size(night.bytes)} for night in view.nights]
    print_records(nights, ("day", "customers", "requests", "repeated", "failed", "received"))
    publications = [{**asdict(row), "size": row.bytes and size(row.bytes)} for row in view.publications]
    columns = ("status", "name", "at_utc", "size")
    latest = next((number for number, row in enumerate(view.publications, 1) if row.name), 1)
    print_records(publications[: None if details else latest], (*columns, "reasons") if details else columns)


def _standings(
    view: Overview, planned: tuple[PlannedReport, ...], *, details: bool
) -> Iterator[dict[str, Any]]:
    plans = {plan.pair: plan for plan in planned}
    statuses = {(row.report, row.customer): row for row in view.standings}
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for pair in {**plans, **statuses}:
        groups.setdefault(pair if details else pair[1:], []).append(pair)
    for group, pairs in groups.items():
        rows = [statuses[pair] for pair in pairs if pair in statuses]
        plans_of_group = [plans[pair] for pair in pairs if pair in plans]
        success = max((row.last_success_utc for row in rows if row.last_success_utc), default=None)
        # leaves out future months of budgets; where the chain is, it may be tomorrow
        until = success.date() + timedelta(days=1) if success else date.max
        months = [month for row in rows if (month := row.newest_held_month) and month <= until]
        requested = [row.state for row in rows if row.state != "switched off"]
        fresh = f"{requested.count('fresh')} of {len(requested)} fresh"
        states = [fresh if requested else "switched off" if rows else "never read"]
        if details:
            states = [plan.skipped for plan in plans_of_group if plan.skipped] or [row.state for row in rows]
        yield {
            **dict(zip(("report", "customer")[-len(group) :], group, strict=True)),
            "through": cell("month", max(months, default=None)),
            "missing": sum(len(plan.months.missing) for plan in plans_of_group) if planned else None,
            "due": sum(len(plan.months.due) for plan in plans_of_group) if planned else None,
            "last_success_utc": success,
            "state": "; ".join(states),
        }


@command("doctor")
def run_doctor(offline: Annotated[bool, flag("--offline", "send no request to the service")] = False) -> int:
    """Check settings, disk, files, logins and access; give remedies."""
    from pipelines.diagnosis.doctor import examine
    from pipelines.sync.run_context import RunContext

    marks = dict(zip(Severity, ("ok   ", "known", "warn ", "ERROR"), strict=True))
    settings = load_settings(os.environ, offline=offline)
    worst = Severity.WELL
    for finding in examine(
        settings,
        RunContext(),
        environment=os.environ,
        may_request=not offline,
        lock=working(settings, "doctor", wait=False),
        settings_error=sync_settings_error(os.environ, settings),
    ):
        print_wrapped(f"{marks[finding.severity]} ", f"{finding.subject}: {finding.result}")
        if finding.remedy and finding.severity is not Severity.WELL:
            print_wrapped("      -> ", finding.remedy)
        worst = Severity.worst((worst, finding.severity))
    return int(worst is Severity.ERROR)


@command("shapes")
def run_shapes(
    *,
    report: Reports,
    from_landing: Annotated[bool, flag("--from-landing", "read stored answers; send no request")] = False,
    write: Annotated[bool, flag("--write", "add the proposals to shapes.toml")] = False,
    json: Json = False,
) -> int:
    """Show which reports fit their shapes, and propose new shapes."""
    from pipelines.diagnosis.samples import sample_reports
    from pipelines.planning.selection import Selection, chosen_reports
    from pipelines.shapes.shapes_file import ShapesError, with_shapes
    from pipelines.sync.run_context import RunContext
    from pipelines.upkeep.shapes import add_to_file

    settings, selection, context = read_settings(), Selection(reports=tuple(report)), RunContext()
    try:
        context = RunContext(catalogue=with_shapes(REPORTS, settings.shapes_file))
    except ShapesError as error:  # what arrives is shown all the same, because it helps to correct the file
        if write:
            raise
        warn(f"{sentence(str(error))} Until that is corrected, the file is not used.")
    reports = chosen_reports(settings, selection, context.catalogue)
    with working(settings, "shapes"):
        samples = sample_reports(settings, selection, context, reports, () if from_landing else reports)
    if json:
        print_json([vars(sample) for sample in samples])
    else:
        counts = [{name: len(vars(sample)[name]) for name in COUNTED_FIELDS} for sample in samples]
        rows = [vars(sample) | numbers for sample, numbers in zip(samples, counts, strict=True)]
        print_records(rows, ("report", "state", *COUNTED_FIELDS))
        names: dict[tuple[str, str], list[str]] = {}
        for sample in samples:
            extra = f"Undeclared fields: {', '.join(sample.extra)}" if sample.extra else ""
            texts = filter(None, (sample.sentence or (sample.proposal and sample.state), extra))
            names.setdefault((" ".join(map(sentence, texts)), sample.proposal), []).append(sample.report)
        say()
        for text, proposal in filter(any, names):
            print_wrapped("", f"{', '.join(names[text, proposal])}: {text}")
            say(proposal)
    if write:
        added = add_to_file(settings.shapes_file, samples)
        nothing = "nothing added: there is no proposal, or a block is there already"
        say(f"added to {settings.shapes_file}: {', '.join(added)}" if added else nothing)
    return int(any(sample.state in ("not understood", "not answered") for sample in samples))


@command("reports")
def run_reports(json: Json = False) -> int:
    """List the reports, their limits, and which are on by default."""
    records: list[dict[str, object]] = [
        {
            "name": report.name,
            "subject": report.subject,
            "on": report.timing.enabled,
            "on_demand": report.timing.on_demand,
            "longest_request_months": report.endpoint.request_months if report.has_months else None,
            "kept_as": report.stored_as,
            "description": report.description,
            "path": report.endpoint.path,
            "query": dict(report.endpoint.query),
            "longest_window_months": report.endpoint.window_months if report.has_months else None,
            "paged": report.endpoint.paged,
            "tables": [f"bi.{table.name}" for table in report.tables],
        }
        for report in REPORTS.values()
    ]
    if json:
        print_json(records)
    else:
        print_records(records, list(records[0])[:6])
    return 0
