"""What was published, and what speaks against it? The last lines of sync, publish and demo."""

from __future__ import annotations

from pipelines.cli.printing import complain, count, say, size
from pipelines.sync.finishing import Finished
from warehouse.checks import CheckResult


def print_finished(finished: Finished) -> None:
    """Say what the checks found and whether there is a new published file."""
    for check in finished.warnings:
        say(f"warning: {_found(check)}")
    for check in finished.errors:
        complain(f"error: {_found(check)}")
    publication = finished.publication
    if publication.published:
        say(
            f"published {publication.path} ({size(publication.bytes or 0)}), {len(finished.marts)} marts, "
            f"{len(finished.checks)} checks"
        )
        if isinstance(finished.page, str):
            say(f"warning: {finished.page}")
        elif finished.page is not None:
            say(f"the same as a page: {finished.page.path}")
    else:
        complain(f"brokerbi: not published: {'; '.join(publication.reasons)}; the file of before stays")


def _found(check: CheckResult) -> str:
    """What a check found; one that could not run says why, in one line."""
    if check.message:
        return " ".join(check.sentence.split())
    return f"{check.name}: {check.question} ({count(check.rows)} rows)"
