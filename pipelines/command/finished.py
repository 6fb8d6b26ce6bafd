"""What was published, and what speaks against it? The last lines of sync, publish and demo."""

from __future__ import annotations

from pipelines.command.printing import complain, count, say, size
from pipelines.sync.finishing import Finished


def print_finished(finished: Finished) -> None:
    """Say what the checks found and whether there is a new published file."""
    for check in finished.warnings:
        say(f"warning: {check.name}: {check.question} ({count(check.rows)} rows)")
    for check in finished.errors:
        complain(f"error: {check.name}: {check.question} ({count(check.rows)} rows)")
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
