"""Three hosts under one pace: what the service sees of them, also when one is killed, stopped or cut off.

`.venv-scale/bin/python -m tests.tools.scale.hosts [SCENARIO ...]` needs root, `ip netns` and PostgreSQL.
Each host is a name space with a data directory of its own, whose `brokerbi sync` asks for ten of thirty
customers; the log of the sandbox is the judge.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from tests.scale.conftest import Cluster
from tests.tools.telling import conclude, say

RATE, IN_FLIGHT = 10, 5
SERVICE, DATABASE, NETWORK = "10.77.0.254", "10.77.0.253", "10.77.0.0/24"
PORT = 8765
TRY_SECONDS = 20
SLOWEST = 9.3
ADDRESS_ONLY_HERE = """
import sys
from pipelines.sandbox import server
from pipelines.cli.main import main
import pipelines.sandbox.options as options
server.loopback = options.loopback = str  # a name space of the tool is as private as the loopback address
main(sys.argv[1:])
"""
SYNC = ["-m", "pipelines.cli.main", "sync", "--no-publish"]
SYNC_AHEAD = """
import os, sys
from datetime import timedelta
from pipelines.clock import SystemClock
from pipelines.planning.selection import Selection
from pipelines.settings.model import load_settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
class Ahead(SystemClock):
    def utc_now(self):
        return SystemClock.utc_now(self) + timedelta(minutes=55)  # an hour ahead nothing is asked
context = RunContext(clock=Ahead(), machine_clock=Ahead())
sys.exit(not sync(load_settings(os.environ), Selection(), context=context).is_well)
"""
NOT_ONCE = """
SELECT held.report, held.customer, held.month, count(load.load_id) AS loads FROM meta.months AS held
LEFT JOIN meta.loads AS load ON (held.report, held.customer) = (load.report, load.customer)
    AND list_contains(load.months, held.month) AND load.status = 'loaded'
