"""Pace of requests: rate limit, concurrency limit and retry policy, all in memory."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

from pipelines.clock import Clock, SystemClock

INTERVAL_FACTOR = 1.02  # a little slower than allowed, so that jitter puts no extra request into a second
MAX_HALVINGS = 3  # down to an eighth of the rate
SECONDS_BETWEEN_HALVINGS = 5.0  # failures of requests that were in flight together count once
SECONDS_TO_RECOVER = 60.0  # each such period after the last halving undoes one halving
ONE_DAY = 86_400.0  # seconds; a longer Retry-After is ignored, as the service's clock may be wrong


class RateLimit:
    """Limits a run to `concurrency` requests in flight and `requests_per_second`, evenly spaced."""

    def __init__(self, concurrency: int, requests_per_second: float, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._slots = asyncio.Semaphore(concurrency)
        self._next = asyncio.Lock()
        self._interval = INTERVAL_FACTOR / requests_per_second
        self._free_at = self._slowed_at = -math.inf
        self._halvings = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot and for the time to send. The slot is free again when the `with` block ends."""
        async with self._slots:
            async with self._next:
                if (seconds := self._free_at - self._clock.monotonic()) > 0:
                    await self._clock.sleep(seconds)
                self._free_at = self._clock.monotonic() + self._interval * 2**self.halvings
            yield

    def slow_down(self) -> None:
        """Halve the rate, but not below an eighth. Does nothing within five seconds of the last halving."""
        now = self._clock.monotonic()
        if now - self._slowed_at >= SECONDS_BETWEEN_HALVINGS:
            self._halvings = min(MAX_HALVINGS, self.halvings + 1)
            self._slowed_at = now

    @property
    def halvings(self) -> int:
        """The number of halvings that are not yet undone."""
        if not self._halvings:
            return 0
        return max(0, self._halvings - int((self._clock.monotonic() - self._slowed_at) // SECONDS_TO_RECOVER))


@dataclass(frozen=True)
class RetryPolicy:
    """How often one request is repeated, and with which delays.

    At most `tries` tries are made, and no try is scheduled more than `total_seconds` after the first. Delays
    are random, up to a maximum: `first_delay` before the second try, then doubled with each try until it is
    `longest_delay`. If the service asks for a longer delay (Retry-After), that delay is used.
    """

    tries: int = 5
    total_seconds: float = 300.0
    first_delay: float = 1.0
    longest_delay: float = 60.0
    random: Random = field(default_factory=Random, repr=False, compare=False)

    def delay(self, tries_made: int, elapsed: float, retry_after: float | None) -> float | None:
        """The seconds to wait before the next try, at least `retry_after`; None if no try may follow."""
        if tries_made >= self.tries:
            return None
        ceiling = min(self.longest_delay, self.first_delay * 2.0 ** (tries_made - 1))
        seconds = max(self.random.uniform(0, ceiling), retry_after or 0.0)
        return seconds if elapsed + seconds <= self.total_seconds else None


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """The wait in a Retry-After header (seconds or a date); None if absent, invalid, past or over a day."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            time = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = ((time if time.tzinfo else time.replace(tzinfo=UTC)) - now).total_seconds()
    return seconds if math.isfinite(seconds) and 0 <= seconds <= ONE_DAY else None
