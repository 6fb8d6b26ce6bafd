"""The write lock: one file for all threads and processes of a data directory, freed when its holder dies.

Whoever waits for the lock holds a second file, so a holder that wants the lock again at once comes after the
one that waits.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from warehouse.errors import WarehouseError

POLL_SECONDS = 0.02
QUIET_SECONDS = 2.0
"""Whoever waits for longer says for whom: on stderr, unless the logging of the process sends it elsewhere."""
PRIVATE = 0o600
WAITING = "brokerbi: waiting while the warehouse is written by %s, for %.0f seconds at most. %s"

_MINE = threading.local()
"""Which locks this thread holds already: what is done inside a lock need not wait for it."""


@contextmanager
def locked_file(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock for the body; raises WarehouseError, naming the holder, after so many seconds.

    A thread that holds it may take it again; another thread of the same process waits like any other. What
    takes longer than two seconds is said, with the holder.
    """
    mine: set[Path] = _MINE.__dict__.setdefault("held", set())
    if path in mine:
        yield
        return
    until = time.monotonic() + seconds
    lock, next_in_line = (
        FileLock(one, mode=PRIVATE, poll_interval=POLL_SECONDS, on_acquired=_write_pid)
        for one in (path, path.with_suffix(".next"))
    )
    waits_for = next_in_line
    try:
        _acquire(next_in_line, until)
        waits_for = lock
        _acquire(lock, until)
    except Timeout as timeout:
        raise WarehouseError(_sentence(Path(waits_for.lock_file), seconds)) from timeout
    finally:
        next_in_line.release()
    mine.add(path)
    try:
        yield
    finally:
        mine.discard(path)
        lock.release()


@contextmanager
def unwritten_lock(path: Path, seconds: float) -> Iterator[None]:
    """Keep every writer out for the body where the lock's file cannot be written; other readers may be there.

    Without such a file nobody has ever written here. Raises WarehouseError as `locked_file` does.
    """
    if not path.exists():
        yield
        return
    until = time.monotonic() + seconds
    with path.open("rb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    raise WarehouseError(_sentence(path, seconds)) from error
                time.sleep(POLL_SECONDS)
        yield


def holder(path: Path) -> int | None:
    """The process that took the lock last, if it is still alive; it may have released the lock since."""
    try:
        pid = int(path.read_text(encoding="ascii"))
        os.kill(pid, 0)
    except (OSError, ValueError):
        return None
    return pid


def _acquire(lock: FileLock, until: float) -> None:
    """Wait for the lock until a moment, and say so when that takes long; raises Timeout."""
    left = max(0.0, until - time.monotonic())
    try:
        lock.acquire(timeout=min(left, QUIET_SECONDS))
    except Timeout:
        if left <= QUIET_SECONDS:
            raise
        path = Path(lock.lock_file)
        if holder(path) != os.getpid():
            seconds = until - time.monotonic()
            logging.getLogger(__name__).warning(WAITING, _writer(path), seconds, _remedy(path))
        lock.acquire(timeout=max(0.0, until - time.monotonic()))


def _write_pid(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)


def _sentence(path: Path, seconds: float) -> str:
    return (
        f"The warehouse is being written by {_writer(path)}, and {seconds:g} seconds of waiting were not "
        f"enough; wait for it to end, or end it, and run the same again (the lock is {path}). {_remedy(path)}"
    ).rstrip()


def _writer(path: Path) -> str:
    pid = holder(path)
    return "this very process" if pid == os.getpid() else f"process {pid}" if pid else "an unknown process"


def _remedy(path: Path) -> str:
    """How another process goes on that was stopped, as far as it is known."""
    pid = holder(path)
    if pid in (None, os.getpid()):
        return ""
    return f"If it was stopped, `kill -CONT {pid}` lets it go on, and `kill -KILL {pid}` ends it."
