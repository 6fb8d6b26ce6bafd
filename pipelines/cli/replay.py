"""What happens on `brokerbi replay`? Tables are rebuilt from landing alone, without the service."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from pipelines.catalogue.reports import report
from pipelines.cli.printing import complain, count, say
from pipelines.cli.selecting import settings_from_environment
from pipelines.operations.replaying import replay

LOADS_BETWEEN_LINES = 200
REPLAYED = "{} of {} loads replayed"
REMEMBERED = "the tables are rebuilt; remembering what was restated before: {} of {} loads"


def run(arguments: argparse.Namespace) -> int:
    """Replay the loads of the named reports and customers, or all; 1 when a load could not be."""
    done = replay(
        settings_from_environment(offline=True),
        reports=[report(name).name for name in arguments.report],
        customers=arguments.customer,
        quarantine=arguments.quarantine,
        on_load=_now_and_then(REPLAYED),
        on_lived=_now_and_then(REMEMBERED),
    )
    rejected = f"{count(done.rejected)} in quarantine"
    say(f"{count(done.loads)} loads, {count(done.rows)} rows from landing, {rejected}")
    for sentence in done.notes:
        say(sentence)
    for sentence in done.failures:
        complain(f"brokerbi: {sentence}")
    return 1 if done.failures else 0


def _now_and_then(words: str) -> Callable[[int, int], None]:
    """A line on stderr after every so many loads, and after the last one."""
    told = 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        if done - told >= LOADS_BETWEEN_LINES or done == total:
            told = done
            complain(words.format(count(done), count(total)))

    return tell
