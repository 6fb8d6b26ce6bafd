"""The two locks of a data directory, each a file that the kernel unlocks when its process dies.

The *file lock* is held for the moments in which the working file is open; every reader and writer takes
it. The *work lock* is held from start to end by whatever writes or sends requests: one command or run works
at a time. Whoever waits holds a second file (`.next`); a holder that wants the lock again needs that file
first, so it comes second.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from warehouse.errors import WarehouseError, explained
from warehouse.store.files import make_folder

POLL_SECONDS = 0.02
WORK_POLL_SECONDS = 0.1
GLANCE_SECONDS = 0.3
"""How long `wait=False` tries: somebody who only looks may have the lock for an instant."""
QUIET_SECONDS = 2.0
"""A longer wait for the file lock is reported on stderr, unless the process logs elsewhere."""
LONG_WAIT = timedelta(hours=1)
PRIVATE = 0o600
WORK = Path("work", "work.lock")
NEXT = ".next"
STOPPED = frozenset("Tt")
"""States of a process in /proc that SIGSTOP or a debugger has stopped."""
WAITING = "brokerbi: waiting while the warehouse is written by %s, for %.0f seconds at most. %s"

_MINE = threading.local()
"""Which file locks this thread holds already: a step inside a lock need not wait for it."""


@dataclass(frozen=True)
class Work:
    """A command or run that holds the work lock, waits for it, or did not come to its end.

    `error` is the sentence of the error that ended it.
    """

    what: str
    pid: int
    begun: str
    error: str = ""
    is_running: bool = False

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The work that a lock's file names; None if the last one came to its end."""
        try:
            return cls(**json.loads(path.read_text("utf-8"))) if path.stat().st_size else None
        except (OSError, ValueError, TypeError):
            return None

    @property
    def begun_utc(self) -> datetime:
        """When it took the lock, or began to wait."""
        return datetime.fromisoformat(self.begun)

    @property
    def is_stopped(self) -> bool:
        """Whether its process was stopped (SIGSTOP), so that it keeps the lock and does nothing."""
        return self.is_running and _state_of(self.pid) in STOPPED

    @property
    def sentence(self) -> str:
        """Who works, since when, and what to do if it is stopped."""
        stopped = f", which was stopped. {_how_to_go_on(self.pid)}" if self.is_stopped else ""
        return f"{self.what} (process {self.pid}, since {self.begun_utc:%Y-%m-%d %H:%M} UTC){stopped}"


@contextmanager
def work_lock(
    data_dir: Path,
    what: str,
    *,
    on_wait: Callable[[str], None],
    wait: bool = True,
    sentence_of: Callable[[Exception], str] = str,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[datetime | None]:
    """Hold the work lock for the body; yields when the command that it waited for had begun, if it did.

    It is held in all threads of this process. While another command or run works, `on_wait` gets a sentence
    that names it; with `wait=False` raises WarehouseError instead. An error without a sentence leaves nothing
    undone. Only a front takes it: functions that a command is made of must not.
    """
    path = data_dir / WORK
    with explained(path):
        make_folder(path.parent)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    work = Work(what, os.getpid(), now().isoformat(timespec="seconds"))
    try:
        awaited = None
        with _lock_file(path.with_suffix(NEXT)) as line:
            for descriptor in (line, lock):
                awaited = _wait_for_work(path, descriptor, on_wait, wait=wait) or awaited
                _note(descriptor, work)
        yield awaited and awaited.begun_utc
        os.ftruncate(lock, 0)
    except Exception as error:
        if Work.read(path) == work:
            os.ftruncate(lock, 0)
            if sentence := sentence_of(error):
                _note(lock, replace(work, error=sentence))
        raise
    finally:
        os.close(lock)


def work_of(data_dir: Path) -> Work | None:
    """The work that is under way; else the last one, if it was killed or gave up."""
    work = Work.read(data_dir / WORK)
    return work and replace(work, is_running=is_locked(data_dir / WORK))


def waiting_work(data_dir: Path) -> Work | None:
    """The work that waits for the work lock."""
    path = (data_dir / WORK).with_suffix(NEXT)
    return Work.read(path) if is_locked(path) else None


def _wait_for_work(path: Path, descriptor: int, on_wait: Callable[[str], None], *, wait: bool) -> Work | None:
    """Wait for a lock; the last work that had it, if it was not free at once."""
    work, told = None, ""
    for waited in _until_taken(descriptor, WORK_POLL_SECONDS):
        work = Work.read(path) or work
        sentence = replace(work, is_running=True).sentence if work else "another command"
        if not wait and waited >= GLANCE_SECONDS:
            raise WarehouseError(f"Nothing was done, as another command works: {sentence}")
        if wait and sentence != told:
            on_wait(f"waiting for {sentence}")
            told = sentence
    return work


def _note(descriptor: int, work: Work) -> None:
    """Write down who has a lock; a full disk does not stop the work."""
    content = {name: value for name, value in asdict(work).items() if name != "is_running"}
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(content).encode(), 0)


@contextmanager
def locked_file(path: Path, seconds: float) -> Iterator[None]:
    """Hold a file lock for the body; raises WarehouseError, naming the holder, after these seconds.

    A thread that holds it may take it again; another thread of the same process waits like any other.
    """
    mine: set[Path] = _MINE.__dict__.setdefault("held", set())
    if path in mine:
        yield
        return
    until = time.monotonic() + seconds
    with _lock_file(path) as lock:
        with _lock_file(path.with_suffix(NEXT)) as line:
            for file, descriptor in ((path.with_suffix(NEXT), line), (path, lock)):
                _wait_for_file(file, descriptor, until, seconds)
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)
        mine.add(path)
        try:
            yield
        finally:
            mine.discard(path)


def is_locked(path: Path) -> bool:
    """Whether a lock is held at this moment; neither waits nor writes."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return not _try(file.fileno(), fcntl.LOCK_SH)


def holder(path: Path) -> int | None:
    """The process that took the file lock last, if it is still alive; it may have released it since."""
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


def _try(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _until_taken(descriptor: int, pause: float) -> Iterator[float]:
    """The seconds waited so far, with a pause after each, until the lock is taken."""
    began = time.monotonic()
    while not _try(descriptor):
        yield time.monotonic() - began
        time.sleep(pause)


def _wait_for_file(path: Path, descriptor: int, until: float, seconds: float) -> None:
    """Wait for the file lock until a moment, and report a long wait; raises WarehouseError."""
    is_reported = False
    for waited in _until_taken(descriptor, POLL_SECONDS):
        left = until - time.monotonic()
        pid = holder(path)
        is_own = pid == os.getpid()
        writer = "this very process" if is_own else f"process {pid}" if pid else "an unknown process"
        remedy = _how_to_go_on(pid) if pid and not is_own else ""
        if left <= 0:
            raise WarehouseError(
                f"The warehouse is being written by {writer}, and {seconds:g} seconds of waiting were not "
                "enough; wait for it to end, or end it, and run the same again (the lock is "
                f"{path}). {remedy}".rstrip()
            )
        if waited >= QUIET_SECONDS and not is_reported:
            is_reported = True
            if not is_own:
                logging.getLogger(__name__).warning(WAITING, writer, left, remedy)


def _how_to_go_on(pid: int | None) -> str:
    return f"If it was stopped, `kill -CONT {pid}` lets it go on, and `kill -KILL {pid}` ends it."


def _state_of(pid: int) -> str:
    """The letter of a process's state; empty if it is gone or the system does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
