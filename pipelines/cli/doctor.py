"""What happens on `brokerbi doctor`? Everything is looked at, and each finding comes with its remedy."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from pipelines.cli.printing import print_table, say
from pipelines.cli.selecting import settings_from_environment
from pipelines.operations.examining import examine
from pipelines.operations.findings import Access, Grade
from pipelines.sync.surroundings import Surroundings

SIGNS = {Grade.WELL: "ok   ", Grade.ODD: "odd  ", Grade.WRONG: "WRONG"}


def run(arguments: argparse.Namespace) -> int:
    """Print every finding; 1 when something is wrong. `--offline` asks the service nothing."""
    settings = settings_from_environment(offline=arguments.offline)
    worst = 0
    access: list[Access] = []
    ask = not arguments.offline
    findings = examine(settings, Surroundings(), environment=os.environ, ask=ask, on_access=access.append)
    for finding in findings:
        say(f"{SIGNS[finding.grade]} {finding.subject}: {finding.found}")
        if finding.remedy and finding.grade is not Grade.WELL:
            say(f"      -> {finding.remedy}")
        worst = max(worst, finding.grade is Grade.WRONG)
    if access:
        _print_matrix(access)
    return int(worst)


def _print_matrix(access: Sequence[Access]) -> None:
    """Reports by customers: what each login may see."""
    customers = list(dict.fromkeys(one.customer for one in access))
    words = {(one.report, one.customer): one.word for one in access}
    reports = list(dict.fromkeys(one.report for one in access))
    say("")
    print_table(
        ["report", *customers],
        [[report, *(words.get((report, customer), "") for customer in customers)] for report in reports],
        right=(),
    )
