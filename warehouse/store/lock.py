"""The two locks of a data directory, each a file that the kernel unlocks when the holder dies.

The *file lock* is held while the working file is open. Readers take it too, if they can write to the file's
folder. The *work lock* is held from start to end by any command or run that writes or sends requests, so that
only one works at a time.

A process that wants a lock first locks a second file (`.next`). It unlocks that file once it has the lock. So
a holder that wants the lock again comes after a process that already waits.
"""

from __future__ import annotations

import fcntl
import json
import logging
import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from warehouse.errors import ReplayNeeded, WarehouseError, translate_errors
from warehouse.store.files import PRIVATE_FILE, make_folder

POLL_SECONDS = 0.05
GLANCE_SECONDS = 0.3
"""Even `wait=False` tries this long, because a process that only checks a lock may hold it for an instant."""
QUIET_SECONDS = 2.0
"""A longer wait for the file lock is reported on stderr, unless the process logs elsewhere."""
NEXT = ".next"
WORK = Path("work", "work.lock")
WAITING = WORK.with_suffix(NEXT)
REBUILD = "brokerbi replay of a lost file"
COMPLETE = ("brokerbi sync", "nightly", REBUILD)
"""The tasks that finish most other work; see `Work.completed_by`."""


@dataclass(frozen=True)
class Work:
    """A command or run that holds a lock, waits for it, or did not finish.

    `remedy` is the sentence of what to do if it does not finish; it is empty if nothing is left to do then.
    Work with the same `task`, or a task in `completed_by`, finishes it. `error` is the message of the error
    that ended it. Options of a command may have any order.
    """

    what: str
    pid: int
    begun: str
    task: str = ""
    remedy: str = ""
    error: str = ""
    completed_by: Sequence[str] = COMPLETE

    def __post_init__(self) -> None:
        words, *options = re.split(" (?=--)", (self.task or self.what).replace("=", " "))
        task = " ".join([words, *sorted({*options} - {"--no-publish", "--no-wait"})])
        object.__setattr__(self, "task", task)

    @classmethod
    def read(cls, path: Path) -> list[Self]:
        """The work recorded in a lock's file: the holder's, then what is unfinished."""
        try:
            fields = cls.__dataclass_fields__  # records of other versions may have more
            records = json.loads(path.read_text("utf-8"))
            return [cls(**{name: row[name] for name in row if name in fields}) for row in records]
        except (OSError, ValueError, TypeError):
            return []

    @property
    def begun_utc(self) -> datetime:
        """When the work asked for the lock."""
        return datetime.fromisoformat(self.begun)

    def leaves(self, earlier: Iterable[Self]) -> list[Self]:
        """The unfinished work that this work will not finish."""
        return [work for work in earlier if self.task not in (work.task, *work.completed_by)]

    @property
    def sentence(self) -> str:
        """The command, its process and start."""
        return f"{self.what} (process {self.pid}, since {self.begun_utc:%Y-%m-%d %H:%M} UTC)"


