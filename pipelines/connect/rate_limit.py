"""Rate limit and concurrency limit: memory of the one process that sends requests."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pipelines.clock import Clock, SystemClock

WIDER = 1.02  # a little more than even, so that jitter on the way puts no extra request into a second
MOST_HALVINGS = 3
HALVED_ONCE_IN = 5.0  # seconds; failures of requests that were in flight together count once
RECOVERS_AFTER = 60.0  # seconds without an error until one halving is taken back


class RateLimit:
    """At most `concurrency` requests in flight, and `requests_per_second` sent, evenly spaced.

    Make one for each event loop, and let its clients share it.
    """

    def __init__(self, concurrency: int, requests_per_second: float, *, clock: Clock | None = None) -> None:
        if concurrency < 1 or not requests_per_second > 0:
            raise ValueError("a rate limit needs at least one slot and more than no requests per second")
        self._clock = clock or SystemClock()
        self._slots = asyncio.Semaphore(concurrency)
        self._next = asyncio.Lock()
        self._interval = WIDER / requests_per_second
        self._free_at = self._slowed_at = -math.inf
        self._halvings = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot and for the moment to send; hold the slot until the request ends."""
        async with self._slots:
            async with self._next:
                if (seconds := self._free_at - self._clock.monotonic()) > 0:
                    await self._clock.sleep(seconds)
                self._free_at = self._clock.monotonic() + self._interval * 2**self.halvings
            yield

    def slow_down(self) -> None:
        """Halve the rate; calls at the same time count once, and one halving a minute is undone."""
        now = self._clock.monotonic()
        if now - self._slowed_at >= HALVED_ONCE_IN:
            self._halvings = min(MOST_HALVINGS, self.halvings + 1)
            self._slowed_at = now

    @property
    def halvings(self) -> int:
        """The number of halvings now in force."""
        if not self._halvings:
            return 0
        return max(0, self._halvings - int((self._clock.monotonic() - self._slowed_at) // RECOVERS_AFTER))
