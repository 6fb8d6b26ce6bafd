"""Other processes for tests: they hold a lock, read a file, or die before they close it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb

from warehouse.store.lock import COMPLETE, file_lock, work_lock

ROOT = Path(__file__).resolve().parents[3]


def begun(what: str, path: Path) -> subprocess.Popen[str]:
    """Another process, doing one of the following to a file, of which the first line has been read."""
    command = [sys.executable, "-m", "tests.unit.warehouse.other_process", what, str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if process.stdout:
        process.stdout.readline()
    return process


def hold(path: Path) -> None:
    """Take a lock and keep it."""
    with file_lock(path, 5):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        time.sleep(60)


def work(data_dir: Path) -> None:
    """Take the work lock and keep it."""
    with work_lock(data_dir, "brokerbi sync", on_wait=print, remedy="Run it again.", completed_by=COMPLETE):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        time.sleep(60)


def read(path: Path) -> None:
    """Keep a file open for reading."""
    with duckdb.connect(path, read_only=True):
        sys.stdout.write("open\n")
        sys.stdout.flush()
        time.sleep(60)


def write(path: Path) -> None:
    """Keep a file open for writing, so that no other process can open it."""
    with duckdb.connect(path):
        sys.stdout.write("open\n")
        sys.stdout.flush()
        time.sleep(60)


def scribble(path: Path) -> None:
    """Write to a file and die before it is closed."""
    connection = duckdb.connect(path)
    connection.execute("INSERT INTO bi.sales (id) VALUES ('scribbled')")
    os._exit(0)


if __name__ == "__main__":
    {"hold": hold, "work": work, "read": read, "write": write, "scribble": scribble}[sys.argv[1]](
        Path(sys.argv[2])
    )
