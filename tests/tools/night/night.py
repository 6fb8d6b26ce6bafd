"""How long a night of twenty customers takes, and how much of that is Dagster's.

`python -m tests.tools.night.night` asks all reports of 20 customers at 50 ms: once as `brokerbi sync`
does, once as the night of a server does. Each is compared with what the network alone would take: requests
times latency divided by the requests in flight.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.months import Month, months_between
from tests.tools.night.server import BIN, ENDED, NIGHT, Server, serving, this_month, wait
from tests.tools.telling import say
from tests.unit.repository.files import ROOT

MONTHS = 3
FIRST_OFFICE = 30011


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8791, help="the first of two")
    parser.add_argument("--customers", type=int, default=20)
    parser.add_argument("--latency", type=float, default=50.0, help="milliseconds")
    parser.add_argument("--rounds", type=int, default=3, help="nights of each kind")
    given = parser.parse_args()
    names = [f"M{FIRST_OFFICE + number}" for number in range(given.customers)]
    with TemporaryDirectory(prefix="night", ignore_cleanup_errors=True) as room:
        first = this_month().plus(1 - MONTHS)
        server = Server(Path(room) / "server", given.port, names, first, latency=given.latency)
        with serving(server):
            say("fetching everything once, so that both kinds of night begin alike")
            plain = Path(room) / "plain"
            run_sync(server, plain)
            shutil.copytree(plain, server.directory / "data", dirs_exist_ok=True)
            for _ in range(given.rounds):
                _measure_sync(server, plain)
                _measure_night(server, first)
    return 0


def run_sync(server: Server, data_dir: Path, *options: str) -> None:
    subprocess.run(
        [str(BIN / "brokerbi"), "sync", *options],
        env={**server.environment, "BROKERBI_DATA_DIR": str(data_dir)},
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _measure_sync(server: Server, data_dir: Path) -> None:
    server.forget_requests()
    began, computing = time.monotonic(), computed_by_children()
    run_sync(server, data_dir, "--no-publish")
    seconds = time.monotonic() - began
    _say_figures(server, "sync", seconds, f"; computing {computed_by_children() - computing:.1f} s")


def _measure_night(server: Server, first: Month) -> None:
    """The run itself; and all of it, from the call until the file is published."""
    server.forget_requests()
    published = server.directory / "data" / "warehouse.duckdb"
    before, began = published.stat().st_mtime, time.monotonic()
    run_id = server.launch("nightly", months_between(first, this_month()), **NIGHT)
    wait(lambda: server.status(run_id) in ENDED, every=0.2)
    run = next(run for run in server.runs() if run["runId"] == run_id)
    if run["status"] != "SUCCESS":
        raise RuntimeError(f"the night ended as {run['status']}")
    _say_figures(server, "night, its run", float(run["endTime"]) - float(run["startTime"]))
    wait(lambda: published.stat().st_mtime > before, every=0.2)
    _say_figures(server, "night, until published", time.monotonic() - began)
    wait(lambda: all(run["status"] in ENDED for run in server.runs()))


def _say_figures(server: Server, name: str, seconds: float, more: str = "") -> None:
    requests, concurrency = server.requests(), server.settings().concurrency
    ideal = len(requests) * server.latency / 1000 / concurrency
    most = max((one["in_flight"] for one in requests), default=0)
    say(
        f"{name}: {len(requests):,} requests, {seconds:.1f} s, {seconds / ideal:.2f} times the {ideal:.1f} s "
        f"of {server.latency:g} ms at {concurrency} in flight (most seen {most}){more}"
    )


def computed_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
