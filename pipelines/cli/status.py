"""Commands that only look: `status`, `reports` and `doctor`."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import date, datetime
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.cli.output import print_json, print_table, read_settings, say
from pipelines.clock import SystemClock
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import load_settings, why_refused
from pipelines.sync.causes import causes, lines
from pipelines.sync.under_way import sync_notes
from pipelines.words import count, counted, size

if TYPE_CHECKING:
    from pipelines.diagnosis.quarantined_rows import RawRow
    from pipelines.planning.plan import PlannedReport
    from warehouse.ledger.status import Overview, PastPublication, ReportStatus

MOST_CAUSES = 20


def run_status(*, check: bool, forget: bool, details: bool, quarantine: bool, as_json: bool) -> int:
    """Print the loaded months and all conditions, as tables or as JSON; makes no request."""
    from pipelines.diagnosis.health import judge, observed
    from pipelines.planning.plan import planned_now
    from warehouse.ledger.ledger import forget_caps
    from warehouse.ledger.status import overview
    from warehouse.store.database import Store

    try:
        settings = read_settings(reading=True)
    except SettingsError as error:
        if not check:
            raise
        say(f"Look: the settings do not load: {error.problems[0]}")
        return 1
    store = Store(settings.data_dir)
    if forget:
        with store.writing() as connection:
            forget_caps(connection)
        say("the learned windows and pages are forgotten; the next sync asks in full length again")
    planned = planned_now(settings, store, SystemClock())
    now = SystemClock().utc_now()
    view = observed(
        overview(store), settings, now, planned=planned, refusal=why_refused(os.environ, settings)
    )
    verdict = judge(view)
    code = int(check and not verdict.is_well)
    rows: list[RawRow] = []
    if quarantine:  # reading answers takes libraries that a plain status need not wait for
        from pipelines.diagnosis.quarantined_rows import raw_rows

        rows = list(raw_rows(store))
    if as_json:
        described = {"verdict": verdict.sentence, **_status_as_json(planned, view)}
        if quarantine:
            described["rows_in_quarantine"] = [asdict(row) for row in rows]
        print_json(described)
        return code
    say(verdict.sentence)
    for note in sync_notes(settings.data_dir):
        if not note.was_left:
            say(f"a sync is under way, begun {note.begun_utc:%Y-%m-%d %H:%M} UTC")
    (_print_reports if details else _print_customers)(planned, view)
    _print_conditions(view, details=details)
    _print_learned(view)
    _print_nights(view)
    for publication in view.publications if details else view.publications[:1]:
        say(_publication_line(publication))
    for raw in rows:
        month = f", {raw.row.month:%Y-%m}" if raw.row.month else ""
        place = f"{raw.row.place} in landing/{raw.row.landing}"
        say(f"bi.{raw.row.table} of {raw.row.customer}{month}: {raw.row.reason} ({place})")
        say(f"    {raw.raw or raw.trouble}")
    return code


def _print_customers(planned: tuple[PlannedReport, ...], view: Overview) -> None:
    """One line for each customer: all of its reports together."""
    rows = []
    customers = [*(plan.customer.id for plan in planned), *(row.customer for row in view.standings)]
    for customer in dict.fromkeys(customers):
        loaded = [row for row in view.standings if row.customer == customer]
        wanted = [plan.wanted for plan in planned if plan.customer.id == customer]
        success = max((row.last_success_utc for row in loaded if row.last_success_utc), default=None)
        until = success.date() if success else date.max  # budgets are loaded for months to come
        months = [month for row in loaded if (month := row.newest_held_month) and month <= until]
        rows.append(
            [
                customer,
                f"{sum(row.state == 'fresh' for row in loaded)} of {len(loaded)}",
                _month(max(months, default=None)),
                str(sum(len(months.missing) for months in wanted)) if planned else "-",
                str(sum(len(months.due) for months in wanted)) if planned else "-",
                _moment(success),
            ]
        )
    heads = ["customer", "reports fresh", "through", "missing", "due", "last success (UTC)"]
    print_table(heads, rows, right=(1, 3, 4))


def _print_reports(planned: tuple[PlannedReport, ...], view: Overview) -> None:
    """One line for each report of each customer: those that would be requested, else those that ever were."""
    loaded = {(row.report, row.customer): row for row in view.standings}
    plans = {plan.pair: plan for plan in planned}
    rows = []
    for pair in plans or loaded:
        status, plan = loaded.get(pair), plans.get(pair)
        rows.append(
            [
                *pair,
                str(status.held_months) if status else "0",
                _month(status.newest_held_month if status else None),
                str(len(plan.wanted.missing)) if plan else "-",
                str(len(plan.wanted.due)) if plan else "-",
                _moment(status.last_success_utc if status else None),
                _remark(plan, status),
            ]
        )
    heads = ["report", "customer", "held", "through", "missing", "due", "last success (UTC)", ""]
    print_table(heads, rows, right=(2, 4, 5))


def _month(month: date | None) -> str:
    return f"{month:%Y-%m}" if month else "-"


def _moment(at_utc: datetime | None) -> str:
    return f"{at_utc:%Y-%m-%d %H:%M}" if at_utc else "never"


def _remark(plan: PlannedReport | None, status: ReportStatus | None) -> str:
    if plan and plan.skipped:
        return plan.skipped
    if status and status.waiting_until:
        return f"{status.waiting_months} due by turns until {status.waiting_until}"
    return status.state if status and not plan else ""


def _print_conditions(view: Overview, *, details: bool) -> None:
    """A line for each cause; in detail, for each report of a customer."""
    if not details:
        for line in lines(view.conditions, MOST_CAUSES, with_since=True):
            say(f"- {line}")
        return
    for cause in causes(view.conditions, by_report=True):
        begun = f" since {cause.begun}" if cause.begun else ""
        say(f"{cause.first.severity}: {cause.first.kind}{begun}: {cause.line}")


def _print_learned(view: Overview) -> None:
    """The months that are due later, and the windows and pages that the service has taught."""
    if days := [row.waiting_until for row in view.standings if row.waiting_until]:
        waiting = sum(row.waiting_months for row in view.standings)
        say(f"{counted(waiting, 'month')} due by turns until {max(days)} (--details says of which reports)")
    for (report, customer), cap in view.caps.items():
        say(f"learned: {report} of {customer} is asked {cap} (brokerbi status --forget-caps)")


def _print_nights(view: Overview) -> None:
    """The cost of the last seven days with requests, the latest first."""
    rows = [
        [
            str(night.day),
            count(night.requests),
            f"{night.requests / max(night.customers, 1):.1f}",
            count(night.repeated),
            count(night.failed),
            size(night.bytes),
        ]
        for night in view.nights
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
                "report": plan.report.name,
                "customer": plan.customer.id,
                "missing": [str(month) for month in plan.wanted.missing],
                "due": [str(month) for month in plan.wanted.due],
                "held": plan.wanted.left + len(plan.wanted.due),
                "waiting": {str(month): str(day) for month, day in plan.wanted.waiting.items()},
                "skipped": plan.skipped,
            }
            for plan in planned
        ],
    }


def run_reports(*, as_json: bool) -> int:
    """Print every report of the catalogue, as a table or as JSON."""
    if as_json:
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


def run_doctor(*, offline: bool) -> int:
    """Print every finding; 1 when something is wrong. `--offline` asks the service nothing."""
    from pipelines.diagnosis.doctor import Access, examine
    from pipelines.sync.run_context import RunContext
    from warehouse.ledger.conditions import Severity

    marks = {Severity.WELL: "ok   ", Severity.WARNING: "odd  ", Severity.ERROR: "WRONG"}
    settings = load_settings(os.environ, offline=offline)
    worst = Severity.WELL
    words: dict[tuple[str, str], str] = {}

    def note(access: Access) -> None:
        words[access.report, access.customer] = access.word
        if sys.stderr.isatty():
            print(f"\r{len(words)} reports asked for", end="\r", file=sys.stderr, flush=True)

    for finding in examine(
        settings,
        RunContext(),
        environment=os.environ,
        ask=not offline,
        on_access=note,
        refusal=why_refused(os.environ, settings),
    ):
        say(f"{marks[finding.severity]} {finding.subject}: {finding.found}")
        if finding.remedy and finding.severity is not Severity.WELL:
            say(f"      -> {finding.remedy}")
        worst = Severity.worst((worst, finding.severity))
    if words:
        reports, customers = (list(dict.fromkeys(pair[place] for pair in words)) for place in (0, 1))
        say()
        rows = [[report, *(words.get((report, name), "") for name in customers)] for report in reports]
        print_table(["report", *customers], rows)
    return int(worst is Severity.ERROR)
