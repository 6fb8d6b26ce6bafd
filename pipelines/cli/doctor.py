"""`brokerbi doctor`: everything is looked at, and each finding comes with its remedy."""

from __future__ import annotations

import argparse
import os

from pipelines.cli.printing import print_table, say
from pipelines.cli.selecting import settings_from_environment
from pipelines.operations.doctor import Access, examine
from pipelines.operations.installation import Severity
from pipelines.sync.surroundings import Surroundings

SIGNS = {Severity.OK: "ok   ", Severity.WARNING: "odd  ", Severity.ERROR: "WRONG"}


def run(arguments: argparse.Namespace) -> int:
    """Print every finding; 1 when something is wrong. `--offline` asks the service nothing."""
    settings = settings_from_environment(offline=arguments.offline)
    worst = Severity.OK
    access: list[Access] = []
    ask = not arguments.offline
    for finding in examine(
        settings, Surroundings(), environment=os.environ, ask=ask, on_access=access.append
    ):
        say(f"{SIGNS[finding.severity]} {finding.subject}: {finding.found}")
        if finding.remedy and finding.severity is not Severity.OK:
            say(f"      -> {finding.remedy}")
        worst = max(worst, finding.severity)
    if access:
        customers = list(dict.fromkeys(one.customer for one in access))
        reports = list(dict.fromkeys(one.report for one in access))
        words = {(one.report, one.customer): one.word for one in access}
        say("")
        rows = [[report, *(words.get((report, one), "") for one in customers)] for report in reports]
        print_table(["report", *customers], rows, right=())
    return int(worst is Severity.ERROR)
