"""What Dagster adds to a backfill of everything, against `brokerbi sync` of the same rectangle.

`python -m tests.tools.nights.overhead` asks all reports of 3 customers and 23 months twice: from the command
line, and as a backfill launched as the UI does. What is compared are the processor seconds of all processes
of either until the file is published; the seconds of the clock say little on a machine that others use as
well. Both ask everything that is selected: a first sync without months would leave budgets to their turns.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import dagster as dg

from pipelines.months import months_between
from tests.tools.nights import graphql
from tests.tools.nights.measured import computed_by_children, run_sync
from tests.tools.nights.server import ENDED, Server, serving, this_month, wait
from tests.tools.telling import conclude, say

FIRST_OFFICE = 30011
TICKS = os.sysconf("SC_CLK_TCK")
OWN, OF_CHILDREN, SESSION = slice(11, 13), slice(13, 15), 3
"""Where /proc says what a process and its ended children computed, and its session, after its name."""
CODE_SERVER = b"grpc"
MOST_TIMES, MOST_SECONDS_MORE = 1.5, 20.0
ALL_EVENTS = 1_000_000
LONGEST_BACKFILL = 3600.0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8795, help="the first of two")
    parser.add_argument("--customers", type=int, default=3)
    parser.add_argument("--months", type=int, default=23)
    given = parser.parse_args()
    customers = [f"M{FIRST_OFFICE + number}" for number in range(given.customers)]
    with TemporaryDirectory(prefix="overhead", ignore_cleanup_errors=True) as room:
        first = this_month().plus(1 - given.months)
        server = Server(Path(room) / "server", given.port, customers, first)
        with serving(server):
            began, computing = time.monotonic(), computed_by_children()
            whole = ("--from", str(first), "--to", str(this_month()))
            run_sync(server, Path(room) / "plain", *whole)
            alone = computed_by_children() - computing
            seconds = time.monotonic() - began
            say(f"sync: {_asked(server)}, published after {seconds:.1f} s, computing {alone:.1f} s")
            server.forget_requests()
            backfill_seconds = _measure_backfill(server)
    limit = MOST_TIMES * seconds + MOST_SECONDS_MORE
    say(f"{backfill_seconds / seconds:.2f} times the command line; the limit is {limit:.1f} s")
    return conclude(["a backfill takes longer than that"] if backfill_seconds > limit else [])


def _measure_backfill(server: Server) -> float:
    """Seconds from the first run of a backfill of everything until the file is published."""
    before, began = _computed(server), time.time()
    reports = [
        node["assetKey"]["path"][0]
        for node in server.ask(graphql.PARTITIONS)["assetNodes"]
        if node["partitionStats"]
    ]
    name = server.backfill(reports, server.customers, list(months_between(server.first, this_month())))
    wait(lambda: _is_published(server), LONGEST_BACKFILL, every=1)
    ended = time.time()
    took = {name: seconds - before.get(name, 0.0) for name, seconds in _computed(server).items()}
    first_run = min(run["creationTime"] for run in server.runs())
    wait(lambda: _backfill_status(server, name) == "COMPLETED_SUCCESS", LONGEST_BACKFILL, every=2)
    say(f"backfill: {_asked(server)}, computing {sum(took.values()):.1f} s ({_in_words(took)})")
    say(
        f"first run after {first_run - began:.0f} s, published {ended - first_run:.0f} s later; "
        f"Dagster calls it done {time.time() - began:.0f} s after it was launched"
    )
    for run in server.runs():
        seconds = (run["endTime"] or 0) - run["startTime"]
        say(f"{run['jobName']}: created +{run['startTime'] - run['creationTime']:.0f} s, {seconds:.1f} s")
    _say_events(server)
    return ended - float(first_run)


def _computed(server: Server) -> dict[str, float]:
    """Processor seconds so far of the processes of a server, those that have ended included.

    Runs are children of the code server's own child, and count as its once they have ended.
    """
    found: dict[str, float] = defaultdict(float)
    sessions = {server.processes[name].pid: name for name in ("code", "daemon", "ui")}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        own, of_children = (sum(map(int, fields[part])) / TICKS for part in (OWN, OF_CHILDREN))
        if name := sessions.get(int(fields[SESSION])):
            if int(process.name) in sessions:
                found[name] += own
            elif CODE_SERVER in command:
                found[name] += own
                found["runs"] += of_children
            else:
                found["runs"] += own + of_children
    return found


def _is_published(server: Server) -> bool:
    file = server.directory / "data" / "warehouse.duckdb"
    return file.exists() and all(run["status"] in ENDED for run in server.runs())


def _backfill_status(server: Server, name: str) -> str:
    return str(server.ask(graphql.BACKFILL_STATUS, name)["partitionBackfillOrError"]["status"])


def _say_events(server: Server) -> None:
    """How many events of which kind the runs have stored."""
    with dg.DagsterInstance.from_config(str(server.directory / "dagster")) as instance:
        kinds = Counter(
            entry.dagster_event_type.value if entry.dagster_event_type else "log line"
            for run in instance.get_runs()
            for entry in instance.all_logs(run.run_id)
        )
    say(f"events: {_in_words(dict(kinds.most_common(6)))}, {kinds.total():,} in all")


def _asked(server: Server) -> str:
    return f"{len(server.requests()):,} requests"


def _in_words(counted: Mapping[str, float]) -> str:
    largest = sorted(counted, key=lambda name: -counted[name])
    return ", ".join(f"{name} {counted[name]:,.4g}" for name in largest)


if __name__ == "__main__":
    sys.exit(main())
