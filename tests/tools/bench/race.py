"""Race of a sync against a floor without guarantees, on one machine, in turns; the median counts.

`python -m tests.tools.bench.race` (`make bench`) prints a table with one race for each size of windows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.tools.bench.floor import CONCURRENCY
from tests.tools.bench.service import CUSTOMER, FIRST, windows
from tests.tools.messages import say

ROOT = Path(__file__).resolve().parents[3]
OURS, FLOOR = "brokerbi sync", "floor"
HEAD = "| Rows | Window rows | Program | rows/s | seconds | CPU seconds | peak MB | times the floor's CPU |"
RULE = "|--:|--:|---|--:|--:|--:|--:|--:|"


@dataclass(frozen=True)
class Cost:
    """The elapsed seconds and CPU seconds of a command, and its peak memory."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@contextmanager
def service(window_count: int, rows_of_window: int) -> Iterator[str]:
    """Serve in a separate process while the body runs; yields the address."""
    command = [sys.executable, "-m", "tests.tools.bench.service", str(window_count), str(rows_of_window)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"  # its input ends with the body


def race(name: str, base_url: str, window_count: int, directory: Path) -> Cost:
    """Run one program, with an empty directory; raises RuntimeError if it fails."""
    # as a user runs it: Python caches the bytecode of our modules, as pip did for the libraries
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **_settings(base_url, directory)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    arguments = [base_url, str(window_count), str(directory)]
    command = [sys.executable, "-P", "-m", "tests.tools.bench.floor", *arguments]
    if name == OURS:
        last = f"{windows(window_count)[-1][1]:%Y-%m}"
        program = "import sys; from pipelines.cli.main import main; sys.exit(main())"
        command = [sys.executable, "-P", "-c", program, "sync"]
        command += ["--report", "running_commissions", "--from", str(FIRST), "--to", last]
    code, cost = cost_of(command, environment, directory / "output.log")
    if code:
        raise RuntimeError(f"{name} ended with {code}: {(directory / 'output.log').read_text()[-2000:]}")
    return cost


def _settings(base_url: str, directory: Path) -> dict[str, str]:
    """The settings of a user, with the highest rate allowed, and a size limit that splits no window."""
    settings = {
        "CONFIG": os.devnull,
        "BASE_URL": base_url,
        "USERNAME": "bench",
        "PASSWORD": "bench",
        "CUSTOMERS": CUSTOMER,
        "START": str(FIRST),
        "DATA_DIR": str(directory / "data"),
        "CONCURRENCY": str(CONCURRENCY),
        "REQUESTS_PER_SECOND": "1000",
        "LARGEST_ANSWER_MB": "2048",
    }
    return {f"BROKERBI_{name}": value for name, value in settings.items()}


def cost_of(command: Sequence[str], environment: Mapping[str, str], output: Path) -> tuple[int, Cost]:
    """Run a command; returns its exit code and its cost, including that of its children."""
    began = time.perf_counter()
    with output.open("wb") as written:
        process = subprocess.Popen(command, env=dict(environment), stdout=written, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def races(rows: int, rows_of_window: int, rounds: int) -> list[str]:
    """Race with windows of one size, the contestants in turns; returns the lines of the table."""
    window_count = -(-rows // rows_of_window)
    contestants = [OURS, FLOOR]
    costs: dict[str, list[Cost]] = {name: [] for name in contestants}
    with service(window_count, rows_of_window) as base_url:
        for number in range(rounds):
            for name in contestants[number % 2 :] + contestants[: number % 2]:
                with TemporaryDirectory(prefix="race-") as directory:
                    costs[name].append(race(name, base_url, window_count, Path(directory)))
                say(f"{rows_of_window:,} rows, round {number + 1}: {name} {costs[name][-1].seconds:.1f} s")
    floor = median(cost.cpu_seconds for cost in costs[FLOOR])
    return [_line(window_count * rows_of_window, rows_of_window, name, costs[name], floor) for name in costs]


def _line(rows: int, rows_of_window: int, name: str, costs: Sequence[Cost], floor: float) -> str:
    seconds, cpu_seconds = median(cost.seconds for cost in costs), median(cost.cpu_seconds for cost in costs)
    cells = [
        f"{rows:,}",
        f"{rows_of_window:,}",
        name,
        f"{rows / seconds:,.0f}",
        f"{seconds:.1f}",
        f"{cpu_seconds:.1f}",
        f"{max(cost.peak_bytes for cost in costs) / 1e6:.0f}",
        f"{cpu_seconds / floor:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Race with windows of each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=480_000)
    # no round number, because a window with a round number of rows is requested again in halves
    parser.add_argument("--of-window", type=int, nargs="+", default=[20_001, 40_001])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lines = [line for size in options.of_window for line in races(options.rows, size, options.rounds)]
    print("\n".join([HEAD, RULE, *lines]))  # noqa: T201


if __name__ == "__main__":
    main()
