"""What happens on `brokerbi sync`? Ask, load, build, check, publish; and a table of what came of it."""

from __future__ import annotations

import argparse

from pipelines.cli.finished import print_finished
from pipelines.cli.printing import complain, count, duration, print_table, say, size
from pipelines.cli.progress import SyncProgress
from pipelines.cli.selecting import selection_of, settings_from_environment
from pipelines.planning.selection import Selection
from pipelines.sync.finishing import finish
from pipelines.sync.summary import Summary
from pipelines.sync.syncing import sync
from warehouse.window_result import WindowResult, WindowStatus

LONGEST_REASON = 70


def run(arguments: argparse.Namespace) -> int:
    """Sync what the arguments select, publish unless told not to, and say what became of everything."""
    return run_sync(selection_of(arguments), publish=not arguments.no_publish)


def run_sync(selection: Selection, *, publish: bool) -> int:
    """The same for a selection made elsewhere; 0 when all is well, 1 when something failed."""
    settings = settings_from_environment()
    for warning in settings.warnings:
        complain(f"brokerbi: {warning}")
    with SyncProgress() as progress:
        summary = sync(settings, selection, on_plan=progress.planned, on_outcome=progress.happened)
    print_summary(summary)
    blocked = False
    if publish and not summary.loaded:
        say("nothing was loaded, so the published file stays as it is")
    elif publish:
        finished = finish(settings)
        print_finished(finished)
        blocked = not finished.publication.published
    for sentence in summary.complaints():
        complain(f"brokerbi: {sentence}")
    return 0 if summary.is_well and not blocked else 1


def print_summary(summary: Summary) -> None:
    """One line per report: rows, windows loaded, months held, and what did not go well."""
    held = {
        name: sum(n for (report, _), n in summary.held.items() if report == name) for name, _ in summary.held
    }
    by_report = summary.by_report()
    names = list(dict.fromkeys((*by_report, *held)))
    print_table(
        ["report", "rows", "windows", "requests", "months left", "quarantined", "what else"],
        [_row(name, by_report.get(name, []), held.get(name, 0)) for name in names],
        right=(1, 2, 3, 4, 5),
    )
    total = sum(summary.rows_by_table().values())
    taken = sum(one.bytes for one in summary.outcomes)
    say(
        f"{count(total)} rows in {count(summary.requests)} requests ({size(taken)}), "
        f"{duration(summary.seconds)}"
    )


def _row(name: str, outcomes: list[WindowResult], held: int) -> list[str]:
    loaded = [one for one in outcomes if one.status is WindowStatus.LOADED]
    return [
        name,
        count(sum(sum(one.rows.values()) for one in loaded)),
        str(len(loaded)),
        count(sum(one.requests for one in outcomes)),
        str(held),
        count(sum(one.rejected_count for one in loaded)),
        _words(outcomes),
    ]


def _words(outcomes: list[WindowResult]) -> str:
    parts = []
    for status in WindowStatus:
        some = [one for one in outcomes if one.status is status]
        if some and status is not WindowStatus.LOADED:
            customers = ", ".join(sorted({one.customer for one in some})[:5])
            parts.append(f"{len(some)} {status.value} ({customers}): {_brief(some[0].reason)}")
    warned = [warning for one in outcomes for warning in one.warnings]
    if warned:
        parts.append(f"{len(warned)} warnings: {warned[0]}")
    return "; ".join(parts)


def _brief(reason: str) -> str:
    """The beginning of a reason; the whole of it follows on stderr and in `brokerbi status`."""
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON].rstrip()}…"
