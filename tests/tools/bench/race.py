"""Race of a sync against a floor without guarantees, on one machine, in turns; the median counts.

`python -m tests.tools.bench.race` (`make bench`) prints a table. With `--checkout DIR` another checkout of
the product races too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.tools.bench.stages import FIRST, OPTIONS, Stage

ROOT = Path(__file__).resolve().parents[3]
OURS, FLOOR = "brokerbi sync", "floor"
CONCURRENCY = 5
LONGEST = 1800.0
MEGABYTE = 1_000_000
HEAD = "| Stage | Rows | Who | rows/s | seconds | CPU seconds | peak MB | times the floor's CPU |"
RULE = "|---|--:|---|--:|--:|--:|--:|--:|"


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall and of processors, and the most bytes in memory."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Result:
    """The median of all races of one contestant on one stage; memory is the most of any race."""

    stage: Stage
    who: str
    cost: Cost

    @classmethod
    def of(cls, stage: Stage, who: str, costs: Sequence[Cost]) -> Result:
        seconds = median(cost.seconds for cost in costs)
        cpu_seconds = median(cost.cpu_seconds for cost in costs)
        return cls(stage, who, Cost(seconds, cpu_seconds, max(cost.peak_bytes for cost in costs)))


@dataclass(frozen=True)
class Service:
    """A running service: where it listens, and how many bytes its answers have together."""

    base_url: str
    bytes: int


@contextmanager
def service(stage: Stage, size: int, given: argparse.Namespace) -> Iterator[Service]:
    """The service in a process of its own, for the body."""
    command = [sys.executable, "-m", "tests.tools.bench.service", stage.name, str(size)]
    options = ["--latency", str(given.latency), "--port", str(given.port)]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *options], cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            port, size_of_answers = process.stdout.readline().split()
            yield Service(f"http://127.0.0.1:{int(port)}", int(size_of_answers))
        finally:
            process.stdin.close()
            process.wait()


def race(name: str, stage: Stage, at: Service, directory: Path, checkouts: Mapping[str, Path]) -> Cost:
    """One race of one contestant, in a directory of its own; refuses one that did not come to its end."""
    spec = directory / "spec.json"
    spec.write_text(json.dumps(_spec(stage, at, directory)), "utf-8")
    # as a user runs it: Python keeps what it compiled of our modules, as pip did of the others
    environment = {**os.environ, "PYTHONPATH": str(checkouts.get(name, ROOT))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if name in checkouts:
        environment |= _settings(stage, at, directory)
        command = [*_command(checkouts[name]), "sync", "--report", stage.kind.report]
        command += ["--from", str(FIRST), "--to", str(stage.last)]
    else:
        command = [sys.executable, "-m", "tests.tools.bench.floor", str(spec)]
    output = directory / "output.log"
    code, cost = cost_of(command, environment, output)
    if code:
        raise RuntimeError(f"{name} ended with {code}: {output.read_text('utf-8')[-2000:]}")
    return cost


def _command(checkout: Path) -> list[str]:
    """The program behind `brokerbi`, as pyproject.toml of a checkout names it."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, function = project["scripts"]["brokerbi"].partition(":")
    code = f"import sys; from {module} import {function}; sys.argv[0] = 'brokerbi'; sys.exit({function}())"
    return [sys.executable, "-P", "-c", code]


def _spec(stage: Stage, at: Service, directory: Path) -> Mapping[str, object]:
    """The input of the floor."""
    return {
        "answers": stage.answers_as,
        "base_url": at.base_url,
        "path": stage.path,
        "windows": [[customer, str(first), str(last)] for customer, first, last in stage.windows()],
        "concurrency": CONCURRENCY,
        "directory": str(directory),
    }


def _settings(stage: Stage, at: Service, directory: Path) -> dict[str, str]:
    """What a user would set; the pace is what the settings allow at most, and no window is halved."""
    settings = {
        "CONFIG": os.devnull,
        "BASE_URL": at.base_url,
        "USERNAME": "bench",
        "PASSWORD": "bench",
        "CUSTOMERS": ",".join(stage.names),
        "START": str(FIRST),
        "DATA_DIR": str(directory / "data"),
        "CONCURRENCY": str(CONCURRENCY),
        "REQUESTS_PER_SECOND": "1000",
        "LARGEST_ANSWER_MB": "2048",
    }
    return {f"BROKERBI_{name}": value for name, value in settings.items()}


def cost_of(command: Sequence[str], environment: Mapping[str, str], output: Path) -> tuple[int, Cost]:
    """Run a command to its end, or kill it after `LONGEST` seconds: exit code and cost with its children."""
    began = time.perf_counter()
    with output.open("wb") as written:
        process = subprocess.Popen(
            command, env=dict(environment), stdout=written, stderr=subprocess.STDOUT, start_new_session=True
        )
        alarm = threading.Timer(LONGEST, lambda: os.killpg(process.pid, 9))
        alarm.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def races(name: str, size: int, given: argparse.Namespace) -> list[Result]:
    """Every contestant on one stage, in turns."""
    stage = Stage.of(name, size)
    checkouts = {OURS: ROOT} | {f"{OURS} of {path.name}": path.resolve() for path in given.checkout}
    contestants = [*checkouts, FLOOR]
    costs: dict[str, list[Cost]] = {who: [] for who in contestants}
    with service(stage, size, given) as at:
        for number in range(given.rounds):
            first = number % len(contestants)
            for who in contestants[first:] + contestants[:first]:
                with TemporaryDirectory(prefix="race-", dir=given.directory) as directory:
                    costs[who].append(race(who, stage, at, Path(directory), checkouts))
                _say(f"{name} {size}, round {number + 1}: {who} took {costs[who][-1].seconds:.1f} s")
                time.sleep(given.pause)
    return [Result.of(stage, who, costs[who]) for who in contestants]


def table(results: Iterable[Result]) -> str:
    """One line for each contestant on each stage."""
    results = list(results)
    floors = {result.stage: result.cost.cpu_seconds for result in results if result.who == FLOOR}
    return "\n".join([HEAD, RULE, *(_line(result, floors[result.stage]) for result in results)])


def _line(result: Result, floor: float) -> str:
    cost, rows = result.cost, result.stage.rows
    cells = [
        result.stage.name,
        f"{rows:,}",
        result.who,
        f"{rows / cost.seconds:,.0f}",
        f"{cost.seconds:.1f}",
        f"{cost.cpu_seconds:.1f}",
        f"{cost.peak_bytes / MEGABYTE:.0f}",
        f"{cost.cpu_seconds / floor:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Race on every stage and print the table."""
    given = _parser().parse_args(arguments)
    measured: list[Result] = []
    for name in OPTIONS:
        if size := getattr(given, name.replace("-", "_")):
            measured += races(name, size, given)
    print(table(measured))  # noqa: T201


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, option in OPTIONS.items():
        parser.add_argument(f"--{name}", type=int, default=option.default, help=f"{option.help} (0: none)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument(
        "--checkout", action="append", type=Path, default=[], help="another checkout that races as well"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between races")
    parser.add_argument("--directory", type=Path, help="where the races write (default: temporary files)")
    return parser


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
