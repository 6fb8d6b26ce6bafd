"""Processes that hold a lock and are stopped, not killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[int]:
    """The id of a process that has begun to hold something and was stopped, not killed."""
    assert process.stdout is not None
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGSTOP)
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate(timeout=60)


def locking(file: Path) -> subprocess.Popen[str]:
    """A process that locks a file of the pace for good."""
    code = (
        "import os, sys, time, filelock; from pathlib import Path; "
        "one = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); filelock.lock_descriptor(one); "
        "print('began', flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
