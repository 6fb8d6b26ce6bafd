"""The write lock: one file for all threads and processes of a data directory, freed when its holder dies.

A process that waits for the lock holds a second file, so a holder that wants the lock again at once comes
after the one that waits.
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

from warehouse.errors import WarehouseError

POLL_SECONDS = 0.02
QUIET_SECONDS = 2.0
"""A longer wait is reported on stderr, unless the logging of the process sends it elsewhere."""
PRIVATE = 0o600
WAITING = "brokerbi: waiting while the warehouse is written by %s, for %.0f seconds at most. %s"

_MINE = threading.local()
"""Which locks this thread holds already: a step inside a lock need not wait for it."""


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
    with _lock_file(path) as lock:
        with _lock_file(path.with_suffix(".next")) as next_in_line:
            for file, descriptor in ((path.with_suffix(".next"), next_in_line), (path, lock)):
                _acquire(file, descriptor, until, seconds)
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)
        mine.add(path)
        try:
            yield
        finally:
            mine.discard(path)


def is_locked(path: Path) -> bool:
    """Whether the lock is held at this moment; neither waits nor writes."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def holder(path: Path) -> int | None:
    """The process that took the lock last, if it is still alive; it may have released the lock since."""
    try:
        pid = int(path.read_text(encoding="ascii"))
        os.kill(pid, 0)
    except (OSError, ValueError):
        return None
    return pid


@contextmanager
def _lock_file(path: Path) -> Iterator[int]:
    """The descriptor of a lock's file; closing it frees the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(path: Path, descriptor: int, until: float, seconds: float) -> None:
    """Wait for the lock until a moment, and report a long wait; raises WarehouseError."""
    quiet_until = time.monotonic() + QUIET_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            now = time.monotonic()
            if now >= until:
                raise WarehouseError(
                    f"The warehouse is being written by {_writer(path)}, and {seconds:g} seconds of waiting "
                    "were not enough; wait for it to end, or end it, and run the same again (the lock is "
                    f"{path}). {_remedy(path)}".rstrip()
                ) from error
            if now >= quiet_until:
                quiet_until = until
                if holder(path) != os.getpid():
                    logging.getLogger(__name__).warning(WAITING, _writer(path), until - now, _remedy(path))
            time.sleep(POLL_SECONDS)


def _writer(path: Path) -> str:
    pid = holder(path)
    return "this very process" if pid == os.getpid() else f"process {pid}" if pid else "an unknown process"


def _remedy(path: Path) -> str:
    """How another process goes on that was stopped, as far as it is known."""
    pid = holder(path)
    if pid in (None, os.getpid()):
        return ""
    return f"If it was stopped, `kill -CONT {pid}` lets it go on, and `kill -KILL {pid}` ends it."
