"""How long a night of twenty customers takes, and how much of that is Dagster's.

`python -m tests.tools.night.night` (`make night`) requests all reports of 20 customers at 50 ms: once as
`brokerbi sync` does, once as the nightly run of a server does. Each is compared with what the network alone
would take: requests times latency divided by the requests in flight.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assets.partitions import partition_key
from pipelines.months import Month
from pipelines.settings.model import Settings
from tests.tools.development import Development, make_dev, this_month, wait
from tests.tools.night import graphql
from tests.tools.telling import say
from tests.unit.repository.files import ROOT

MONTHS = 3
FIRST_OFFICE = 30011
ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})
NIGHT = {"brokerbi/night": "a night", "brokerbi/held": "skip", "dagster/priority": "10"}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8791, help="the first of three")
    parser.add_argument("--customers", type=int, default=20)
    parser.add_argument("--latency", type=float, default=50.0, help="milliseconds")
    parser.add_argument("--rounds", type=int, default=3, help="nights of each kind")
    given = parser.parse_args()
    customers = [f"M{FIRST_OFFICE + number}" for number in range(given.customers)]
    first = this_month().plus(1 - MONTHS)
    options = f"--offices {max(given.customers, 7)} --latency {given.latency}"
    variables = {"CUSTOMERS": ",".join(customers), "FROM": first, "SANDBOX": options}
    with (
        TemporaryDirectory(prefix="night", ignore_cleanup_errors=True) as room,
        make_dev(Path(room) / "dev", given.port, variables) as made,
    ):
        say("fetching everything once, so that both kinds of night begin alike")
        plain = Path(room) / "plain"
        environment = _environment(made, customers, first, plain)
        _sync(environment)
        shutil.copytree(plain, made.directory, dirs_exist_ok=True)
        for _ in range(given.rounds):
            made.forget_requests()
            began, computing = time.monotonic(), computed_by_children()
            _sync(environment, "--no-publish")
            seconds = time.monotonic() - began
            _say_figures(made, given.latency, "sync", seconds)
            say(f"sync: computing {computed_by_children() - computing:.1f} s")
            _measure_night(made, given.latency, customers, first)
    return 0


def _environment(made: Development, customers: Sequence[str], first: Month, data_dir: Path) -> dict[str, str]:
    """The environment of a sync like that of the server, into another directory."""
    ours = {
        "CONFIG": os.devnull,
        "BASE_URL": made.sandbox,
        "USERNAME": "sandbox",
        "PASSWORD": "sandbox",
        "CUSTOMERS": ",".join(customers),
        "START": str(first),
        "DATA_DIR": str(data_dir),
        "REQUESTS_PER_SECOND": "200",
    }
    return {**os.environ, **{f"BROKERBI_{name}": value for name, value in ours.items()}}


def _sync(environment: dict[str, str], *options: str) -> None:
    command = [str(Path(sys.executable).with_name("brokerbi")), "sync", *options]
    subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)


def _measure_night(made: Development, latency: float, customers: Sequence[str], first: Month) -> None:
    """The run itself; and all of it, from the call until the file is published."""
    made.forget_requests()
    published = made.directory / "warehouse.duckdb"
    before, began = published.stat().st_mtime, time.monotonic()
    run_id = _launch(made, partition_key(customers[0], first), partition_key(customers[-1], this_month()))
    run = wait(lambda: next((one for one in _ended(made) if one["runId"] == run_id), None), every=0.2)
    if run["status"] != "SUCCESS":
        raise RuntimeError(f"the night ended as {run['status']}")
    _say_figures(made, latency, "night, its run", float(run["endTime"]) - float(run["startTime"]))
    wait(lambda: published.stat().st_mtime > before, every=0.2)
    _say_figures(made, latency, "night, until published", time.monotonic() - began)
    wait(lambda: len(_ended(made)) == len(_runs(made)))


def _launch(made: Development, first: str, last: str) -> str:
    """The id of a nightly run over the rectangle between two partitions."""
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last, **NIGHT}
    tagged = [{"key": key, "value": value} for key, value in tags.items()]
    given = {"selector": graphql.NIGHTLY, "runConfigData": {}, "executionMetadata": {"tags": tagged}}
    launched = made.ask(graphql.LAUNCH, given)["launchRun"]
    if launched["__typename"] != "LaunchRunSuccess":
        raise RuntimeError(f"{launched}")
    return str(launched["run"]["runId"])


def _runs(made: Development) -> list[dict[str, Any]]:
    return list(made.ask(graphql.RUNS)["runsOrError"]["results"])


def _ended(made: Development) -> list[dict[str, Any]]:
    return [run for run in _runs(made) if run["status"] in ENDED]


def _say_figures(made: Development, latency: float, name: str, seconds: float) -> None:
    requests, concurrency = made.requests(), Settings.model_fields["concurrency"].default
    ideal = len(requests) * latency / 1000 / concurrency
    most = max((request["in_flight"] for request in requests), default=0)
    say(
        f"{name}: {len(requests):,} requests, {seconds:.1f} s, {seconds / ideal:.2f} times the {ideal:.1f} s "
        f"of {latency:g} ms at {concurrency} in flight (most seen {most})"
    )


def computed_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
