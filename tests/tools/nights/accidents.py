"""A night after an accident: a killed daemon, a killed run worker, a cancelled backfill, too much at once.

`python -m tests.tools.nights.accidents --seconds 300` plays them one after the other, with real processes on
this machine; for so long backfills and nights go on at once. `--only killed_worker` plays one of them.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from pipelines.months import Month, months_between
from pipelines.planning.selection import Selection
from pipelines.sync.sync import sync
from tests.scenarios.scenario import content
from tests.tools.nights import graphql
from tests.tools.nights.server import ENDED, NIGHT, Server, serving, this_month, wait
from tests.tools.telling import conclude, say
from warehouse.store.database import Store

CUSTOMERS = ("M30011", "M30012", "M30013")
REPORTS = "commission_office,commission_user,running_commissions,sales,tips_and_leads,users"
MONTHLY = [name for name in REPORTS.split(",") if name != "users"]
MONTHS_BACK = 11
REQUESTS_BEFORE_THE_ACCIDENT = 12
LONGEST_SECONDS = 900.0
ERROR_WORDS = ("database is locked", "Traceback", " ERROR ", "- ERROR -")
PID = re.compile(r"Started process for run \(pid: (\d+)\)")


def main() -> int:
    """Play the accidents; say what an operator sees; end with 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8781, help="the first of two")
    parser.add_argument("--seconds", type=float, default=300, help="how long too much goes on at once")
    parser.add_argument("--only", choices=ACCIDENTS, help="one of them")
    given = parser.parse_args()
    wrong = []
    for name, latency in ACCIDENTS.items():
        if given.only in (None, name):
            with TemporaryDirectory(prefix="accident", ignore_cleanup_errors=True) as room:
                server = Server(
                    Path(room) / "server", given.port, CUSTOMERS, all_months()[0], REPORTS, latency
                )
                wrong += [f"{name}: {one}" for one in _play(name, server, given.seconds)]
    return conclude(wrong)


def killed_worker(server: Server) -> None:
    """The process of the night's run is gone in the middle of it."""
    run_id = server.launch("nightly", all_months(), **NIGHT)
    _wait_for_requests(server)
    [worker] = {int(found[1]) for line in _log(server, run_id) if (found := PID.search(line))}
    os.kill(worker, signal.SIGKILL)
    wait(lambda: server.status(run_id) == "FAILURE")
    say(f"  the run says: {next(line for line in reversed(_log(server, run_id)) if 'fail' in line)}")
    wait(lambda: len(server.runs()) > 1)
    say("  and is tried again by itself")


def killed_daemon(server: Server) -> None:
    """The daemon is gone while a run goes on and others wait; somebody starts it again."""
    server.backfill(MONTHLY, CUSTOMERS, all_months())
    _wait_for_requests(server)
    server.kill("daemon")
    server.start("daemon")


def cancelled_backfill(server: Server) -> None:
    """Somebody cancels a backfill of which runs go on and others wait."""
    name = server.backfill(MONTHLY, CUSTOMERS, all_months())
    _wait_for_requests(server)
    server.ask(graphql.CANCEL_BACKFILL, name)
    began = time.monotonic()
    query = graphql.BACKFILL_STATUS
    wait(lambda: server.ask(query, name)["partitionBackfillOrError"]["status"] == "CANCELED")
    say(f"  cancelled {time.monotonic() - began:.0f} s after the click")


def too_much_at_once(server: Server, seconds: float) -> Iterator[str]:
    """Backfills and nights at once for a while; yields runs that failed, and errors that were written."""
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
    runs = Counter(run["status"] for run in server.runs())
    say(f"  at most {max(one['in_flight'] for one in server.requests())} requests in flight")
    if set(runs) != {"SUCCESS"}:
        yield f"the runs ended as {dict(runs)}"
    for log in sorted(server.directory.glob("*.log")):
        lines = log.read_text("utf-8", "replace").splitlines()
        told = [line for line in lines if any(word in line for word in ERROR_WORDS)]
        if told:
            yield f"{log.name} has {len(told)} lines of errors: {told[0]}"


def _ended_backfill_runs(server: Server) -> int:
    keys = [{tag["key"] for tag in run["tags"]} for run in server.runs() if run["status"] in ENDED]
    return sum("dagster/backfill" in one for one in keys)


PLAYED: dict[str, Callable[[Server], None]] = {
    "killed_worker": killed_worker,
    "killed_daemon": killed_daemon,
    "cancelled_backfill": cancelled_backfill,
}
ACCIDENTS = {**dict.fromkeys(PLAYED, 400.0), "too_much_at_once": 50.0}
"""Milliseconds before every answer, by the name of the accident."""


def _play(name: str, server: Server, seconds: float) -> Iterator[str]:
    """An accident, then a night; everything that is not as it should be afterwards."""
    say(name.replace("_", " "))
    began = time.monotonic()
    with serving(server):
        if name in PLAYED:
            PLAYED[name](server)
        else:
            yield from too_much_at_once(server, seconds)
        wait(lambda: all(run["status"] in ENDED for run in server.runs()) and not retries_to_come(server))
        say(f"  runs: {[(run['jobName'], run['status']) for run in reversed(server.runs())]}")
        for lock in (server.directory / "data").rglob("*.lock"):
            try:
                FileLock(lock, timeout=5).acquire().lock.release()
            except Timeout:
                yield f"{lock.name} is still locked"
        night = server.launch("nightly", all_months(), **NIGHT)
        wait(lambda: server.status(night) in ENDED)
        if (status := server.status(night)) != "SUCCESS":
            yield f"the night after it ended as {status}"
        wait(lambda: (server.directory / "data" / "warehouse.duckdb").exists())
        yield from differing_rows(server, server.directory / "fresh")
        yield from not_green(server)
        statuses = {request["status"] for request in server.requests()}
        if statuses != {200}:
            yield f"the service answered {statuses}"
    say(f"  a right night and a published file {time.monotonic() - began:.0f} s after the start")


def differing_rows(server: Server, fresh: Path) -> Iterator[str]:
    """Rows that differ from those of a sync that met no accident."""
    sync(server.settings(fresh), Selection())
    with Store(server.settings().data_dir).reading() as ours, Store(fresh).reading() as theirs:
        found, expected = content(ours), content(theirs)
    differing = {cell for cell in found.keys() | expected.keys() if found.get(cell) != expected.get(cell)}
    if differing:
        yield f"{len(differing)} of {len(expected)} cells differ: {sorted(map(str, differing))[:5]}"


def not_green(server: Server) -> Iterator[str]:
    for node in server.ask(graphql.PARTITIONS)["assetNodes"]:
        stats = node["partitionStats"]
        if stats and (stats["numFailed"] or stats["numMaterialized"] != stats["numPartitions"]):
            yield f"{node['assetKey']['path'][0]}: {stats}"


def retries_to_come(server: Server) -> bool:
    """Whether a failed run is still to be retried by itself."""
    tags = [{tag["key"]: tag["value"] for tag in run["tags"]} for run in server.runs()]
    return any(
        one.get("dagster/will_retry") == "true" and "dagster/auto_retry_run_id" not in one for one in tags
    )


def all_months() -> list[Month]:
    return list(months_between(this_month().plus(-MONTHS_BACK), this_month()))


def _wait_for_requests(server: Server) -> None:
    wait(lambda: len(server.requests()) > REQUESTS_BEFORE_THE_ACCIDENT, every=0.1)


def _log(server: Server, run_id: str) -> list[str]:
    return [event["message"] for event in server.ask(graphql.LOG, run_id)["logsForRun"]["events"]]


if __name__ == "__main__":
    sys.exit(main())
