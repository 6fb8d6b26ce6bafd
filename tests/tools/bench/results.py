"""Results of the races: kept as JSON, and shown as one table beside a description of the machine."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from tests.tools.bench.stages import Stage

FLOOR = "floor"
PINS = Path(__file__).with_name("peer.txt")
MEGABYTE = 1_000_000
BEGIN, END = "<!-- measured by `make bench` -->", "<!-- end of what was measured -->"
HEAD = "| Stage | Rows | Who | rows/s | MB/s | seconds | CPU seconds | peak MB | of the floor |"
RULE = "|---|--:|---|--:|--:|--:|--:|--:|--:|"
LIBRARIES = ("duckdb", "httpx", "polars", "zstandard")


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall and of processors, and the most bytes in memory at any look."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Result:
    """The middle of all races of one contestant on one stage; memory is the most of any race."""

    stage: str
    who: str
    rows: int
    bytes: int
    requests: int
    latency: float
    rounds: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int

    @classmethod
    def of(cls, stage: Stage, who: str, costs: Sequence[Cost], size: int, latency: float) -> Result:
        seconds = median(cost.seconds for cost in costs)
        cpu = median(cost.cpu_seconds for cost in costs)
        peak = max(cost.peak_bytes for cost in costs)
        return cls(stage.name, who, stage.rows, size, stage.requests, latency, len(costs), seconds, cpu, peak)

    @property
    def key(self) -> str:
        return f"{self.stage} {self.rows} {self.latency:g}"


def table(results: Iterable[Result]) -> str:
    """One line for each contestant on each stage."""
    results = list(results)
    floors = {one.key: one.seconds for one in results if one.who == FLOOR}
    return "\n".join([HEAD, RULE, *(_line(one, floors.get(one.key)) for one in results)])


def _line(one: Result, floor: float | None) -> str:
    cells = [
        one.stage + (f", {one.latency * 1000:g} ms" if one.latency else ""),
        f"{one.rows:,}",
        one.who,
        f"{one.rows / one.seconds:,.0f}",
        f"{one.bytes / MEGABYTE / one.seconds:.1f}",
        f"{one.seconds:.1f}",
        f"{one.cpu_seconds:.1f}",
        f"{one.peak_bytes / MEGABYTE:.0f}",
        f"{floor / one.seconds:.2f}" if floor else "",
    ]
    return f"| {' | '.join(cells)} |"


def keep(measured: Sequence[Result], when: datetime, docs: Path) -> None:
    """Put what was measured in the place of what was measured before on the same stages."""
    kept, page = docs / "speed.json", docs / "speed.md"
    races: dict[str, Any] = json.loads(kept.read_text("utf-8"))["races"] if kept.exists() else {}
    for key in dict.fromkeys(one.key for one in measured):
        results = [asdict(one) for one in measured if one.key == key]
        races[key] = {"measured_at_utc": when.isoformat(), "machine": machine(), "results": results}
    docs.mkdir(exist_ok=True)
    kept.write_text(json.dumps({"races": races}, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if races and page.exists():
        latest = max(races.values(), key=lambda race: str(race["measured_at_utc"]))
        on = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in latest["machine"].items())
        rows = table(Result(**one) for race in races.values() for one in race["results"])
        text = f"{BEGIN}\n\nLast measured {latest['measured_at_utc']} UTC on: {on}.\n\n{rows}\n\n{END}"
        old = page.read_text("utf-8")
        page.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: text, old, flags=re.DOTALL), "utf-8")


def machine() -> dict[str, object]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    peers = dict(line.split("==") for line in PINS.read_text("utf-8").split())
    described = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", described.read_text("utf-8") if described.exists() else "")
    return {
        "processor": found[1] if found else platform.machine(),
        "processors": os.cpu_count() or 1,
        "memory_gb": round(memory, 1),
        "load_average": [round(one, 1) for one in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "dlt": peers["dlt"],
        "duckdb of dlt": peers["duckdb"],
    }
