"""A night after an accident: a killed daemon, a killed run worker, a cancelled backfill.

`python -m tests.tools.nights.accidents` plays them one after the other, with real processes on this machine.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from pipelines.months import Month, months_between
from pipelines.planning.selection import Selection
from pipelines.sync.sync import sync
from tests.scenarios.scenario import content
from tests.tools.nights import graphql
from tests.tools.nights.server import ENDED, NIGHT, Server, conclude, say, serving, this_month, wait
from warehouse.database import Store

CUSTOMERS = ("M30011", "M30012", "M30013")
REPORTS = "commission_office,commission_user,running_commissions,sales,tips_and_leads,users"
MONTHLY = [name for name in REPORTS.split(",") if name != "users"]
LATENCY_MS = 400.0
MONTHS_BACK = 11
REQUESTS_BEFORE_THE_ACCIDENT = 12
PID = re.compile(r"Started process for run \(pid: (\d+)\)")


def main() -> int:
    """Play the accidents; say what an operator sees; end with 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8781, help="the first of two")
    parser.add_argument("--only", choices=[one.__name__ for one in ACCIDENTS], help="one of them")
    given = parser.parse_args()
    wrong = []
    for accident in ACCIDENTS:
        if given.only in (None, accident.__name__):
            with TemporaryDirectory(prefix="accident", ignore_cleanup_errors=True) as room:
                wrong += [f"{accident.__name__}: {one}" for one in _play(accident, Path(room), given.port)]
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
    wait(
        lambda: server.ask(graphql.BACKFILL_STATUS, name)["partitionBackfillOrError"]["status"] == "CANCELED"
    )
    say(f"  cancelled {time.monotonic() - began:.0f} s after the click")


ACCIDENTS: tuple[Callable[[Server], None], ...] = (killed_worker, killed_daemon, cancelled_backfill)


def _play(accident: Callable[[Server], None], room: Path, port: int) -> Iterator[str]:
    """An accident, then a night; everything that is not as it should be afterwards."""
    say(f"{accident.__name__}: {(accident.__doc__ or '').strip()}")
    began = time.monotonic()
    server = Server(room / "server", port, CUSTOMERS, all_months()[0], REPORTS, LATENCY_MS)
    with serving(server):
        accident(server)
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
        wait(lambda: (room / "server" / "data" / "warehouse.duckdb").exists())
        yield from differing_rows(server, room / "fresh")
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
    """The months that everything here is about, up to the current one."""
    return list(months_between(this_month().plus(-MONTHS_BACK), this_month()))


def _wait_for_requests(server: Server) -> None:
    """Until runs are in the middle of their work."""
    wait(lambda: len(server.requests()) > REQUESTS_BEFORE_THE_ACCIDENT, every=0.1)


def _log(server: Server, run_id: str) -> list[str]:
    return [event["message"] for event in server.ask(graphql.LOG, run_id)["logsForRun"]["events"]]


if __name__ == "__main__":
    sys.exit(main())