@contextmanager
def work_lock(
    data_dir: Path,
    what: str,
    *,
    on_wait: Callable[[str], None],
    wait: bool = True,
    task: str = "",
    remedy: str = "",
    completed_by: tuple[str, ...] = (),
    sentence_of: Callable[[Exception], str] = str,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[datetime | None]:
    """Hold the work lock; yields the start time of the command that this one waited for, or None.

    - If another command or run holds the lock, `on_wait` gets a sentence about the holder.
    - With `wait=False`, raises WarehouseError instead of waiting.
    - If the body of work with a `remedy` raises, `sentence_of(error)` is recorded, unless it is empty.
    - The body also finishes earlier work of the same `task`, by default `what`, and earlier work with this
      task in `completed_by`. Records of other unfinished work stay.

    Only entry points take this lock: a nested call would wait for itself.
    """
    path = data_dir / WORK
    begun = now().isoformat(timespec="seconds")
    work = Work(what, os.getpid(), begun, task, remedy, "", completed_by)
    with translate_errors(path):
        make_folder(path.parent)
    seconds, quiet_seconds = (math.inf, 0.0) if wait else (GLANCE_SECONDS, math.inf)

    def report(holder: Work) -> None:
        on_wait(f"waiting for {holder.sentence}")

    with _hold(path, work, seconds, report, quiet_seconds=quiet_seconds) as (lock, blocker, left):
        try:
            yield blocker.begun_utc if blocker else None
        except BaseException as error:
            sentence = sentence_of(error) if isinstance(error, Exception) else "it was interrupted"
            is_left = remedy and sentence and not isinstance(error, ReplayNeeded)  # status finds a lost file
            _record(lock, [replace(work, error=sentence), *left] if is_left else left)
            raise
        _record(lock, work.leaves(left))


@contextmanager
def file_lock(path: Path, seconds: float) -> Iterator[None]:
    """Hold the file lock; raises WarehouseError with the holder's name after `seconds`."""
    work = Work("brokerbi", os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"))

    def report(holder: Work) -> None:
        if holder.pid != work.pid:
            logging.getLogger(__name__).warning("brokerbi: waiting for %s", holder.sentence)

    with _hold(path, work, seconds, report, quiet_seconds=QUIET_SECONDS):
        yield


def holder_of(path: Path) -> Work | None:
    """The work that holds a lock."""
    return next(iter(Work.read(path)), None) if is_locked(path) else None


def unfinished_work(path: Path) -> list[Work]:
    """Work that was killed or failed, and that nothing has finished, or is about to finish."""
    works = Work.read(path)
    left = works[0].leaves(works[1:]) if works and is_locked(path) else works
    return [work for work in left if work.remedy]


def is_locked(path: Path) -> bool:
    """Whether a lock is held right now; neither waits nor writes."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return not _try_lock(file.fileno(), fcntl.LOCK_SH)


@contextmanager
def _hold(
    path: Path, work: Work, seconds: float, on_wait: Callable[[Work], None], *, quiet_seconds: float = 0.0
) -> Iterator[tuple[int, Work | None, list[Work]]]:
    """Hold a lock; yields its descriptor, the work that was waited for and the unfinished other tasks."""
    with _open_lock_file(path) as lock:
        with _open_lock_file(path.with_suffix(NEXT)) as next_lock:
            blocker = _wait(path, next_lock, seconds, on_wait, quiet_seconds)
            _record(next_lock, [work])
            blocker = _wait(path, lock, seconds, on_wait, quiet_seconds) or blocker
            left = [earlier for earlier in Work.read(path) if earlier.remedy and earlier.task != work.task]
            _record(lock, [work, *left])
        yield lock, blocker, left


@contextmanager
def _open_lock_file(path: Path) -> Iterator[int]:
    with translate_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        yield descriptor
    finally:
        os.close(descriptor)  # frees the lock


def _wait(
    path: Path, descriptor: int, seconds: float, on_wait: Callable[[Work], None], quiet_seconds: float
) -> Work | None:
    """Wait for a lock; returns the work that last held it, or None if it was free immediately."""
    began, holder, reported = time.monotonic(), None, ""
    while not _try_lock(descriptor, fcntl.LOCK_EX):
        waited = time.monotonic() - began
        holder = next(iter(Work.read(path)), holder)
        if waited >= seconds:
            who = holder.sentence if holder else "another command"
            raise WarehouseError(f"Another command is running; try again when it has ended: {who}")
        if holder and waited >= quiet_seconds and holder.sentence != reported:
            on_wait(holder)
            reported = holder.sentence
        time.sleep(POLL_SECONDS)
    return holder


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _record(descriptor: int, works: Iterable[Work]) -> None:
    text = json.dumps([asdict(work) for work in works]).encode()
    with suppress(OSError):  # a full disk does not stop the work
        os.pwrite(descriptor, text, 0)
        os.ftruncate(descriptor, len(text))
