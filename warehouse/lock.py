"""The write lock: one file for all threads and processes of a data directory, freed when its holder dies.

Whoever waits for the lock holds a second file, so a holder that wants the lock again at once comes after the
one that waits.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from warehouse.errors import WarehouseError

POLL_SECONDS = 0.02
PRIVATE = 0o600

_MINE = threading.local()
"""Which locks this thread holds already: what is done inside a lock need not wait for it."""


@contextmanager
def locked_file(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock for the body; raises WarehouseError, naming the holder, after so many seconds.

    A thread that holds it may take it again; another thread of the same process waits like any other.
    """
    mine: set[Path] = _MINE.__dict__.setdefault("held", set())
    if path in mine:
        yield
        return
    until = time.monotonic() + seconds
    lock = FileLock(path, mode=PRIVATE, poll_interval=POLL_SECONDS, on_acquired=_write_pid)
    try:
        next_in_line = path.with_suffix(".next")
        with FileLock(next_in_line, timeout=seconds, mode=PRIVATE, poll_interval=POLL_SECONDS):
            lock.acquire(timeout=max(0.0, until - time.monotonic()))
    except Timeout as timeout:
        raise WarehouseError(_sentence(path, seconds)) from timeout
    mine.add(path)
    try:
        yield
    finally:
        mine.discard(path)
        lock.release()


def holder(path: Path) -> int | None:
    """The process that took the lock last, if it is still alive; it may have released the lock since."""
    try:
        pid = int(path.read_text(encoding="ascii"))
        os.kill(pid, 0)
    except (OSError, ValueError):
        return None
    return pid


def _write_pid(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)


def _sentence(path: Path, seconds: float) -> str:
    pid = holder(path)
    who = "this very process" if pid == os.getpid() else f"process {pid}" if pid else "an unknown process"
    return (
        f"The warehouse is being written by {who}, and {seconds:g} seconds of waiting were not enough; "
        f"wait for it to end, or end it, and run the same again (the lock is {path})."
    )
