"""What happens on `brokerbi doctor`? Everything is looked at, and each finding comes with its remedy."""

from __future__ import annotations

import argparse

from pipelines.command.printing import say
from pipelines.command.selecting import settings_from_environment
from pipelines.sync.examining import Grade, examine
from pipelines.sync.surroundings import Surroundings

SIGNS = {Grade.WELL: "ok   ", Grade.ODD: "odd  ", Grade.WRONG: "WRONG"}


def run(arguments: argparse.Namespace) -> int:
    """Print every finding; 1 when something is wrong. `--offline` asks the service nothing."""
    settings = settings_from_environment(offline=arguments.offline)
    worst = 0
    for finding in examine(settings, Surroundings(), ask=not arguments.offline):
        say(f"{SIGNS[finding.grade]} {finding.subject}: {finding.found}")
        if finding.remedy and finding.grade is not Grade.WELL:
            say(f"      -> {finding.remedy}")
        worst = max(worst, finding.grade is Grade.WRONG)
    return int(worst)
