"""What came of the races? Kept as JSON, and told as one table beside a description of the machine."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from tests.tools.bench.contestants import FLOOR, PINS
from tests.tools.bench.measuring import Cost
from tests.tools.bench.stages import Stage

MEGABYTE = 1_000_000
BEGIN, END = "<!-- measured by `make bench` -->", "<!-- end of what was measured -->"
HEAD = "| Stage | Rows | Who | rows/s | MB/s | seconds | CPU seconds | peak MB | of the floor |"
RULE = "|---|--:|---|--:|--:|--:|--:|--:|--:|"
LIBRARIES = ("duckdb", "httpx", "polars", "zstandard")


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


def told(results: Iterable[Result]) -> str:
    """One table; who is fastest stands first on every stage."""
    floors = {one.key: one.seconds for one in results if one.who == FLOOR}
    return "\n".join([HEAD, RULE, *(_line(one, floors.get(one.key)) for one in results)])


def keep(measured: Sequence[Result], when: datetime, docs: Path) -> None:
    """Put what was measured in the place of what was measured before on the same stages."""
    kept = docs / "speed.json"
    before: dict[str, object] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    races: dict[str, object] = dict(_mapping(before.get("races")))
    for key in dict.fromkeys(one.key for one in measured):
        results = [asdict(one) for one in measured if one.key == key]
        races[key] = {"measured_at_utc": when.isoformat(), "machine": machine(), "results": results}
    docs.mkdir(exist_ok=True)
    kept.write_text(json.dumps({"races": races}, indent=2, ensure_ascii=False) + "\n", "utf-8")
    _quote(docs / "speed.md", races)


def machine() -> dict[str, object]:
    """What it was measured on, and with what."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    peers = dict(line.split("==") for line in PINS.read_text("utf-8").split())
    return {
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
        "memory_gb": round(memory, 1),
        "load_average": [round(one, 1) for one in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "dlt": peers["dlt"],
        "duckdb of dlt": peers["duckdb"],
    }


def _processor() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text("utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.machine()


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


def _quote(page: Path, races: Mapping[str, object]) -> None:
    """Put the table between the two marks of the page."""
    results: list[Result] = []
    said: list[tuple[object, Mapping[str, object]]] = []
    for race in races.values():
        found = _mapping(race)
        results += [Result(**one) for one in _list(found["results"])]
        said.append((found["measured_at_utc"], _mapping(found["machine"])))
    if not page.exists() or not said:
        return
    when, on = max(said, key=lambda pair: str(pair[0]))
    about = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in on.items())
    text = f"{BEGIN}\n\nLast measured {when} UTC on: {about}.\n\n{told(results)}\n\n{END}"
    old = page.read_text("utf-8")
    page.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: text, old, flags=re.DOTALL), "utf-8")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else []
