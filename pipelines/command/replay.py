"""What happens on `brokerbi replay`? Tables are rebuilt from landing alone, without the service."""

from __future__ import annotations

import argparse

from pipelines.catalogue.reports import report
from pipelines.command.printing import complain, count, say
from pipelines.command.selecting import settings_from_environment
from pipelines.sync.replaying import replay

LOADS_BETWEEN_LINES = 200


def run(arguments: argparse.Namespace) -> int:
    """Replay the loads of the named reports and customers, or all; 1 when a load could not be."""
    settings = settings_from_environment(offline=True)
    told = 0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if done - told >= LOADS_BETWEEN_LINES or done == total:
            told = done
            complain(f"{count(done)} of {count(total)} loads replayed")

    done = replay(
        settings,
        reports=[report(name).name for name in arguments.report],
        customers=arguments.customer,
        quarantine=arguments.quarantine,
        on_load=progress,
    )
    rejected = f"{count(done.rejected)} in quarantine"
    say(f"{count(done.loads)} loads, {count(done.rows)} rows from landing, {rejected}")
    for sentence in done.failures:
        complain(f"brokerbi: {sentence}")
    return 1 if done.failures else 0
