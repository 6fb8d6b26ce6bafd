"""What does a month cost when its answers are tiny? Every report of more and more customers, in CPU seconds.

Run as `python -m tests.tools.bench.small_windows`; CPU time, because machines are shared.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.operations.publish import finish
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings, load_settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
from tests.tools.bench.tiny_service import TinyService

TODAY = date(2026, 11, 21)


@dataclass
class Costs:
    """What was spent on each part of the work: CPU seconds of this process, and seconds on the wall."""

    spent: dict[str, tuple[float, float]] = field(default_factory=dict)

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Count what the body takes."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.spent[part] = (time.process_time() - cpu, time.perf_counter() - wall)


def settings_of(data_dir: Path, customers: int, months: int) -> Settings:
    """So many customers since so many months, at a pace that nobody keeps them to."""
    start = Month.of(TODAY).plus(1 - months)
    return load_settings(
        {
            "BROKERBI_BASE_URL": "https://tiny.example",
            "BROKERBI_USERNAME": "tiny",
            "BROKERBI_PASSWORD": "tiny",
            "BROKERBI_CUSTOMERS": ",".join(f"C{number}" for number in range(customers)),
            "BROKERBI_START": str(start),
            "BROKERBI_DATA_DIR": str(data_dir),
            "BROKERBI_REQUESTS_PER_SECOND": "1000",
            "BROKERBI_TODAY": TODAY.isoformat(),
        }
    )


def measured(data_dir: Path, customers: int, months: int) -> None:
    """One backfill, one publication and one sync that finds next to nothing due; prints a line."""
    settings, service, costs = settings_of(data_dir, customers, months), TinyService(), Costs()
    context = RunContext(transport=service)
    with costs.of("backfill"):
        summary = sync(settings, Selection(), context=context)
    if summary.complaints():
        raise SystemExit("\n".join(summary.complaints()))
    windows, requests = len(summary.results), service.requests
    with costs.of("publish"):
        finish(settings)
    monthly = tuple(report.name for report in REPORTS.values() if report.enabled and report.has_months)
    nothing = Selection(reports=monthly, last=Month.of(TODAY).plus(-settings.due_months))
    with costs.of("nothing due"):
        sync(settings, nothing, context=context)
    if service.requests != requests:
        raise SystemExit("something was asked where nothing was due")
    squares = customers * months
    cpu, wall = costs.spent["backfill"]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(
        f"{customers:>9} {windows:>8} {requests:>9} {cpu:>9.1f} {wall:>9.1f} {1000 * cpu / squares:>12.1f} "
        f"{1000 * cpu / windows:>12.2f} {costs.spent['publish'][0]:>9.2f} "
        f"{costs.spent['nothing due'][0]:>9.2f} {memory:>8.0f}"
    )


def say(line: str) -> None:
    """Print at once, so that a long measurement can be followed."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure each number of customers in a fresh directory."""
    arguments = argparse.ArgumentParser(prog="tests.tools.bench.small_windows")
    arguments.add_argument("--customers", type=int, nargs="+", default=[5, 20, 50])
    arguments.add_argument("--months", type=int, default=36)
    arguments.add_argument("--keep", type=Path, help="leave the data directory of the last one here")
    asked = arguments.parse_args()
    say(
        f"{'customers':>9} {'windows':>8} {'requests':>9} {'CPU s':>9} {'wall s':>9} {'ms per month':>12} "
        f"{'ms a window':>12} {'publish s':>9} {'no-op s':>9} {'peak MB':>8}"
    )
    for customers in asked.customers:
        with TemporaryDirectory() as temporary:
            measured(asked.keep or Path(temporary), customers, asked.months)


if __name__ == "__main__":
    main()
