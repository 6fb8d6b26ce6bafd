"""Dagster on PostgreSQL with many shards: the time of its pages, connections, rows, and memory of a location.

    .venv-scale/bin/python -m tests.tools.scale.locations [--shards 10] [--customers 100] [--months 120]

Makes a PostgreSQL cluster of its own (with Debian's pg_createcluster, so as root), starts every shard's code,
a web page and a daemon as `brokerbi shards render` has it, asks the page what its matrix of partitions asks,
and launches six runs against an address where nobody answers. Fails when a page takes two seconds, a location
300 MB, or all together 60 connections; takes everything it made away again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from pipelines.months import Month
from pipelines.shards.render import environment, rendered
from pipelines.shards.shards import Shard, ShardCustomer, ShardLogin, Shards
from tests.tools.nights.graphql import LAUNCH, READY
from tests.tools.nights.server import today
from tests.tools.telling import conclude, say

BIN = Path(sys.executable).parent
DAGSTER = str(BIN / "dagster")
PAGE_SECONDS, LOCATION_MB, CONNECTIONS, RUNS = 2.0, 300.0, 60, 6
MATRIX = """
query ($key: AssetKeyInput!) {
  assetNodeOrError(assetKey: $key) {
    ... on AssetNode {
      id partitionKeyConnection: partitionKeysByDimension {name partitionKeys}
      partitionStats {numPartitions numMaterialized numFailed}
      assetPartitionStatuses {
        ... on MultiPartitionStatuses {ranges {primaryDimStartKey primaryDimEndKey}}
      }
    }
  }
}
"""
WHOSE = "SELECT usename, count(*) FROM pg_stat_activity WHERE datname = 'dagster' GROUP BY 1"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--customers", type=int, default=100)
    parser.add_argument("--months", type=int, default=120)
    parser.add_argument(
        "--port", type=int, default=55434, help="of PostgreSQL; those after it are the others'"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgres(given.port):
        return conclude(measured(Path(folder), given))


def shards_of(
    folder: Path,
    port: int,
    customers: Sequence[Sequence[str]],
    *,
    requests_per_second: float,
    concurrency: int,
    **settings: str,
) -> Shards:
    """A shard for each list of customers; their code is reached at the tenth port from this one on."""
    return Shards(
        shard=tuple(
            Shard(
                name=f"s{number}",
                port=port + 10 + number,
                login="l",
                requests_per_second=requests_per_second,
                concurrency=concurrency,
                data_dir=folder / f"s{number}",
                customers=tuple(ShardCustomer(id=one) for one in mine),
            )
            for number, mine in enumerate(customers)
        ),
        login={"l": ShardLogin(username="sandbox", requests_per_second=1000, concurrency=50)},
        settings=settings,
    )


def measured(folder: Path, given: argparse.Namespace) -> Iterator[str]:
    start = Month.of(today()).plus(1 - given.months)
    shards = shards_of(
        folder,
        given.port,
        [[f"M{number}x{one:03}" for one in range(given.customers)] for number in range(given.shards)],
        requests_per_second=1,
        concurrency=1,
        base_url="https://127.0.0.1:9",  # of a service that nobody serves
        start=str(start),
    )
    with dagster_of(shards, folder, given.port) as (page, code, start_daemon):
        yield from slow_pages(page)
        start_daemon()
        yield from crowded(page, shards, given)
        yield from large(code)
        rows = sql(given.port, "SELECT count(*) FROM event_logs")
        say(f"{rows} rows of events after {RUNS} runs that fetched nothing")


@contextmanager
def dagster_of(
    shards: Shards, folder: Path, port: int, **more: str
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], Callable[[], None]]]:
    """Dagster of all shards as rendered: the page's address, the locations, and what starts the daemon."""
    (folder / "login_l").write_text("sandbox")
    home = folder / "dagster"
    home.mkdir()
    files = rendered(shards)
    (home / "dagster.yaml").write_text(files["hosts/dagster.yaml"].replace("port: 5432", f"port: {port}"))
    (home / "workspace.yaml").write_text(files["hosts/workspace.yaml"])
    common = {name: value for name, value in os.environ.items() if not name.startswith("BROKERBI_")} | {
        "DAGSTER_HOME": str(home),
        "DAGSTER_POSTGRES_HOST": "127.0.0.1",
        "DAGSTER_POSTGRES_USER": "dagster",
        "DAGSTER_POSTGRES_PASSWORD": "dagster",
        "DAGSTER_POSTGRES_DB": "dagster",
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS": "yes",
        "BROKERBI_CONFIG": os.devnull,
        **more,
    }
    subprocess.run([DAGSTER, "instance", "migrate"], env=common, check=True, capture_output=True)
    processes: list[subprocess.Popen[bytes]] = []
    code = []
    workspace = ["--workspace", str(home / "workspace.yaml")]

    def start_daemon() -> None:
        processes.append(
            started([str(BIN / "dagster-daemon"), "run", *workspace], common, folder / "daemon.log")
        )

    try:
        for shard in shards.shard:
            own = environment(shard, shards, secrets=folder, data_dir=shard.data_dir)
            words = ["code-server", "start", "--host", "127.0.0.1", "--port", str(shard.port)]
            what = ["--module-name", "assets.definitions", "--location-name", shard.name]
            code.append(started([DAGSTER, *words, *what], common | own, folder / f"{shard.name}.log"))
        processes += code
        page = f"http://127.0.0.1:{port + 1}/graphql"
        began = time.perf_counter()
        for shard in shards.shard:
            wait_for_code(shard.port, common)
        say(f"{len(code)} locations are up after {time.perf_counter() - began:.0f} s")
        began = time.perf_counter()
        where = ["--host", "127.0.0.1", "--port", str(port + 1)]
        processes.append(
            started([str(BIN / "dagster-webserver"), *where, *workspace], common, folder / "page.log")
        )
        wait_for_page(page, len(code))
        say(f"the workspace is loaded after {time.perf_counter() - began:.0f} s")
        yield page, code, start_daemon
    finally:
        for process in reversed(processes):
            end(process)


