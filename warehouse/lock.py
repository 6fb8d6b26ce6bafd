"""Who may write now, and who next? One lock file for all threads and processes, which dies with its holder.

Who waits for it holds a second one, so that it comes next: a holder who wants it again at once must stand
behind, and can see that somebody waits.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from warehouse.errors import LockTimeout

POLL_SECONDS = 0.02
PRIVATE = 0o600


_MINE = threading.local()
"""Which locks this thread holds already: what is done inside a lock need not wait for it."""


@contextmanager
def held(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock for the body; raises LockTimeout, naming the holder, after so many seconds.

    A thread that holds it may take it again; another thread of the same process waits like any other.
    """
    mine: set[Path] = _MINE.__dict__.setdefault("held", set())
    if path in mine:
        yield
        return
    with _taken(path, seconds):
        mine.add(path)
        try:
            yield
        finally:
            mine.discard(path)


@contextmanager
def _taken(path: Path, seconds: float) -> Iterator[None]:
    until = time.monotonic() + seconds
    lock = FileLock(path, mode=PRIVATE, poll_interval=POLL_SECONDS, on_acquired=_sign)
    try:
        with FileLock(_next(path), timeout=seconds, mode=PRIVATE, poll_interval=POLL_SECONDS):
            lock.acquire(timeout=max(0.0, until - time.monotonic()))
    except Timeout as timeout:
        raise LockTimeout(_sentence(path, seconds)) from timeout
    try:
        yield
    finally:
        lock.release()


def is_wanted(path: Path) -> bool:
    """Whether anybody waits for the lock at this moment; only its holder need ask."""
    try:
        with FileLock(_next(path), timeout=0, mode=PRIVATE):
            return False
    except Timeout:
        return True


def holder(path: Path) -> int | None:
    """The process that took the lock last, if it is still alive; it need not hold the lock still."""
    try:
        pid = int(path.read_text(encoding="ascii"))
        os.kill(pid, 0)
    except (OSError, ValueError):
        return None
    return pid


def _next(path: Path) -> Path:
    """What is held by the one who comes next, until it has the lock itself."""
    return path.with_suffix(".next")


def _sign(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)


def _sentence(path: Path, seconds: float) -> str:
    pid = holder(path)
    who = "this very process" if pid == os.getpid() else f"process {pid}" if pid else "an unknown process"
    return (
        f"The warehouse is being written by {who}, and {seconds:g} seconds of waiting were not enough; "
        f"wait for it to end, or end it, and run the same again (the lock is {path})."
    )
