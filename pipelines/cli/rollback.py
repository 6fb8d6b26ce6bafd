"""What happens on `brokerbi rollback`? An earlier published file is put back in one step."""

from __future__ import annotations

import argparse

from pipelines.cli.printing import say
from pipelines.cli.selecting import settings_from_environment
from pipelines.connect.clock import SystemClock
from pipelines.operations.drawing import draw_beside
from warehouse.publish import rollback


def run(arguments: argparse.Namespace) -> int:
    """Put back the file before the current one, or the version named with --to."""
    settings = settings_from_environment(offline=True)
    publication = rollback(settings.data_dir, to=arguments.to, now=SystemClock().utc_now())
    drawn = draw_beside(settings.data_dir, timezone=settings.timezone, now=SystemClock().utc_now())
    if isinstance(drawn, str):
        say(f"warning: {drawn}")
    say(f"{publication.path} is version {publication.version} again; the next sync publishes anew")
    return 0
