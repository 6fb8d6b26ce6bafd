"""Command `sync`: asking what is missing or due, loading and publishing it."""

from __future__ import annotations

import argparse
import os
import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.cli.maintenance import finish_without_publication, publish
from pipelines.cli.output import complain, count, duration, print_table, say, size
from pipelines.planning.plan import Plan
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings, load_settings
from pipelines.sync.causes import shortened
from pipelines.sync.summary import TROUBLE, Summary
from pipelines.sync.sync import sync
from warehouse.ledger.window_result import WindowResult, WindowStatus

LONGEST_REASON = 70
SECONDS_BETWEEN_LINES = 5.0
WINDOWS_BEFORE_ESTIMATE = 10
"""The first windows start together and say little about the pace of the rest."""


def run_sync(arguments: argparse.Namespace) -> int:
    """Sync what the arguments select, publish unless told not to, and say what became of everything."""
    settings = load_settings(os.environ)
    for warning in settings.warnings:
        complain(f"brokerbi: {warning}")
    summary = sync_with_progress(settings, selection_of(arguments), take_over=arguments.take_over)
    is_published = True
    if summary.loaded and not arguments.no_publish:
        is_published = publish(settings)
    else:
        if not arguments.no_publish:
            say("nothing was loaded, so the published file stays as it is")
        finish_without_publication(settings)
    for sentence in summary.complaints():
        complain(f"brokerbi: {sentence}")
    return 0 if summary.is_well and is_published else 1


def selection_of(arguments: argparse.Namespace) -> Selection:
    """What the options of `plan` and `sync` select."""
    return Selection(
        first=arguments.first,
        last=arguments.last,
        customers=tuple(arguments.customer),
        reports=tuple(arguments.report),
        ids=tuple(arguments.id),
        refresh=arguments.refresh,
        accept_shrink=getattr(arguments, "accept_shrink", False),  # `plan` has no such option
    )


def sync_with_progress(settings: Settings, selection: Selection, *, take_over: bool = False) -> Summary:
    """Sync; print one line per report: rows, windows loaded, months held, and what did not go well."""
    progress = SyncProgress()
    try:
        summary = sync(
            settings,
            selection,
            on_plan=progress.planned,
            on_result=progress.happened,
            take_over=take_over,
        )
    finally:
        progress.bar.stop()
    held = {
        name: sum(n for (report, _), n in summary.held.items() if report == name) for name, _ in summary.held
    }
    names = dict.fromkeys((*(one.report for one in summary.results), *held))
    print_table(
        ["report", "rows", "windows", "requests", "left alone", "quarantined", "what else"],
        [
            _summary_row(name, [one for one in summary.results if one.report == name], held.get(name, 0))
            for name in names
        ],
        right=(1, 2, 3, 4, 5),
    )
    total = sum(sum(one.rows.values()) for one in summary.results)
    taken = sum(one.bytes for one in summary.results)
    say(
        f"{count(total)} rows in {count(summary.requests)} requests ({size(taken)}), "
        f"{duration(summary.seconds)}"
    )
    return summary


def _summary_row(name: str, results: list[WindowResult], held: int) -> list[str]:
    loaded = [one for one in results if one.status is WindowStatus.LOADED]
    remarks = []
    for status in WindowStatus:
        some = [one for one in results if one.status is status]
        if some and status is not WindowStatus.LOADED:
            customers = ", ".join(sorted({one.customer for one in some})[:5])
            reason = shortened(some[0].reason, LONGEST_REASON)  # all of it follows on stderr
            remarks.append(f"{len(some)} {status.value} ({customers}): {reason}")
    warnings = [warning for one in results for warning in one.warnings]
    if warnings:
        remarks.append(f"{len(warnings)} warnings: {warnings[0]}")
    return [
        name,
        count(sum(sum(one.rows.values()) for one in loaded)),
        str(len(loaded)),
        count(sum(one.requests for one in results)),
        str(held),
        count(sum(one.rejected_count for one in loaded)),
        "; ".join(remarks),
    ]


class SyncProgress:
    """Windows done of windows planned, on stderr: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counted]}"),
            console=Console(file=sys.stderr),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task("windows", total=None, counted="")
        self.windows = self.done = self.rows = self.troubled = 0
        self.began = self.last_line = time.monotonic()

    def planned(self, plan: Plan) -> None:
        """Begin: say how much is to be asked."""
        self.windows = sum(len(one.windows) for one in plan.planned)
        complain(
            f"asking {count(self.windows)} window{'s' if self.windows != 1 else ''}, "
            f"about {count(plan.requests_expected)} requests, "
            f"{duration(plan.seconds)} at {plan.requests_per_second:g} requests per second"
        )
        if self.windows:
            self.bar.update(self.task, total=self.windows)
            self.bar.start()

    def happened(self, outcome: WindowResult) -> None:
        """Go on: one more window has come to its end."""
        if outcome.report == CHANGED_SALES:
            return
        self.done += 1
        self.windows = max(self.windows, self.done)  # a window that is asked month by month becomes several
        self.rows += sum(outcome.rows.values())
        self.troubled += outcome.status in TROUBLE
        counted = f"{count(self.rows)} rows" + (f", {self.troubled} in trouble" if self.troubled else "")
        self.bar.update(
            self.task,
            completed=self.done,
            total=self.windows,
            description=f"{outcome.report} {outcome.when}",
            counted=counted,
        )
        now = time.monotonic()
        if self.bar.disable and now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            complain(f"{count(self.done)} of {count(self.windows)} windows, {counted}{self._to_go(now)}")

    def _to_go(self, now: float) -> str:
        """The time left at the pace so far, as the end of a sentence."""
        if self.done < min(WINDOWS_BEFORE_ESTIMATE, self.windows // 2):
            return ""
        seconds = max(self.windows - self.done, 0) * (now - self.began) / self.done
        return f"; about {duration(seconds)} to go"
