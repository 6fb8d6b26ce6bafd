"""Other processes for tests: they load, publish or compact until they are killed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from secrets import token_hex

import duckdb

from tests.unit.warehouse.given import JANUARY, NOON, hours, sales
from warehouse.database import Store
from warehouse.errors import WarehouseError
from warehouse.lock import locked_file
from warehouse.publish import publish, rollback
from warehouse.retention import compact
from warehouse.window_result import WindowResult
from warehouse.write_session import WriteSession, load_results

ROWS = 3_000
ROOT = Path(__file__).resolve().parents[3]


def begun(*arguments: object) -> subprocess.Popen[str]:
    """Another process, doing what it is told, of which the first line has been read."""
    command = [sys.executable, "-m", "tests.unit.warehouse.other_process", *map(str, arguments)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
    if process.stdout:
        process.stdout.readline()
    return process


def say(line: str) -> None:
    """Tell the test that began this process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def big(load_id: str, customer: str, fetched: float) -> WindowResult:
    """A load that takes a moment to write."""
    rows = [(JANUARY, f"{load_id} {number}", "1.5") for number in range(ROWS)]
    return sales(load_id, *rows, customer=customer, fetched=hours(fetched))


def work(data_dir: Path, what: str, customer: str, rounds: int) -> None:
    """What a process of its own does until it is killed, or so many times; `rounds` 0 means for ever."""
    store = Store(data_dir, lock_seconds=60)
    say("began")
    for number in count(1) if rounds == 0 else range(1, rounds + 1):
        if what == "load":
            load_results(store, [big(f"{customer} {number}", customer, number)])
        elif what == "compact":
            compact(data_dir)
        else:
            publish(data_dir, keep=2, now=NOON)
            rollback(data_dir, now=NOON) if number > 1 else None


def read(path: Path) -> None:
    """Keep a file open for reading."""
    with duckdb.connect(path, read_only=True):
        say("open")
        time.sleep(60)


def scribble(path: Path) -> None:
    """Write to a file and die before it is closed."""
    connection = duckdb.connect(path)
    connection.execute("INSERT INTO bi.sales (id) VALUES ('scribbled')")
    os._exit(0)


def sit(data_dir: Path) -> None:
    """WindowResult one small group after the other in one sitting, and say which are loaded."""
    say("began")
    with WriteSession(Store(data_dir)) as sitting:
        for number in count(1):
            sitting.load([sales(f"l{number}", (JANUARY, "1", "1"), customer=f"M{number}")])
            say(f"l{number}")


def hold(path: Path) -> None:
    """Take a lock and keep it."""
    with locked_file(path, 5):
        say("held")
        time.sleep(60)


def fill(data_dir: Path, limit: int) -> None:
    """WindowResult more than fits into files of a limited size."""
    say("began")
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        for number in count(1):
            rows = [(JANUARY, token_hex(40), "1") for _ in range(ROWS)]
            load_results(Store(data_dir), [sales(f"l{number}", *rows, customer=f"M{number}")])
    except WarehouseError as error:
        say(str(error))


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "fill":
        fill(Path(where), int(rest[0]))
    elif rest:
        work(Path(where), what, rest[0], int(rest[1]))
    else:
        {"hold": hold, "read": read, "scribble": scribble, "sit": sit}[what](Path(where))