WHERE held.month < current_date - INTERVAL 2 MONTH GROUP BY ALL HAVING loads <> 1
"""


@dataclass
class Host:
    """One host: a name space, ten customers, a data directory and what is set for it alone."""

    name: str
    customers: Sequence[str]
    folder: Path
    settings: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    is_ahead: bool = False
    codes: list[int] = field(default_factory=list)

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        command = ["ip", "netns", "exec", self.name, sys.executable]
        command += ["-c", SYNC_AHEAD] if self.is_ahead else SYNC
        self.process = subprocess.Popen(command, env={**os.environ, **self.settings}, stdout=log, stderr=log)

    def wait(self) -> int:
        assert self.process is not None
        self.codes.append(self.process.wait())
        return self.codes[-1]

    def send(self, what: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(what)

    def cut_off(self, *, again: bool = False) -> None:
        action = "del" if again else "add"
        _ip("netns", "exec", self.name, "ip", "route", action, "blackhole", f"{DATABASE}/32")

    def not_once(self) -> list[Any]:
        """Months that are not read every night and were not loaded exactly once, and those still missing."""
        with duckdb.connect(str(self.folder / "data" / "work" / "warehouse.duckdb"), read_only=True) as file:
            loads: list[Any] = file.execute(NOT_ONCE).fetchall()
        command = [sys.executable, "-m", "pipelines.cli.main", "plan", "--json"]
        done = subprocess.run(command, env={**os.environ, **self.settings}, capture_output=True, check=True)
        planned = json.loads(done.stdout)["planned"]
        left = [(one["report"], one["customer"], {*one["missing"]} - {*one["waiting"]}) for one in planned]
        return loads + [one for one in left if one[2]]


@dataclass(frozen=True)
class World:
    """The network, the database and the sandbox."""

    cluster: Cluster
    log: Path
    customers: Sequence[str]

    def restart_database(self) -> None:
        self.cluster.stop("immediate")
        time.sleep(2)
        self.cluster.start()

    def calls(self) -> list[dict[str, Any]]:
        calls = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return sorted((call for call in calls if call["customer"]), key=lambda call: call["started"])


@contextmanager
def world(folder: Path, latency: int) -> Iterator[World]:
    """A bridge with three name spaces on it, and on its address the database and the sandbox."""
    with ExitStack() as stack:
        stack.callback(_remove_network)
        _remove_network()
        _ip("link", "add", "bbhosts", "type", "bridge")
        for address in (SERVICE, DATABASE):
            _ip("addr", "add", f"{address}/24", "dev", "bbhosts")
        _ip("link", "set", "bbhosts", "up")
        for number in (1, 2, 3):
            name = f"bbhost{number}"
            _ip("netns", "add", name)
            _ip("link", "add", f"{name}o", "type", "veth", "peer", "name", "inside", "netns", name)
            _ip("link", "set", f"{name}o", "master", "bbhosts", "up")
            _ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", "inside")
            _ip("-n", name, "link", "set", "inside", "up")
            _ip("-n", name, "link", "set", "lo", "up")
        place = Path(stack.enter_context(TemporaryDirectory()))
        subprocess.run(["chown", "postgres", str(place)], check=True)
        cluster = Cluster(place / "data", DATABASE)
        (place / "data" / "pg_hba.conf").write_text(f"host all all {NETWORK} trust\nlocal all all trust\n")
        cluster.start()
        stack.callback(cluster.stop)
        log = folder / "calls.jsonl"
        words = ["sandbox", "--host", SERVICE, "--port", str(PORT), "--offices", "120", "--activity", "0.05"]
        words += ["--from", "2026-01", "--latency", str(latency), "--log", str(log)]
        sandbox = subprocess.Popen(
            ["nice", "-n", "-10", sys.executable, "-c", ADDRESS_ONLY_HERE, *words],  # it holds the stopwatch
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.callback(sandbox.kill)
        assert sandbox.stdout is not None
        introduced = next(line for line in sandbox.stdout if line.startswith("Customers: "))
        customers = introduced.removeprefix("Customers: ").strip().split(",")
        yield World(cluster, log, [one for one in customers if one.startswith("M")][:30])


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _remove_network() -> None:
    for number in (1, 2, 3):
        subprocess.run(["ip", "link", "del", f"bbhost{number}o"], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", f"bbhost{number}"], check=False, capture_output=True)
    subprocess.run(["ip", "link", "del", "bbhosts"], check=False, capture_output=True)


def hosts_of(here: World, folder: Path, own: Mapping[int, Mapping[str, str]], start: str) -> list[Host]:
    found = []
    for number in (1, 2, 3):
        place = folder / f"host{number}"
        place.mkdir(parents=True)
        customers = here.customers[number - 1 :: 3]
        settings = {
            "BROKERBI_CONFIG": "/dev/null",
            "BROKERBI_BASE_URL": f"http://{SERVICE}:{PORT}",
            "BROKERBI_ALLOW_HTTP": "true",
            "BROKERBI_USERNAME": "sandbox",
            "BROKERBI_PASSWORD": "sandbox",
            "BROKERBI_CUSTOMERS": ",".join(customers),
            "BROKERBI_START": start,
            "BROKERBI_DATA_DIR": str(place / "data"),
            "BROKERBI_REQUESTS_PER_SECOND": str(RATE),
            "BROKERBI_CONCURRENCY": str(IN_FLIGHT),
            "BROKERBI_TRY_SECONDS": str(TRY_SECONDS),
            "BROKERBI_SHARD": f"shard{number}",
            "BROKERBI_COORDINATION_URL": f"postgresql://postgres@{DATABASE}:{here.cluster.port}/postgres",
            "BROKERBI_DUE_MONTHS": "1",  # so that closed months are asked once
            "BROKERBI_DUE_MONTHS_MONTHLY": "1",
            "BROKERBI_CHANGED_MONTHS": "0",
            "POLARS_MAX_THREADS": "1",
            **own.get(number, {}),
        }
        found.append(Host(f"bbhost{number}", customers, place, settings))
    return found


@dataclass(frozen=True)
class Judgement:
    """What the service saw, from its own log."""

    most_in_a_second: int
    most_in_flight: int
    per_second: float
    shares: Mapping[str, float]
    seconds: float
    requests: int


def judge(calls: Sequence[Mapping[str, Any]], hosts: Sequence[Host]) -> Judgement:
    """The rate and the shares while all have work: from when all have begun until the first has none."""
    whose = {customer: host.name for host in hosts for customer in host.customers}
    moments = [call["started"] for call in calls]
    by_host: dict[str, list[float]] = {host.name: [] for host in hosts}
    for call in calls:
        by_host[whose[call["customer"]]].append(call["started"])
    ends = sorted([(call["started"], 1) for call in calls] + [(call["ended"], -1) for call in calls])
    under_way = most = 0
    for _, change in ends:
        under_way += change
        most = max(most, under_way)
    first, last = max(one[0] for one in by_host.values()), min(one[-1] for one in by_host.values())
    together = [moment for moment in moments if first <= moment < last]
    counts = Counter({name: sum(first <= one < last for one in times) for name, times in by_host.items()})
    later = 0
    in_a_second = 0
    for at, moment in enumerate(moments):
        while moments[later] <= moment - 1:
            later += 1
        in_a_second = max(in_a_second, at - later + 1)
    shares = {name: round(count / max(len(together), 1), 3) for name, count in sorted(counts.items())}
    seconds = last - first
    return Judgement(
        in_a_second, most, round(len(together) / max(seconds, 1e-9), 2), shares, round(seconds, 1), len(calls)
    )


Incident = Callable[[World, list[Host]], str]


def nothing(_: World, __: list[Host]) -> str:
    return ""


def killed(_: World, hosts: list[Host]) -> str:
    time.sleep(20)
    hosts[2].send(signal.SIGKILL)
    return "host 3 was killed after 20 s"


def stopped_often(_: World, hosts: list[Host], times: int = 10, seconds: float = 60) -> str:
    time.sleep(10)
    for _unused in range(times):
        hosts[2].send(signal.SIGSTOP)
        time.sleep(seconds)
        hosts[2].send(signal.SIGCONT)
        time.sleep(4)
    return f"host 3 was stopped {times} times for {seconds:g} s"


def stopped(here: World, hosts: list[Host]) -> str:
    return stopped_often(here, hosts, times=1)


def cut_off(here: World, hosts: list[Host]) -> str:
    time.sleep(20)
    began = time.monotonic()
    hosts[2].cut_off()
    time.sleep(60)
    hosts[2].cut_off(again=True)
    ended = time.monotonic()
    sent = [
        call["started"] - began
        for call in here.calls()
        if call["customer"] in hosts[2].customers and began < call["started"] < ended
    ]
    last = max(sent, default=0)
    return f"host 3 was cut off from the database for 60 s, and sent its last request {last:.2f} s after"


def restarted(here: World, _: list[Host]) -> str:
    for _unused in range(3):
        time.sleep(12)
        here.restart_database()
    return "the database lost power three times for 2 s"


@dataclass(frozen=True)
class Scenario:
    incident: Incident = nothing
    own: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    start: str = "2026-08"
    is_ahead: bool = False  # the clock of host 3
    must_be_fair: bool = True


def scenarios() -> dict[str, Scenario]:
    zones = {1: {"PGTZ": "Asia/Tokyo"}, 2: {"PGTZ": "America/Los_Angeles"}, 3: {"PGTZ": "UTC"}}
    return {
        "together": Scenario(),
        "killed": Scenario(killed, must_be_fair=False),
        "stopped": Scenario(stopped, must_be_fair=False),
        "stopped_often": Scenario(stopped_often, start="2024-01", must_be_fair=False),
        "cut_off": Scenario(cut_off, must_be_fair=False),
        "clock": Scenario(is_ahead=True),
        "zones": Scenario(own=zones),
        "restarted": Scenario(restarted, must_be_fair=False),
    }


def run(name: str, scenario: Scenario, folder: Path, latency: int) -> list[str]:
    """Let the hosts work and the incident happen, sync again until all is well, and judge the log."""
    place = folder / name
    place.mkdir(parents=True)
    with world(place, latency) as here, ExitStack() as stack:
        hosts = hosts_of(here, place, scenario.own, scenario.start)
        hosts[2].is_ahead = scenario.is_ahead
        for host in hosts:
            stack.callback(host.send, signal.SIGKILL)
        for host in hosts:
            host.start()
        told: list[str] = []
        meanwhile = threading.Thread(target=lambda: told.append(scenario.incident(here, hosts)))
        meanwhile.start()
        codes = [host.wait() for host in hosts]
        meanwhile.join()
        seen = judge(here.calls(), hosts)
        for host, code in zip(hosts, codes, strict=True):  # what is due still
            if code:
                host.start()
        again = [host.wait() if code else 0 for host, code in zip(hosts, codes, strict=True)]
        whole = judge(here.calls(), hosts)
        not_once = [row for host in hosts for row in host.not_once()]
    say(f"{name}: {told[0]} {seen}; codes {codes} then {again}")
    wrong = []
    if (most := max(seen.most_in_a_second, whole.most_in_a_second)) > RATE + 1:
        wrong.append(f"{name}: {most} requests in a second")
    if (most := max(seen.most_in_flight, whole.most_in_flight)) > IN_FLIGHT:
        wrong.append(f"{name}: {most} requests in flight")
    if scenario.must_be_fair and seen.per_second < SLOWEST:
        wrong.append(f"{name}: only {seen.per_second} requests a second")
    if scenario.must_be_fair and any(abs(share * 3 - 1) > 0.1 for share in seen.shares.values()):
        wrong.append(f"{name}: shares of {seen.shares}")
    if any(again) or not_once:
        wrong.append(f"{name}: in the end {again}, not loaded once: {not_once[:3]}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="*", help="default: all of them")
    parser.add_argument("--latency", type=int, default=250, help="milliseconds the service takes")
    parser.add_argument("--keep", type=Path, help="where data directories and logs are left")
    arguments = parser.parse_args()
    known = scenarios()
    with TemporaryDirectory() as folder:
        wrong = [
            sentence
            for name in arguments.scenario or known
            for sentence in run(name, known[name], arguments.keep or Path(folder), arguments.latency)
        ]
    return conclude(wrong)


if __name__ == "__main__":
    sys.exit(main())
