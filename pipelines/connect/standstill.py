"""Standstill: a lock that another process holds without moving on, because it was stopped or hangs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

AFTER_A_TRY = 60.0
LONGEST_WAIT = 120.0 + AFTER_A_TRY
"""Seconds: a minute more than one request takes at most (BROKERBI_TRY_SECONDS). Whoever holds something for
longer, always the same, is not asking any more."""
LOCKS = Path("/proc/locks")


class HeldUp(Exception):
    """What this process waits for is held by another that does not move on; a sentence that names it."""


class Patience:
    """How long the holders of some lock files have been the same, as far as anybody looked."""

    def __init__(self, files: Sequence[Path], seconds: float, now: float) -> None:
        self._files, self._seconds, self._since = files, seconds, now
        self._marks = self._marks_of_holders()

    def look(self, now: float) -> None:
        """Raise HeldUp if nobody has taken any of the files for so long; each holder writes to its own."""
        if now - self._since < self._seconds:
            return
        marks = self._marks_of_holders()
        if marks == self._marks:
            raise HeldUp(held_up(self._files, self._seconds))
        self._marks, self._since = marks, now

    def _marks_of_holders(self) -> list[int]:
        marks = []
        for file in self._files:
            with suppress(FileNotFoundError):
                marks.append(file.stat().st_mtime_ns)
        return marks


def sign(descriptor: int, place: int = 0) -> None:
    """Write into a lock file who holds it, always as many bytes; a full disk is not what stops a request."""
    with suppress(OSError):
        os.pwrite(descriptor, f"{os.getpid():<20}".encode("ascii"), place)


def held_up(files: Sequence[Path], seconds: float) -> str:
    """A sentence that names who holds these files, and what to do."""
    pids = sorted({pid for file in files if (pid := holder(file))})
    if not pids:
        who = f"A process that cannot be told (`fuser {files[0]}` may name it)"
        todo = "let it go on with `kill -CONT`, or end it with `kill -KILL`"
    else:
        several = " ".join(map(str, pids))
        who = f"Process {several}" if len(pids) == 1 else f"The processes {several}"
        todo = f"let it go on with `kill -CONT {several}`, or end it with `kill -KILL {several}`"
    return (
        f"{who} holds what all processes of this data directory share for asking, and has not moved on for "
        f"{seconds:g} seconds: it was stopped, or hangs. Look at it (`ps`), {todo}; then run the same again. "
        f"The lock is {files[0]}."
    )


def holder(file: Path) -> int | None:
    """The process that holds the lock of a file: as the system knows, else as the file says, if it lives."""
    with suppress(OSError, ValueError):
        known = file.stat()
        place = f"{os.major(known.st_dev):02x}:{os.minor(known.st_dev):02x}:{known.st_ino}"
        for line in LOCKS.read_text(encoding="ascii").splitlines():
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[5] == place and int(words[4]) > 0:
                return int(words[4])
    with suppress(OSError, ValueError):
        pid = int(file.read_bytes()[-20:])
        os.kill(pid, 0)
        return pid
    return None
