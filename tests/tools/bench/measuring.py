"""What did a process cost? Its seconds, processor time and largest memory, with all that it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY = 0.02
KILOBYTE = 1024


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall and of processors, the most bytes in memory at any look, and how it ended."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    ended: int


def cost_of(command: Sequence[str], environment: Mapping[str, str], output: Path, longest: float) -> Cost:
    """Run a command to its end; after `longest` seconds it is ended."""
    began = time.perf_counter()
    with output.open("wb") as written:
        process = subprocess.Popen(
            command, env=dict(environment), stdout=written, stderr=subprocess.STDOUT, start_new_session=True
        )
        watch = _Watch(process.pid)
        alarm = threading.Timer(longest, lambda: _end(process.pid))
        alarm.start()
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        alarm.cancel()
        watch.over.set()
        watch.join()
        process.returncode = os.waitstatus_to_exitcode(status)
    peak = max(watch.peak, used.ru_maxrss * KILOBYTE)
    return Cost(seconds, used.ru_utime + used.ru_stime, peak, process.returncode)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 9)


class _Watch(threading.Thread):
    """Looks at the memory of a process and its descendants until told that it is over."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.over = threading.Event()
        self._process = process

    def run(self) -> None:
        while not self.over.wait(LOOK_EVERY):
            self.peak = max(self.peak, sum(map(_resident, _descendants(self._process))))


def _descendants(process: int) -> list[int]:
    found = [process]
    for one in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text("ascii").split())
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