def slow_pages(page: str) -> Iterator[str]:
    """The queries of the page of partitions, each the second time as well."""
    for attempt in ("first", "again"):
        for shard in ("s0", "s9"):
            began = time.perf_counter()
            found = ask(page, MATRIX, {"key": {"path": [shard, "sales"]}})
            took = time.perf_counter() - began
            number = ((found.get("assetNodeOrError") or {}).get("partitionStats") or {}).get("numPartitions")
            say(f"partitions of sales of {shard}, {attempt}: {took:.2f} s, {number} of them")
            if took > PAGE_SECONDS:
                yield f"the partitions of {shard} took {took:.2f} s"


def crowded(page: str, shards: Shards, given: argparse.Namespace) -> Iterator[str]:
    """Six runs of six shards at once, and the most connections there were."""
    month = Month.of(today())
    for shard in shards.shard[:RUNS]:
        first, last = shard.customers[0].id, shard.customers[-1].id
        tags = {
            "dagster/asset_partition_range_start": f"{first}|{month}",
            "dagster/asset_partition_range_end": f"{last}|{month}",
        }
        selector = {
            "repositoryLocationName": shard.name,
            "repositoryName": "__repository__",
            "jobName": "nightly",
        }
        metadata = {"tags": [{"key": key, "value": value} for key, value in tags.items()]}
        launched = ask(
            page,
            LAUNCH,
            {"given": {"selector": selector, "runConfigData": {}, "executionMetadata": metadata}},
        )
        if launched["launchRun"]["__typename"] != "LaunchRunSuccess":
            yield f"{shard.name}: {launched}"
    most, going = 0, 0
    for _ in range(90):
        found = int(sql(given.port, "SELECT count(*) FROM pg_stat_activity WHERE datname = 'dagster'"))
        running = int(sql(given.port, "SELECT count(*) FROM runs WHERE status = 'STARTED'"))
        most, going = max(most, found), max(going, running)
        time.sleep(1)
    say(f"{going} runs at once, at most {most} connections")
    if most > CONNECTIONS:
        yield f"{most} connections"


def large(code: Sequence[subprocess.Popen[bytes]]) -> Iterator[str]:
    """What each location holds in memory that is its own, its server and what that started."""
    for process in code:
        ids = [process.pid, *children(process.pid)]
        sizes = [proportional(one) for one in ids]
        if process is code[0]:
            say(f"a location: {' + '.join(f'{size:.0f}' for size in sizes)} MB")
        if sum(sizes) > LOCATION_MB:
            yield f"a location takes {sum(sizes):.0f} MB"


def children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(one) for one in found.split()]


def proportional(pid: int) -> float:
    """Megabytes of a process, what it shares with others divided among them."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def started(command: Sequence[str], env: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as out:
        return subprocess.Popen(command, env=env, stdout=out, stderr=out, start_new_session=True)


def end(process: subprocess.Popen[bytes]) -> None:
    for signed in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signed)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)


def wait_for_code(port: int, env: dict[str, str]) -> None:
    for _ in range(600):
        words = [DAGSTER, "api", "grpc-health-check", "--port", str(port)]
        if subprocess.run(words, env=env, capture_output=True, check=False).returncode == 0:
            return
        time.sleep(1)
    raise RuntimeError(f"no code at {port}")


def wait_for_page(page: str, locations: int) -> None:
    for _ in range(600):
        with suppress(URLError, ConnectionError, KeyError, TypeError):
            entries = ask(page, READY)["workspaceOrError"]["locationEntries"]
            if [one["loadStatus"] for one in entries] == ["LOADED"] * locations:
                return
        time.sleep(1)
    raise RuntimeError("the page does not come up")


def ask(page: str, query: str, variables: object = None) -> dict[str, Any]:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = Request(page, body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=300) as answer:
        found = json.load(answer)
    if "errors" in found:
        raise RuntimeError(str(found["errors"])[:500])
    return dict(found["data"])


def sql(port: int, statement: str) -> str:
    words = ["psql", "-h", "127.0.0.1", "-p", str(port), "-U", "dagster", "-d", "dagster", "-tAc", statement]
    done = subprocess.run(
        words, env={**os.environ, "PGPASSWORD": "dagster"}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@contextmanager
def postgres(port: int) -> Iterator[None]:
    """A cluster of PostgreSQL on this port with a database for Dagster, dropped afterwards."""
    version = max(path.name for path in Path("/usr/lib/postgresql").iterdir())
    name = f"shards{port}"
    quiet = {"check": True, "capture_output": True}
    subprocess.run(["pg_createcluster", version, name, "--port", str(port)], **quiet)  # type: ignore[call-overload]
    try:
        subprocess.run(["pg_ctlcluster", version, name, "start"], **quiet)  # type: ignore[call-overload]
        for statement in (
            "CREATE ROLE dagster LOGIN PASSWORD 'dagster'",
            "CREATE DATABASE dagster OWNER dagster",
        ):
            words = ["runuser", "-u", "postgres", "--", "psql", "-p", str(port), "-c", statement]
            subprocess.run(words, **quiet, cwd="/")  # type: ignore[call-overload]
        yield
    finally:
        subprocess.run(["pg_dropcluster", "--stop", version, name], check=False, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
