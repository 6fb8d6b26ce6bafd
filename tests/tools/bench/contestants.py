"""Who races? Ours as a user runs it, the floor, and dlt in the ways it can be run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.tools.bench.measuring import Cost, cost_of
from tests.tools.bench.stages import FIRST, Stage

ROOT = Path(__file__).resolve().parents[3]
PINS = Path(__file__).with_name("peer.txt")
OURS, FLOOR = "brokerbi sync", "floor"
DEFAULTS, PARQUET, ARROW = "dlt, defaults", "dlt, parquet loader", "dlt, Arrow tables"
WAYS = {DEFAULTS: "defaults", PARQUET: "parquet", ARROW: "arrow"}
CONCURRENCY = 5
LONGEST = 1800.0
MOST_AT_DEFAULTS = 1_000_000
"""Rows beyond which dlt is not asked to work at its defaults: it takes a gigabyte for every 100,000."""


@dataclass(frozen=True)
class Service:
    """A service under way: where it listens, and how many bytes its answers have together."""

    base_url: str
    bytes: int


@contextmanager
def service(stage: Stage, size: int, latency: float, port: int) -> Iterator[Service]:
    """The service in a process of its own, for the body."""
    command = [sys.executable, "-m", "tests.tools.bench.serving", stage.name, str(size)]
    options = ["--latency", str(latency), "--port", str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *options], cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        try:
            told = process.stdout.readline().split() if process.stdout else []
            yield Service(f"http://127.0.0.1:{int(told[0])}", int(told[1]))
        finally:
            if process.stdin:
                process.stdin.close()
            process.wait()


def contestants(stage: Stage) -> list[str]:
    """Who can race on a stage: Arrow tables keep trees as they are, so they are for flat rows only."""
    peers = [DEFAULTS] if stage.rows <= MOST_AT_DEFAULTS else []
    return [OURS, FLOOR, PARQUET, *([ARROW] if stage.report == "running_commissions" else []), *peers]


def race(name: str, stage: Stage, at: Service, directory: Path, peer: Path | None) -> Cost:
    """One race of one contestant, in a directory of its own; refuses one that did not come to its end."""
    spec = directory / "spec.json"
    spec.write_text(json.dumps(_spec(stage, at, directory)), "utf-8")
    # as a user runs it: Python keeps what it compiled of our modules, as pip did of the others
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if name == OURS:
        environment |= _settings(stage, at, directory)
        command = [str(Path(sys.executable).with_name("brokerbi")), "sync", "--report", stage.report]
        command += ["--from", str(FIRST), "--to", str(stage.last)]
    elif name == FLOOR:
        command = [sys.executable, "-m", "tests.tools.bench.floor", str(spec)]
    else:
        command = [str(peer), str(Path(__file__).with_name("peer.py")), str(spec), WAYS[name]]
    output = directory / "output.log"
    cost = cost_of(command, environment, output, LONGEST)
    if cost.ended:
        raise RuntimeError(f"{name} ended with {cost.ended}: {output.read_text('utf-8')[-2000:]}")
    return cost


def installed_peer(directory: Path) -> Path:
    """The Python of an environment that holds dlt in the pinned versions, made now if need be."""
    python, stamp = directory / "bin" / "python", directory / PINS.name
    pins = PINS.read_text("utf-8")
    if not stamp.exists() or stamp.read_text("utf-8") != pins:
        venv.create(directory, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", PINS], check=True)
        stamp.write_text(pins, "utf-8")
    return python


def _spec(stage: Stage, at: Service, directory: Path) -> Mapping[str, object]:
    return {
        "stage": stage.kind,
        "base_url": at.base_url,
        "path": stage.path,
        "windows": [[customer, str(first), str(last)] for customer, first, last in stage.windows()],
        "paged": stage.paged,
        "page_size": stage.page_size,
        "concurrency": CONCURRENCY,
        "directory": str(directory),
    }


def _settings(stage: Stage, at: Service, directory: Path) -> dict[str, str]:
    """What a user would set; the pace is what the settings allow at most."""
    return {
        "BROKERBI_CONFIG": os.devnull,
        "BROKERBI_BASE_URL": at.base_url,
        "BROKERBI_USERNAME": "bench",
        "BROKERBI_PASSWORD": "bench",
        "BROKERBI_CUSTOMERS": ",".join(stage.names),
        "BROKERBI_START": str(FIRST),
        "BROKERBI_DATA_DIR": str(directory / "data"),
        "BROKERBI_CONCURRENCY": str(CONCURRENCY),
        "BROKERBI_PAGE_SIZE": str(stage.page_size),
        "BROKERBI_REQUESTS_PER_SECOND": "1000",
        "BROKERBI_LARGEST_ANSWER_MB": "2048",
    }
