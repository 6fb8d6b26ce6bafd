"""Command `sync`: asking what is missing or due, loading and publishing it."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from pipelines.cli.maintenance import draw_operators_page, publish
from pipelines.cli.output import complain, print_table, read_settings, say, sentence_of
from pipelines.clock import SystemClock
from pipelines.planning.plan import Plan
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings
from pipelines.sync.progress import HEADS, Progress, by_report
from pipelines.sync.summary import Summary
from pipelines.sync.sync import sync
from pipelines.sync.under_way import noted
from pipelines.words import count, counted, duration, size
from warehouse.ledger.window_result import WindowResult
from warehouse.publishing.publish import loaded_since_publication
from warehouse.store.database import Store


def run_sync(selection: Selection, *, publishes: bool) -> int:
    """Sync a selection, publish unless told not to, and say what became of everything."""
    settings = read_settings()
    with noted(settings.data_dir, SystemClock().utc_now(), sentence_of):
        return _sync_and_publish(settings, selection, publishes=publishes)


def _sync_and_publish(settings: Settings, selection: Selection, *, publishes: bool) -> int:
    summary = sync_with_progress(settings, selection)
    is_published = True
    if not publishes:
        draw_operators_page(settings)
    elif summary.loaded or was_left_unpublished(settings):
        is_published = publish(settings)
    else:
        say("nothing was loaded, so the published file stays as it is")
        draw_operators_page(settings)
    for sentence in summary.complaints():
        complain(f"brokerbi: {sentence}")
    return 0 if summary.is_well and is_published else 1


def was_left_unpublished(settings: Settings) -> bool:
    """Whether an earlier sync loaded something and was stopped before it was published, which is said.

    What a check spoke against is not published again: it was refused, and nothing was loaded since.
    """
    waiting = loaded_since_publication(Store(settings.data_dir))
    if waiting is None or waiting.is_refused:
        return False
    say("nothing was loaded; what an earlier sync loaded is published")
    return True


def sync_with_progress(settings: Settings, selection: Selection) -> Summary:
    """Sync; print one line per report: rows, windows loaded, months held, and what did not go well."""
    progress = SyncProgress()
    try:
        summary = sync(settings, selection, on_plan=progress.planned, on_result=progress.happened)
    finally:
        progress.bar.stop()
    print_table(HEADS, by_report(summary.results, summary.held), right=range(1, 6))
    total = sum(sum(one.loaded.rows.values()) for one in summary.results)
    taken = sum(one.bytes for one in summary.results)
    say(
        f"{counted(total, 'row')} in {counted(summary.requests, 'request')} ({size(taken)}), "
        f"{duration(summary.seconds)}"
    )
    return summary


class SyncProgress:
    """How far the sync is, on stderr: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self) -> None:
        self.counted = Progress()
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[rows]} rows"),
            console=Console(file=sys.stderr),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task("windows", total=None, rows="0")

    def planned(self, plan: Plan) -> None:
        """Begin: say how much is to be asked."""
        complain(self.counted.begin(plan))
        if plan.windows:
            self.bar.update(self.task, total=plan.windows)
            self.bar.start()

    def happened(self, outcome: WindowResult) -> None:
        """Go on: one more window has come to its end."""
        if self.counted.count(outcome):
            self.bar.update(
                self.task,
                completed=self.counted.done,
                total=self.counted.windows,
                description=f"{outcome.report} {outcome.when}",
                rows=count(self.counted.rows),
            )
        if self.bar.disable and (line := self.counted.line()):
            complain(line)
