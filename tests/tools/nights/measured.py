"""How long is a night of twenty customers, and how much of that is Dagster's?

`python -m tests.tools.nights.measured` asks all reports of 20 customers at 50 ms: once as `brokerbi sync`
does, once as the night of a server does. Two things a network alone would take are stated: requests times
latency divided by the requests in flight, and the ratio of either night to that.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.months import Month, months_between
from tests.tools.nights.server import BIN, ENDED, NIGHT, Server, say, serving, this_month, wait
from tests.unit.walls.files import ROOT

MONTHS = 3
FIRST_OFFICE = 30011


@dataclass(frozen=True)
class Night:
    """One night: requests made, seconds it took by the clock, and seconds of computing (0 if unknown)."""

    name: str
    requests: int
    seconds: float
    computing: float
    most_in_flight: int

    def told(self, latency: float, concurrency: int) -> str:
        ideal = self.requests * latency / concurrency
        return (
            f"{self.name}: {self.requests:,} requests, {self.seconds:.1f} s, "
            f"{self.seconds / ideal:.2f} times the {ideal:.1f} s of {latency * 1000:g} ms "
            f"at {concurrency} in flight (most seen {self.most_in_flight}); computing {self.computing:.1f} s"
        )


def main() -> int:
    """Measure, and say the figures."""
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
            _sync(server, plain)
            shutil.copytree(plain, server.directory / "data", dirs_exist_ok=True)
            for _ in range(given.rounds):
                for night in (_plain_night(server, plain), *_night_of_the_server(server, first)):
                    say(night.told(given.latency / 1000, server.settings().concurrency))
    return 0


def _sync(server: Server, data_dir: Path, *options: str) -> None:
    environment = {**server.environment, "BROKERBI_DATA_DIR": str(data_dir)}
    subprocess.run(
        [str(BIN / "brokerbi"), "sync", *options],
        env=environment,
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _plain_night(server: Server, data_dir: Path) -> Night:
    server.forget_requests()
    began, computing = time.monotonic(), _computed_by_children()
    _sync(server, data_dir, "--no-publish")
    seconds = time.monotonic() - began
    return Night("sync", *_counted(server, seconds, _computed_by_children() - computing))


def _night_of_the_server(server: Server, first: Month) -> Sequence[Night]:
    """The run itself; and all of it, from the call until the file is published."""
    server.forget_requests()
    published = server.directory / "data" / "warehouse.duckdb"
    before, began = published.stat().st_mtime, time.monotonic()
    run_id = server.launch("nightly", months_between(first, this_month()), **NIGHT)
    wait(lambda: server.status(run_id) in ENDED, every=0.2)
    run = next(run for run in server.runs() if run["runId"] == run_id)
    if run["status"] != "SUCCESS":
        raise RuntimeError(f"the night ended as {run['status']}")
    night = Night("night, its run", *_counted(server, _seconds(run), 0.0))
    wait(lambda: published.stat().st_mtime > before, every=0.2)
    whole = time.monotonic() - began
    wait(lambda: all(run["status"] in ENDED for run in server.runs()))
    return night, Night("night, until published", *_counted(server, whole, 0.0))


def _seconds(run: dict[str, Any]) -> float:
    return float(run["endTime"]) - float(run["startTime"])


def _counted(server: Server, seconds: float, computing: float) -> tuple[int, float, float, int]:
    requests = server.requests()
    return len(requests), seconds, computing, max((one["in_flight"] for one in requests), default=0)


def _computed_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
