"""How long the nightly run of twenty customers takes, and how much of that is due to Dagster.

`python -m tests.tools.night.night` (`make night`) requests all reports of 20 customers at a latency of 50 ms:
with `brokerbi sync`, then with the nightly run of a server, three times each. Each time is compared with that
of the network alone: requests times latency, divided by the number of requests in flight.
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
from tests.tools.messages import say
from tests.tools.night import graphql
from tests.unit.repository.files import ROOT

MONTHS = 3
FIRST_OFFICE = 30011
ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})
NIGHT = {"brokerbi/night": "a night", "dagster/priority": "10"}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8791, help="the first of three ports")
    parser.add_argument("--customers", type=int, default=20)
    parser.add_argument("--latency", type=float, default=50.0, help="milliseconds")
    parser.add_argument("--rounds", type=int, default=3, help="the number of syncs and of nightly runs")
    options = parser.parse_args()
    customers = [f"M{FIRST_OFFICE + number}" for number in range(options.customers)]
    first = this_month().plus(1 - MONTHS)
    sandbox_options = f"--offices {max(options.customers, 7)} --latency {options.latency}"
    variables = {"CUSTOMERS": ",".join(customers), "FROM": first, "SANDBOX": sandbox_options}
    with (
        TemporaryDirectory(prefix="night", ignore_cleanup_errors=True) as folder,
        make_dev(Path(folder) / "dev", options.port, variables) as dev,
    ):
        say("fetching everything once, so that syncs and nightly runs begin with the same data")
        plain = Path(folder) / "plain"
        environment = _environment(dev, customers, first, plain)
        _sync(environment)
        shutil.copytree(plain, dev.directory, dirs_exist_ok=True)
        for _ in range(options.rounds):
            dev.forget_requests()
            began, cpu_before = time.monotonic(), cpu_seconds_of_children()
            _sync(environment, "--no-publish")
            seconds = time.monotonic() - began
            _say_figures(dev, options.latency, "sync", seconds)
            say(f"sync: {cpu_seconds_of_children() - cpu_before:.1f} s of CPU")
            _measure_night(dev, options.latency, customers, first)
    return 0


def _environment(dev: Development, customers: Sequence[str], first: Month, data_dir: Path) -> dict[str, str]:
    """The environment of a sync with the settings of the server, but another data directory."""
    ours = {
        "CONFIG": os.devnull,
        "BASE_URL": dev.sandbox,
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


def _measure_night(dev: Development, latency: float, customers: Sequence[str], first: Month) -> None:
    """Measure a nightly run: the run itself, and the time from its launch until the file is published."""
    dev.forget_requests()
    published = dev.directory / "warehouse.duckdb"
    before, began = published.stat().st_mtime, time.monotonic()
    run_id = _launch(dev, partition_key(customers[0], first), partition_key(customers[-1], this_month()))
    run = wait(lambda: next((run for run in _ended(dev) if run["runId"] == run_id), None), every=0.2)
    if run["status"] != "SUCCESS":
        raise RuntimeError(f"the nightly run ended as {run['status']}")
    _say_figures(dev, latency, "nightly run", float(run["endTime"]) - float(run["startTime"]))
    wait(lambda: published.stat().st_mtime > before, every=0.2)
    _say_figures(dev, latency, "nightly run until published", time.monotonic() - began)
    wait(lambda: len(_ended(dev)) == len(_runs(dev)))


def _launch(dev: Development, first: str, last: str) -> str:
    """Launch a nightly run of the partitions from `first` to `last`; returns its id."""
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last, **NIGHT}
    tagged = [{"key": key, "value": value} for key, value in tags.items()]
    params = {"selector": graphql.NIGHTLY, "runConfigData": {}, "executionMetadata": {"tags": tagged}}
    launched = dev.query(graphql.LAUNCH, params)["launchRun"]
    if launched["__typename"] != "LaunchRunSuccess":
        raise RuntimeError(f"{launched}")
    return str(launched["run"]["runId"])


def _runs(dev: Development) -> list[dict[str, Any]]:
    return list(dev.query(graphql.RUNS)["runsOrError"]["results"])


def _ended(dev: Development) -> list[dict[str, Any]]:
    return [run for run in _runs(dev) if run["status"] in ENDED]


def _say_figures(dev: Development, latency: float, name: str, seconds: float) -> None:
    requests, concurrency = dev.requests(), Settings.model_fields["concurrency"].default
    ideal = len(requests) * latency / 1000 / concurrency
    most_in_flight = max((request["in_flight"] for request in requests), default=0)
    say(
        f"{name}: {len(requests):,} requests, {seconds:.1f} s, {seconds / ideal:.2f} times the {ideal:.1f} s "
        f"of {latency:g} ms at {concurrency} in flight (at most {most_in_flight} seen)"
    )


def cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
