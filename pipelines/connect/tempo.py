"""When may the next request begin? One moment, shared by every process of a data directory."""

from __future__ import annotations

import asyncio
import fcntl
import math
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pipelines.connect.clock import Clock
from pipelines.connect.slots import locked

T = TypeVar("T")

WIDER = 1.02  # a little more than even, so that unrest on the way puts no extra request into a second
SLOWEST = 3  # halved at most so many times
SLOW_AGAIN_AFTER = 5.0  # failures of requests that were in flight together count once
RECOVERS_AFTER = 60.0  # seconds without trouble until one halving is taken back
LONGEST_INTERVAL = 120.0  # the slowest rate of the settings, halved as often as allowed, is below this
BUSY = 0.001
RECORD = struct.Struct("<4d")


@dataclass(frozen=True, slots=True)
class Moments:
    """What the processes tell each other, in seconds of the machine's monotonic clock."""

    claimed_at: float = -math.inf
    free_at: float = -math.inf
    slowed_at: float = -math.inf
    halvings: float = 0.0

    def halved(self, now: float) -> int:
        """How often the rate is halved still."""
        if not 0 <= now - self.slowed_at < math.inf:
            return 0
        taken_back = (now - self.slowed_at) // RECOVERS_AFTER
        return int(min(SLOWEST, max(0.0, self.halvings - taken_back)))

    def wait(self, now: float) -> float:
        """Seconds until the next request may begin.

        The clock starts anew when the machine does: a claim that lies in the future, or a moment
        absurdly far from its claim, was written before that or is damaged, and holds nobody up.
        """
        if self.claimed_at > now or not self.free_at - self.claimed_at <= LONGEST_INTERVAL:
            return 0.0
        return max(0.0, self.free_at - now)


class Tempo:
    """Requests evenly spaced: between two of them, whoever makes them, lies the interval of the first."""

    def __init__(self, directory: Path, requests_per_second: float, clock: Clock) -> None:
        self._file = directory / "tempo"
        self._interval = WIDER / requests_per_second
        self._clock = clock
        self._first_in_line = asyncio.Lock()

    async def beat(self) -> None:
        """Wait until the next request may begin, and claim that moment."""
        async with self._first_in_line:
            while (wait := self._claimed()) > 0:
                await self._clock.sleep(wait)

    def slow_down(self) -> None:
        """Halve the rate of everybody for a while; many calls at once count as one."""
        with self._moments(fcntl.LOCK_EX) as (moments, write):
            now = self._clock.monotonic()
            if moments is not None and not 0 <= now - moments.slowed_at < SLOW_AGAIN_AFTER:
                halvings = min(SLOWEST, moments.halved(now) + 1)
                write(Moments(moments.claimed_at, moments.free_at, now, halvings))

    def halvings(self) -> int:
        """How often the rate is halved at this moment."""
        with self._moments(fcntl.LOCK_SH) as (moments, _):
            return moments.halved(self._clock.monotonic()) if moments else 0

    def _claimed(self) -> float:
        """Zero when the moment has been claimed, else the seconds until it is worth trying."""
        with self._moments(fcntl.LOCK_EX | fcntl.LOCK_NB) as (moments, write):
            if moments is None:
                return BUSY
            now = self._clock.monotonic()
            wait = moments.wait(now)
            if wait <= 0:
                free_at = now + self._interval * 2 ** moments.halved(now)
                write(Moments(now, free_at, moments.slowed_at, moments.halvings))
            return wait

    @contextmanager
    def _moments(self, how: int) -> Iterator[tuple[Moments | None, Callable[[Moments], None]]]:
        descriptor = locked(self._file, how)
        if descriptor is None:
            yield None, lambda _: None
            return
        try:
            written = os.pread(descriptor, RECORD.size, 0)
            moments = Moments(*RECORD.unpack(written)) if len(written) == RECORD.size else Moments()
            yield moments, lambda new: _write(descriptor, new)
        finally:
            os.close(descriptor)


def _write(descriptor: int, moments: Moments) -> None:
    """Always the same bytes of the file, so that a full disk does not stop it."""
    record = (moments.claimed_at, moments.free_at, moments.slowed_at, moments.halvings)
    os.pwrite(descriptor, RECORD.pack(*record), 0)
