"""Races against the best peer and a floor without guarantees, on one machine, in turns; the middle counts.

`python -m tests.tools.bench.race` (`make bench`) writes docs/speed.json and the table in docs/speed.md. With
`--checkout DIR` another checkout of the product races too, and results are kept only where `--results` says.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import tomllib
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.bench.results import FLOOR, PINS, Cost, Result, keep, table
from tests.tools.bench.stages import FIRST, OPTIONS, PAGE_SIZE, Stage

ROOT = Path(__file__).resolve().parents[3]
OURS = "brokerbi sync"
DEFAULTS, PARQUET, ARROW = "dlt, defaults", "dlt, parquet loader", "dlt, Arrow tables"
WAYS = {DEFAULTS: "defaults", PARQUET: "parquet", ARROW: "arrow"}
CONCURRENCY = 5
LONGEST = 1800.0
LOOK_EVERY = 0.02
MOST_AT_DEFAULTS = 1_000_000
"""Rows beyond which dlt is not asked to work at its defaults: it takes a gigabyte for every 100,000."""


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


def contestants(stage: Stage, checkouts: Mapping[str, Path]) -> list[str]:
    """Who can race on a stage: Arrow tables keep trees as they are, so they are for flat rows only."""
    flat = stage.answers_as == "running"
    takes_minutes = stage.rows > MOST_AT_DEFAULTS or stage.name.startswith("running-")
    return [
        *checkouts,
        FLOOR,
        PARQUET,
        *([ARROW] if flat else []),
        *([] if takes_minutes else [DEFAULTS]),
    ]


def race(
    name: str, stage: Stage, at: Service, directory: Path, peer: Path | None, checkouts: Mapping[str, Path]
) -> Cost:
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
    elif name == FLOOR:
        command = [sys.executable, "-m", "tests.tools.bench.floor", str(spec)]
    else:
        command = [str(peer), str(Path(__file__).with_name("peer.py")), str(spec), WAYS[name]]
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
    """What the floor and dlt are told."""
    return {
        "answers": stage.answers_as,
        "base_url": at.base_url,
        "path": stage.path,
        "windows": [[customer, str(first), str(last)] for customer, first, last in stage.windows()],
        "paged": stage.kind.is_paged,
        "page_size": PAGE_SIZE,
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
        "PAGE_SIZE": str(PAGE_SIZE),
        "REQUESTS_PER_SECOND": "1000",
        "LARGEST_ANSWER_MB": "2048",
    }
    return {f"BROKERBI_{name}": value for name, value in settings.items()}


def installed_peer(directory: Path) -> Path:
    """The Python of an environment that holds dlt in the pinned versions, made now if need be."""
    python, stamp = directory / "bin" / "python", directory / PINS.name
    pins = PINS.read_text("utf-8")
    if not stamp.exists() or stamp.read_text("utf-8") != pins:
        venv.create(directory, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", PINS], check=True)
        stamp.write_text(pins, "utf-8")
    return python


def cost_of(command: Sequence[str], environment: Mapping[str, str], output: Path) -> tuple[int, Cost]:
    """Run a command to its end, or kill it after `LONGEST` seconds: exit code and cost with its children."""
    began = time.perf_counter()
    with output.open("wb") as written:
        process = subprocess.Popen(
            command, env=dict(environment), stdout=written, stderr=subprocess.STDOUT, start_new_session=True
        )
        watch = _MemoryWatch(process.pid)
        alarm = threading.Timer(LONGEST, lambda: os.killpg(process.pid, 9))
        alarm.start()
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        alarm.cancel()
        watch.over.set()
        watch.join()
        process.returncode = os.waitstatus_to_exitcode(status)
    peak = max(watch.peak, used.ru_maxrss * 1024)
    return process.returncode, Cost(seconds, used.ru_utime + used.ru_stime, peak)


class _MemoryWatch(threading.Thread):
    """Looks at the memory of a process and its descendants until it is over."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.over = threading.Event()
        self._process = process

    def run(self) -> None:
        while not self.over.wait(LOOK_EVERY):
            self.peak = max(self.peak, sum(map(self._resident, self._family())))

    def _family(self) -> list[int]:
        found = [self._process]
        for one in found:
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{one}/task").iterdir():
                    found += map(int, (task / "children").read_text("ascii").split())
        return found

    def _resident(self, process: int) -> int:
        with contextlib.suppress(OSError, IndexError):
            pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")
        return 0


def races(name: str, size: int, given: argparse.Namespace) -> list[Result]:
    """Every contestant on one stage, in turns; dlt at its defaults, who takes minutes, once."""
    stage = Stage.of(name, size)
    checkouts = {OURS: ROOT} | {f"{OURS} of {path.name}": path.resolve() for path in given.checkout}
    names = [one for one in contestants(stage, checkouts) if not given.only or one in given.only]
    names += [one for one in checkouts if one != OURS and one not in names]
    peer = installed_peer(ROOT / ".dev" / "peer") if WAYS.keys() & set(names) else None
    costs: dict[str, list[Cost]] = {one: [] for one in names}
    with service(stage, size, given) as at:
        for number in range(given.rounds):
            for one in names[number % len(names) :] + names[: number % len(names)]:
                if one == DEFAULTS and number:
                    continue
                with TemporaryDirectory(prefix="race-", dir=given.directory) as directory:
                    costs[one].append(race(one, stage, at, Path(directory), peer, checkouts))
                _say(f"{name} {size}, round {number + 1}: {one} took {costs[one][-1].seconds:.1f} s")
                time.sleep(given.pause)
        return [Result.of(stage, one, of_one, at.bytes, given.latency) for one, of_one in costs.items()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Race on every stage, print the table, and keep it."""
    given = _parser().parse_args(arguments)
    measured: list[Result] = []
    for name in OPTIONS:
        if size := getattr(given, name.replace("-", "_")):
            measured += races(name, size, given)
    results = given.results or (None if given.checkout else ROOT / "docs")
    if results:
        keep(measured, datetime.now(UTC).replace(microsecond=0, tzinfo=None), results)
    print(table(measured))  # noqa: T201


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, option in OPTIONS.items():
        parser.add_argument(f"--{name}", type=int, default=option.default, help=f"{option.help} (0: none)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--only", action="append", choices=sorted({OURS, FLOOR, *WAYS}))
    parser.add_argument(
        "--checkout", action="append", type=Path, default=[], help="another checkout that races as well"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--results", type=Path, help="where the results are written (default: docs)")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between races")
    parser.add_argument("--directory", type=Path, help="where the races write (default: temporary files)")
    return parser


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
