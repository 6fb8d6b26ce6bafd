"""What happens on `brokerbi report`? The published file becomes one page that needs nothing but itself."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipelines.cli.printing import complain, duration, say, size
from pipelines.cli.selecting import settings_from_environment
from pipelines.connect.clock import SystemClock
from pipelines.operations.drawing import write_report


def run(arguments: argparse.Namespace) -> int:
    """Write the page beside the published file, or where --out says."""
    settings = settings_from_environment(offline=True)
    drawn = write_report(
        settings.data_dir,
        timezone=settings.timezone,
        now=SystemClock().utc_now(),
        out=Path(arguments.out) if arguments.out else None,
    )
    if drawn.missing:
        complain(
            f"brokerbi: the published file cannot answer for {', '.join(drawn.missing)}; the rest is there"
        )
    say(f"{drawn.path} ({size(drawn.bytes)}, {duration(drawn.seconds)}); open it in any browser")
    return 0
