"""Command `sync`: asking what is missing or due, loading and publishing it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pipelines.cli.app import Customers, First, Ids, Last, NoWait, Refresh, Reports, command, flag, working
from pipelines.cli.maintenance import draw_operators_page, publish
from pipelines.cli.output import complain, counter, hang, print_table, read_settings, say
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings
from pipelines.sync.progress import HEADS, Progress, by_report
from pipelines.sync.summary import Summary
from pipelines.upkeep.shapes import sync_in_shape
from pipelines.words import counted, duration, size
from warehouse.ledger.window_result import WindowResult
from warehouse.publishing.publish import loaded_since_publication
from warehouse.store.database import Store


@command("sync")
def run_sync(
    *,
    first: First = None,
    last: Last = None,
    customer: Customers,
    report: Reports,
    ids: Ids,
    refresh: Refresh = False,
    accept_shrink: Annotated[bool, flag("--accept-shrink", "load what the guard held back")] = False,
    no_publish: Annotated[bool, flag("--no-publish", "leave the published file as it is")] = False,
    no_wait: NoWait = False,
) -> int:
    """Fetch what is missing or due, load it and publish."""
    selection = Selection(first, last, tuple(customer), tuple(report), tuple(ids), refresh, accept_shrink)
    settings = read_settings()
    with working(settings, "brokerbi sync", no_wait=no_wait) as awaited_utc:
        summary = sync_with_progress(settings, replace(selection, fresh_since=awaited_utc))
        summary.is_of_named = bool(customer or report)
        is_published = True
        if no_publish:
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

    A load that a check held back is not published again until something else is loaded.
    """
    waiting = loaded_since_publication(Store(settings.data_dir))
    if waiting is None or waiting.is_refused:
        return False
    say("nothing was loaded; what an earlier sync loaded is published")
    return True


def sync_with_progress(settings: Settings, selection: Selection) -> Summary:
    """Sync; print how far it is, and in the end what became of each report."""
    progress = Progress()

    def note(outcome: WindowResult) -> None:
        progress.count(outcome)
        if line := progress.line():
            counter(line)

    try:
        summary = sync_in_shape(
            settings,
            selection,
            on_message=say,
            on_plan=lambda plan: complain(progress.begin(plan)),
            on_result=note,
        )
    finally:
        counter()
    rows = by_report(summary.results, summary.held)
    print_table(HEADS[:-1], [cells[:-1] for cells in rows], right=range(1, 6))
    for report, *_, remark in rows:
        if remark:
            hang("", f"{report}: {remark}")
    loaded = sum(sum(result.loaded.rows.values()) for result in summary.results)
    received = sum(result.bytes for result in summary.results)
    say(
        f"{counted(loaded, 'row')} in {counted(summary.requests, 'request')} ({size(received)}), "
        f"{duration(summary.seconds)}"
    )
    return summary
