"""Backfills and nights at once, for a while: whether they disturb each other or Dagster's own storage.

`python -m tests.tools.nights.together --seconds 300` launches nights while backfills go on, and
looks for runs that failed, for errors in what the processes wrote, and for rows that differ afterwards.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.nights.accidents import (
    CUSTOMERS,
    MONTHLY,
    REPORTS,
    all_months,
    differing_rows,
    not_green,
    retries_to_come,
)
from tests.tools.nights.server import ENDED, NIGHT, Server, conclude, say, serving, wait

ERROR_WORDS = ("database is locked", "Traceback", " ERROR ", "- ERROR -")
LONGEST_SECONDS = 900.0


def main() -> int:
    """Let both work; end with 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--port", type=int, default=8785, help="the first of two")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="together", ignore_cleanup_errors=True) as room:
        server = Server(Path(room) / "server", given.port, CUSTOMERS, all_months()[0], REPORTS, latency=50)
        with serving(server):
            _launch_both(server, given.seconds)
            wrong = list(_wrong(server, Path(room) / "fresh"))
    return conclude(wrong)


def _launch_both(server: Server, seconds: float) -> None:
    """A new backfill and a new night whenever the one before has ended, until the time is over."""
    until = time.monotonic() + seconds
    night, backfilled = "", 0
    while time.monotonic() < until:
        if backfilled * len(CUSTOMERS) <= _ended_backfill_runs(server):
            server.backfill(MONTHLY, CUSTOMERS, all_months())
            backfilled += 1
        if not night or server.status(night) in ENDED:
            night = server.launch("nightly", all_months()[-3:], **NIGHT)
        time.sleep(2)
    wait(lambda: _ended_backfill_runs(server) >= backfilled * len(CUSTOMERS), LONGEST_SECONDS)
    wait(lambda: all(run["status"] in ENDED for run in server.runs()), LONGEST_SECONDS)


def _ended_backfill_runs(server: Server) -> int:
    keys = [{tag["key"] for tag in run["tags"]} for run in server.runs() if run["status"] in ENDED]
    return sum("dagster/backfill" in one for one in keys)


def _wrong(server: Server, fresh: Path) -> Iterator[str]:
    """Everything that is not as it should be."""
    wait(lambda: not retries_to_come(server))
    requests = server.requests()
    runs = Counter((run["jobName"], run["status"]) for run in server.runs())
    statuses = Counter(one["status"] for one in requests)
    say(f"runs {dict(runs)}; requests {dict(statuses)}")
    say(f"at most {max(one['in_flight'] for one in requests)} requests in flight")
    if {status for _, status in runs} != {"SUCCESS"} or set(statuses) != {200}:
        yield "not every run and every request went well"
    yield from differing_rows(server, fresh)
    yield from not_green(server)
    for log in sorted(server.directory.glob("*.log")):
        lines = log.read_text("utf-8", "replace").splitlines()
        told = [line for line in lines if any(word in line for word in ERROR_WORDS)]
        if told:
            yield f"{log.name} has {len(told)} lines of errors: {told[0]}"


if __name__ == "__main__":
    sys.exit(main())
