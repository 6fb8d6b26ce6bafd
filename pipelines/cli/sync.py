"""Commands `plan` and `sync`: show the missing and due months, or fetch, load and publish them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from pipelines.cli.main import Customers, First, Ids, Json, Last, Refresh, Reports, command, flag, working
from pipelines.cli.maintenance import publish
from pipelines.cli.output import (
    ProgressLine,
    log,
    print_json,
    print_records,
    print_table,
    print_wrapped,
    read_settings,
    say,
    warn,
)
from pipelines.clock import SystemClock
from pipelines.planning.plan import PlannedReport, make_plan
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings
from pipelines.sync.progress import HEADERS, Progress, report_cells
from pipelines.sync.run_context import RunContext
from pipelines.sync.summary import Summary
from pipelines.sync.sync import sync
from pipelines.upkeep.report_page import draw_pages
from pipelines.upkeep.shapes import prepare_shapes
from pipelines.words import count, counted, duration, size
from warehouse.ledger.window_result import WindowResult
from warehouse.publishing.publish import loaded_since_publication
from warehouse.store.database import Store
from warehouse.store.lock import COMPLETE


@command("plan")
def run_plan(
    *,
    first: First = None,
    last: Last = None,
    customer: Customers,
    report: Reports,
    ids: Ids,
    refresh: Refresh = False,
    details: Annotated[bool, flag("--details", "a line for each report of each customer")] = False,
    json: Json = False,
) -> int:
    """Show what a sync would request; send nothing."""
    selection = Selection(first, last, tuple(customer), tuple(report), tuple(ids), refresh)
    settings = read_settings(offline=True)
    plan, _ = make_plan(settings, selection, Store(settings.data_dir), SystemClock())
    if json:
        print_json(
            {
                "requests": plan.requests,
                "seconds": round(plan.seconds, 1),
                "requests_per_second": plan.requests_per_second,
                "asking_what_changed": [probe.customer.id for probe in plan.probes],
                "planned": [planned_as_json(planned) for planned in plan.planned],
            }
        )
        return 0
    groups: dict[tuple[str, ...], list[PlannedReport]] = {}
    for planned in plan.planned:
        groups.setdefault(planned.pair if details else planned.pair[1:], []).append(planned)
    names = ("report", "customer") if details else ("customer",)
    print_records(
        [dict(zip(names, group, strict=True)) | _totals(reports) for group, reports in groups.items()]
    )
    more = " It would first ask which sales changed; the answer may add older months." if plan.probes else ""
    print_wrapped(
        "",
        f"A sync would send {counted(plan.requests, 'request')} if all goes well, in about "
        f"{duration(plan.seconds)} at {plan.requests_per_second:g} per second.{more} Nothing was sent.",
    )
    return 0


def _totals(reports: Sequence[PlannedReport]) -> dict[str, Any]:
    return {
        "requests": sum(planned.requests for planned in reports),
        "months and reasons": "; ".join(_reasons(reports)),
    }


def _reasons(reports: Sequence[PlannedReport]) -> Iterator[str]:
    windows = [window for planned in reports for window in planned.windows]
    if months := [month for window in windows for month in window.months]:
        yield f"{min(months)} … {max(months)}"
    if missing := sum(len(planned.months.missing) for planned in reports):
        yield f"{count(missing)} missing"
    for rule, number in Counter(rule for planned in reports for rule in planned.months.due.values()).items():
        yield f"{count(number)} {rule}"
    if postponed := sum(planned.postponed_ids for planned in reports):
        yield f"{counted(postponed, 'id')} postponed to a later nightly run"
    for reason, number in Counter(planned.skipped for planned in reports if planned.skipped).items():
        yield f"{counted(number, 'report')} skipped: {reason}" if len(reports) > 1 else reason


def planned_as_json(planned: PlannedReport) -> dict[str, object]:
    """The plan of one report of one customer, for --json."""
    months = planned.months
    return {
        "report": planned.report.name,
        "customer": planned.customer.id,
        "missing": months.missing,
        "due_because": {str(month): reason for month, reason in months.due.items()},
        "held": months.not_requested,
        "requests": planned.requests,
        "skipped": planned.skipped,
        "windows": [
            {"months": window.months, "spans": [span.bounds for span in window.spans]}
            for window in planned.windows
        ],
    }


@command("sync")
def run_sync(
    context: typer.Context,
    *,
    first: First = None,
    last: Last = None,
    customer: Customers,
    report: Reports,
    ids: Ids,
    refresh: Refresh = False,
    accept_shrink: Annotated[bool, flag("--accept-shrink", "load answers otherwise held back")] = False,
    no_publish: Annotated[bool, flag("--no-publish", "leave the published file as it is")] = False,
    no_wait: Annotated[bool, flag("--no-wait", "exit with 1 if another command is running")] = False,
) -> int:
    """Fetch and load what is missing or due, then publish."""
    selection = Selection(first, last, tuple(customer), tuple(report), tuple(ids), refresh, accept_shrink)
    settings = read_settings()
    # a whole sync does not request what only these options select
    again, tasks = ("", ()) if refresh or accept_shrink or ids else (", or `brokerbi sync`", COMPLETE)
    name, remedy = " ".join(context.obj), f"Run the same command again{again}."
    with working(settings, name, wait=not no_wait, remedy=remedy, completed_by=tasks) as began:
        summary = sync_with_progress(settings, replace(selection, fresh_since=began))
        summary.is_explicit = bool(customer or report)
        unpublished = None if no_publish else loaded_since_publication(Store(settings.data_dir))
        if unpublished and not unpublished.is_blocked:
            is_published = publish(settings)
        else:
            say("the published file stays as it is")
            error = draw_pages(settings, settings.run_clock(SystemClock()), only_operators=True)
            warn(error)
            is_published = not error
    warn(*summary.failure_lines())
    return 0 if summary.is_well and is_published else 1


def sync_with_progress(settings: Settings, selection: Selection) -> Summary:
    """Adopt new shapes, sync, and show the progress; then print the result of each report."""
    context = prepare_shapes(settings, selection, RunContext(), say)
    progress, progress_line = Progress(), ProgressLine()

    def show_progress(result: WindowResult) -> None:
        progress.add(result)
        if line := progress.line():
            progress_line.show(line)

    try:
        summary = sync(
            settings,
            selection,
            context=context,
            on_plan=lambda plan: log(progress.begin(plan)),
            on_result=show_progress,
        )
    finally:
        progress_line.show("")
    if rows := report_cells(summary.results):
        print_table(HEADERS[:-1], [cells[:-1] for cells in rows], right=range(1, 5))
    reports: dict[str, list[str]] = {}
    for report, *_, remark in rows:
        reports.setdefault(remark, []).append(report)
    for remark in filter(None, reports):
        print_wrapped("", f"{', '.join(reports[remark])}: {remark}")
    loaded = sum(result.loaded_rows for result in summary.results)
    received = sum(result.bytes for result in summary.results)
    say(
        f"{counted(loaded, 'row')} in {counted(summary.requests, 'request')} ({size(received)}), "
        f"{duration(summary.seconds)}"
    )
    return summary
