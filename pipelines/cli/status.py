"""Commands that only look: `status`, `reports` and `doctor`."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.cli.output import print_json, print_table, say
from pipelines.clock import SystemClock
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import load_settings, why_refused
from pipelines.sync.causes import causes, lines
from pipelines.sync.under_way import sync_notes
from pipelines.words import count, counted, size

if TYPE_CHECKING:
    from rich.progress import Progress

    from pipelines.diagnosis.quarantined_rows import RawRow
    from pipelines.planning.plan import PlannedReport
    from warehouse.ledger.status import Overview, PastPublication, ReportStatus

MOST_CAUSES = 20


def run_status(arguments: argparse.Namespace) -> int:
    """Print what is held and what is wrong, as tables or as JSON; makes no request."""
    from pipelines.diagnosis.health import judge, observed
    from pipelines.planning.plan import planned_now
    from warehouse.ledger.ledger import forget_caps
    from warehouse.ledger.status import overview
    from warehouse.store.database import Store

    try:
        settings = load_settings(os.environ, reading=True)
    except SettingsError as error:
        if not arguments.check:
            raise
        say(f"Look: the settings do not load: {error.problems[0]}")
        return 1
    store = Store(settings.data_dir)
    if arguments.forget_caps:
        with store.writing() as connection:
            forget_caps(connection)
        say("the learned windows and pages are forgotten; the next sync asks in full length again")
    planned = planned_now(settings, store, SystemClock())
    now = SystemClock().utc_now()
    view = observed(
        overview(store), settings, now, planned=planned, refusal=why_refused(os.environ, settings)
    )
    verdict = judge(view)
    code = int(arguments.check and not verdict.is_well)
    rows: list[RawRow] = []
    if arguments.quarantine:  # reading answers takes libraries that a plain status need not wait for
        from pipelines.diagnosis.quarantined_rows import raw_rows

        rows = list(raw_rows(store))
    if arguments.json:
        described = {"verdict": verdict.sentence, **_status_as_json(planned, view)}
        if arguments.quarantine:
            described["rows_in_quarantine"] = [asdict(one) for one in rows]
        print_json(described)
        return code
    say(verdict.sentence)
    for begun in (one.begun_utc for one in sync_notes(settings.data_dir) if not one.was_left):
        say(f"a sync is under way, begun {begun:%Y-%m-%d %H:%M} UTC")
    (_print_held if arguments.details else _print_customers)(planned, view)
    _print_conditions(view, details=arguments.details)
    _print_learned(view)
    _print_nights(view)
    for publication in view.publications if arguments.details else view.publications[:1]:
        say(_publication_line(publication))
    for one in rows:
        _print_quarantined(one)
    return code


def _print_customers(planned: tuple[PlannedReport, ...], view: Overview) -> None:
    """One line for each customer: all of its reports together."""
    rows = []
    for customer in dict.fromkeys(
        [*(one.customer.id for one in planned), *(one.customer for one in view.standings)]
    ):
        held = [one for one in view.standings if one.customer == customer]
        wanted = [one.wanted for one in planned if one.customer.id == customer]
        successes = [one.last_success_utc for one in held if one.last_success_utc]
        until = max(successes).date() if successes else date.max  # budgets are held for months to come
        months = [month for one in held if (month := one.newest_held_month) and month <= until]
        rows.append(
            [
                customer,
                f"{sum(one.state == 'fresh' for one in held)} of {len(held)}",
                f"{max(months):%Y-%m}" if months else "-",
                str(sum(len(one.missing) for one in wanted)) if planned else "-",
                str(sum(len(one.due) for one in wanted)) if planned else "-",
                f"{max(successes):%Y-%m-%d %H:%M}" if successes else "never",
            ]
        )
    heads = ["customer", "reports fresh", "through", "missing", "due", "last success (UTC)"]
    print_table(heads, rows, right=(1, 3, 4))


def _print_held(planned: tuple[PlannedReport, ...], view: Overview) -> None:
    """One line for each report of each customer: those that would be asked, else those that ever were."""
    held = {(one.report, one.customer): one for one in view.standings}
    plans = {one.pair: one for one in planned}
    rows = []
    for pair in plans or held:
        status, plan = held.get(pair), plans.get(pair)
        success = status.last_success_utc if status else None
        rows.append(
            [
                *pair,
                str(status.held_months) if status else "0",
                f"{status.newest_held_month:%Y-%m}" if status and status.newest_held_month else "-",
                str(len(plan.wanted.missing)) if plan else "-",
                str(len(plan.wanted.due)) if plan else "-",
                f"{success:%Y-%m-%d %H:%M}" if success else "never",
                _remark(plan, status),
            ]
        )
    heads = ["report", "customer", "held", "through", "missing", "due", "last success (UTC)", ""]
    print_table(heads, rows, right=(2, 4, 5))


def _remark(plan: PlannedReport | None, status: ReportStatus | None) -> str:
    if plan and plan.skipped:
        return plan.skipped
    if status and status.waiting_until:
        return f"{status.waiting_months} due by turns until {status.waiting_until}"
    return status.state if status and not plan else ""


def _print_quarantined(one: RawRow) -> None:
    """A row in quarantine: what it is, and the line below it as it was received."""
    row = one.row
    month = f", {row.month:%Y-%m}" if row.month else ""
    say(f"bi.{row.table} of {row.customer}{month}: {row.reason} ({row.place} in landing/{row.landing})")
    say(f"    {one.raw or one.trouble}")


def _print_conditions(view: Overview, *, details: bool) -> None:
    """A line for each cause of what is not as it should be; in detail, for each report of a customer."""
    if not details:
        for line in lines(view.conditions, MOST_CAUSES, with_since=True):
            say(f"- {line}")
        return
    for several in causes(view.conditions, by_report=True):
        one = several.first
        begun = f" since {several.begun}" if several.begun else ""
        say(f"{one.severity}: {one.kind}{begun}: {several.line}")


def _print_learned(view: Overview) -> None:
    """What has its turn yet, and which windows and pages refusals have taught."""
    from warehouse.ledger.ledger import Cap

    if days := [one.waiting_until for one in view.standings if one.waiting_until]:
        waiting = sum(one.waiting_months for one in view.standings)
        say(f"{counted(waiting, 'month')} due by turns until {max(days)} (--details says of which reports)")
    for cap in view.caps:
        learned = Cap(cap.days, cap.months, cap.page_size)
        say(f"learned: {cap.report} of {cap.customer} is asked {learned} (brokerbi status --forget-caps)")


def _print_nights(view: Overview) -> None:
    """What the last seven days on which anything was asked have cost, the latest first."""
    rows = [
        [
            str(one.day),
            count(one.requests),
            f"{one.requests / max(one.customers, 1):.1f}",
            count(one.repeated),
            count(one.failed),
            size(one.bytes),
        ]
        for one in view.nights
    ]
    if rows:
        heads = ["day (UTC)", "requests", "per customer", "repeated", "failed", "received"]
        print_table(heads, rows, right=(1, 2, 3, 4, 5))


def _publication_line(publication: PastPublication) -> str:
    reasons = f": {'; '.join(publication.reasons)}" if publication.reasons else ""
    name = f" {publication.name}" if publication.name else ""
    taken = f" ({size(publication.bytes)})" if publication.bytes else ""
    return f"{publication.status}{name} at {publication.at_utc:%Y-%m-%d %H:%M} UTC{taken}{reasons}"


def _status_as_json(planned: tuple[PlannedReport, ...], view: Overview) -> dict[str, object]:
    return {
        **asdict(view),
        "planned": [
            {
                "report": one.report.name,
                "customer": one.customer.id,
                "missing": [str(month) for month in one.wanted.missing],
                "due": [str(month) for month in one.wanted.due],
                "held": one.wanted.left + len(one.wanted.due),
                "waiting": {str(month): str(day) for month, day in one.wanted.waiting.items()},
                "skipped": one.skipped,
            }
            for one in planned
        ],
    }


def run_reports(arguments: argparse.Namespace) -> int:
    """Print every report of the catalogue, as a table or as JSON."""
    if arguments.json:
        print_json([_report_as_json(report) for report in REPORTS.values()])
        return 0
    print_table(
        ["report", "subject", "asked", "request", "kept as", "tables"],
        [
            [
                report.name,
                report.subject,
                "on demand" if report.timing.on_demand else "yes" if report.timing.enabled else "off",
                f"{report.endpoint.request_months} mo" if report.has_months else "-",
                "history" if report.stored_as == "history" else "months",
                ", ".join(f"bi.{table.name}" for table in report.tables),
            ]
            for report in REPORTS.values()
        ],
    )
    return 0


def _report_as_json(report: Report) -> dict[str, object]:
    return {
        "name": report.name,
        "subject": report.subject,
        "description": report.description,
        "path": report.endpoint.path,
        "query": dict(report.endpoint.query),
        "longest_window_months": report.endpoint.window_months if report.has_months else None,
        "longest_request_months": report.endpoint.request_months if report.has_months else None,
        "kept_as": report.stored_as,
        "paged": report.endpoint.paged,
        "on": report.timing.enabled,
        "on_demand": report.timing.on_demand,
        "tables": [f"bi.{table.name}" for table in report.tables],
    }


def run_doctor(arguments: argparse.Namespace) -> int:
    """Print every finding; 1 when something is wrong. `--offline` asks the service nothing."""
    from pipelines.diagnosis.doctor import Access, examine
    from pipelines.sync.run_context import RunContext
    from warehouse.ledger.conditions import Severity

    signs = {Severity.WELL: "ok   ", Severity.WARNING: "odd  ", Severity.ERROR: "WRONG"}
    settings = load_settings(os.environ, offline=arguments.offline)
    found: list[Severity] = []
    access: list[Access] = []
    ask = not arguments.offline
    bar = _progress_of_asking()

    def asked(one: Access) -> None:
        access.append(one)
        said = f"{one.report} of {one.customer}: {one.word}"
        bar.update(bar.task_ids[0], description=said, completed=len(access))
        bar.start()

    try:
        for finding in examine(
            settings,
            RunContext(),
            environment=os.environ,
            ask=ask,
            on_access=asked,
            refusal=why_refused(os.environ, settings),
        ):
            bar.stop()
            say(f"{signs[finding.severity]} {finding.subject}: {finding.found}")
            if finding.remedy and finding.severity is not Severity.WELL:
                say(f"      -> {finding.remedy}")
            found.append(finding.severity)
    finally:
        bar.stop()  # it hides the cursor
    if access:
        customers = list(dict.fromkeys(one.customer for one in access))
        reports = list(dict.fromkeys(one.report for one in access))
        words = {(one.report, one.customer): one.word for one in access}
        say()
        rows = [[report, *(words.get((report, one), "") for one in customers)] for report in reports]
        print_table(["report", *customers], rows)
    return int(Severity.ERROR in found)


def _progress_of_asking() -> Progress:
    """What was asked last, on stderr and on a terminal alone."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.completed} reports asked for, the latest {task.description}"),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.add_task("", total=None)
    return bar
